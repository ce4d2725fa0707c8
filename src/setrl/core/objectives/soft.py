"""Soft forms of "any is correct" and of the maximum, for graded rewards."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.elementary import CHUNK, product_means
from setrl.core.samples import Samples

STEP = 0.25  # of the trapezoid rule in log t: its error is of the order e^(−π²/0.25)
NEGLIGIBLE = 40.0  # e^(−40) is below the last digit of a float64


@dataclass(frozen=True, repr=False)
class SoftAny(Objective):
    """f(S) = 1 − Π_{i∈S} (1 − rᵢ), the chance that some member succeeds if r are chances.

    Rewards should be in [0, 1]; for rewards of 0 and 1 it is pass@K.
    """

    def __call__(self, members: Samples) -> np.ndarray:
        """One less the product of the chances to fail."""
        return 1 - np.prod(1 - members.rewards, axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """The means of products of failures; O(N·K)."""
        failure_BN = 1 - samples.rewards
        failed = product_means(failure_BN, set_size)
        square_B = product_means(failure_BN**2, set_size).mean_B
        return SetMeans(
            with_BN=1 - failed.with_BN,
            contrast_BN=-failed.contrast_BN,
            mean_B=1 - failed.mean_B,
            variance_B=square_B - failed.mean_B**2,
        )


@dataclass(frozen=True, repr=False)
class SmoothMax(Objective):
    """f(S) = (1/β)·log((1/K) Σ_{i∈S} exp(β·rᵢ)).

    It goes from the minimum (β → −∞) over the mean (β → 0) to the maximum (β → ∞).
    """

    beta: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.beta) or self.beta == 0:
            raise ValueError(f"smooth_max(beta) must be finite and not 0, got {self.beta}")

    def __call__(self, members: Samples) -> np.ndarray:
        """The log-mean-exp of each set's rewards."""
        scaled = self.beta * members.rewards
        top = scaled.max(axis=-1, keepdims=True)
        return (top[..., 0] + np.log(np.exp(scaled - top).mean(axis=-1))) / self.beta

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Exact to rounding through log Z = ∫ (e^(−t) − e^(−t·Z)) dt/t, Z = Σ exp(β·rᵢ); O(N·K).

        e^(−t·Z) is a product over the members. The integral is a trapezoid sum in log t, of some
        150 terms and 4 more for each unit of β·(max r − min r).
        """
        scaled_BN = self.beta * samples.rewards
        top_B1 = scaled_BN.max(axis=-1, keepdims=True)
        log_rate_BN = scaled_BN - top_B1
        with_BN, contrast_BN = np.zeros(log_rate_BN.shape), np.zeros(log_rate_BN.shape)
        nodes_T = _log_nodes(log_rate_BN.min(), set_size)
        for log_t_T in np.array_split(nodes_T, ceil(nodes_T.size * log_rate_BN.size / CHUNK)):
            log_t_T11 = log_t_T[:, None, None]
            factors = _decayed(log_t_T11 + log_rate_BN).reshape(-1, samples.num_samples)
            product = product_means(factors, set_size)
            with_TBN = _decayed(log_t_T11) - product.with_BN.reshape(-1, *log_rate_BN.shape)
            with_BN += STEP * with_TBN.sum(axis=0)
            contrast_BN -= STEP * product.contrast_BN.reshape(with_TBN.shape).sum(axis=0)
        with_BN = (top_B1 + with_BN - np.log(set_size)) / self.beta
        return SetMeans(with_BN, contrast_BN / self.beta, with_BN.mean(axis=-1))


def _log_nodes(log_lowest_rate: float, set_size: int) -> np.ndarray:
    """The values of log t between which the integrand is not negligible."""
    lowest = -NEGLIGIBLE - np.log(set_size)
    highest = np.log(NEGLIGIBLE) - min(log_lowest_rate + np.log(set_size), 0.0)
    return np.arange(lowest, highest + STEP, STEP)


def _decayed(log_t: np.ndarray) -> np.ndarray:
    """e^(−t); exp of more than 700 has no float, and e^(−t) has long been 0."""
    return np.exp(-np.exp(np.minimum(log_t, 700.0)))
