"""Set scores → per-sample credit: estimators of mean set scores, and baselines."""

from setrl.credit.baselines import Baseline, Mixture
from setrl.credit.estimators import Credit, Enumerated, Estimator, Exact, Sampled
from setrl.credit.fitted import FittedMixture
from setrl.credit.precision import sampling_stderr, sets_needed
from setrl.credit.regression import Regression
from setrl.credit.shapley import shapley

__all__ = [
    "Baseline",
    "Credit",
    "Enumerated",
    "Estimator",
    "Exact",
    "FittedMixture",
    "Mixture",
    "Regression",
    "Sampled",
    "sampling_stderr",
    "sets_needed",
    "shapley",
]
