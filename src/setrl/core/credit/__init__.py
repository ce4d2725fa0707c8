"""Set scores → per-sample credit: estimators of mean set scores, and baselines."""

from setrl.core.credit.baselines import Baseline, Mixture
from setrl.core.credit.estimators import Chosen, Credit, Enumerated, Estimator, Exact, Sampled
from setrl.core.credit.regression import Regression

__all__ = [
    "Baseline",
    "Chosen",
    "Credit",
    "Enumerated",
    "Estimator",
    "Exact",
    "Mixture",
    "Regression",
    "Sampled",
]
