"""setrl: train policies on what their samples are worth together.

>>> import numpy as np, setrl
>>> method = setrl.methods.poly_epo(set_size=2)
>>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
>>> setrl.set_advantages(rewards, method, clusters=strategies).values_BN.round(3)
array([[ 0.   ,  0.   ,  0.167, -0.167]])
"""

from setrl.core import credit, methods, objectives, schedules
from setrl.core.advantages import Advantages, AnyMethod, Method, set_advantages
from setrl.core.check_objective import ObjectiveReport, check_objective
from setrl.core.grouped import grouped_advantages
from setrl.core.mean_scores import mean_set_scores
from setrl.core.samples import DEGENERATE, Fields, Samples

__version__ = "0.3.0"

__all__ = [
    "DEGENERATE",
    "Advantages",
    "AnyMethod",
    "Fields",
    "Method",
    "ObjectiveReport",
    "Samples",
    "check_objective",
    "credit",
    "grouped_advantages",
    "mean_set_scores",
    "methods",
    "objectives",
    "schedules",
    "set_advantages",
]
