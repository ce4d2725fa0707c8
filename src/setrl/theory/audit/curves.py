"""What an audit shows over policies: the mean update beside the gradients of objectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from setrl.theory.audit.variance import Variance


@dataclass(frozen=True, eq=False)
class Curves:
    """Mean updates and variances, for policies along a line.

    Attributes:
        own_PA: The estimator's mean update.
        stderr_PA: Its standard error; 0 if all groups were enumerated.
        near: What it is compared with, such as "2·∇pass@4" → the gradient with its factor, (P, A):
            the claim and the nearest objective.
        variance: The variances.
    """

    own_PA: np.ndarray
    stderr_PA: np.ndarray
    near: Mapping[str, np.ndarray]
    variance: Variance
