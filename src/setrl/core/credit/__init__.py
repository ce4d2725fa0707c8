"""Set scores → per-sample credit: estimators of mean set scores, and baselines."""

from setrl.core.credit.baselines import Baseline, FittedMixture, Mixture
from setrl.core.credit.disjoint import Disjoint
from setrl.core.credit.estimators import Credit, Enumerated, Estimator, Exact, Sampled
from setrl.core.credit.precision import sampling_stderr, sets_needed
from setrl.core.credit.regression import Regression
from setrl.core.credit.shapley import shapley

__all__ = [
    "Baseline",
    "Credit",
    "Disjoint",
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
