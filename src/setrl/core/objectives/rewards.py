"""Set objectives of the rewards that do not rank them: their mean, and whether any is correct.

Both have soft forms, for graded rewards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import by_member, chances, one_if_any_outside
from setrl.core.objectives.elementary import CHUNK, product_means
from setrl.core.sums import mean
from setrl.samples.samples import Samples

STEP = 0.25  # of the trapezoid rule in log t: its error is of the order e^(−π²/0.25)
NEGLIGIBLE = 40.0  # e^(−40) is below the last digit of a float64


@dataclass(frozen=True, repr=False)
class Mean(Objective):
    """f(S) = (1/K) Σ_{i∈S} rᵢ, with which set RL is standard RL.

    Attributes:
        of: The field whose mean it is: "rewards", "proxy" or "second".
    """

    of: str = "rewards"

    is_light = True

    def __post_init__(self) -> None:
        if self.of not in ("rewards", "proxy", "second"):
            raise ValueError(
                f"mean(of=...) must be 'rewards', 'proxy' or 'second', got {self.of!r}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The field whose mean it is."""
        return (self.of,)

    def member_values(self, samples: Samples) -> np.ndarray:
        """Return the numbers whose mean it is."""
        return getattr(samples, self.of)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the mean reward of each set."""
        return np.mean(self.member_values(members), axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """u − v = u − w = (rᵢ − mean of the other rewards) / K; O(N)."""
        n, k = samples.num_samples, set_size
        mean_B, centred_BN = centre(self.member_values(samples))
        gain_BN = centred_BN * n / (max(n - 1, 1) * k)

        def variance() -> np.ndarray:
            return (centred_BN**2).sum(axis=-1) / max(n - 1, 1) * (1 / k - 1 / n)

        return SetMeans.around(mean_B, gain_BN, k, lambda: gain_BN, variance)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans:
        """Return means of a product of two means, from second moments about the means; O(N)."""
        mean_B, centred_BN = centre(self.member_values(samples))
        other_B, deviation_BN = centre(values_BN)
        both_BN, contrast_BN = _centred_product(centred_BN * deviation_BN, set_size)
        n, k = samples.num_samples, set_size
        slope_BN = other_B[:, None] * centred_BN + mean_B[:, None] * deviation_BN
        linear_BN = slope_BN * n / (max(n - 1, 1) * k)
        with_BN = (mean_B * other_B)[:, None] + linear_BN * (1 - k / n) + both_BN
        size_B = np.abs(linear_BN).max(axis=-1) + np.abs(contrast_BN).max(axis=-1)
        contrast_BN = (linear_BN + contrast_BN) * one_if_any_outside(n, k)
        return SetMeans(with_BN, contrast_BN, with_BN.mean(axis=-1), size_B=size_B)


@dataclass(frozen=True, repr=False)
class AnyCorrect(Objective):
    """f(S) = 1{some i∈S is correct}: pass@K (arXiv:2107.03374, Eq. 1)."""

    is_light = True
    reads: ClassVar[tuple[str, ...]] = ("correct",)

    def __call__(self, members: Samples) -> np.ndarray:
        """1.0 for each set that holds a correct sample, else 0.0."""
        return np.any(members.right, axis=-1) * 1.0

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """With c correct samples, the chances that a set hits or misses all c; O(N)."""
        table = chances(samples.num_samples, set_size)
        right_BN = samples.right
        count_B = right_BN.sum(axis=-1)
        with_BN, contrast_BN = by_member(
            right_BN, table.hit_with(count_B), table.hit_contrast(count_B)
        )
        mean_B = mean(with_BN)
        return SetMeans(
            with_BN,
            contrast_BN,
            mean_B,
            gain=lambda: by_member(right_BN, table.hit_gain(count_B))[0],
            variance=lambda: mean_B * (1 - mean_B),
        )

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """1 − C(N−c, K)/C(N, K) for c correct samples."""
        correct_B = samples.right.sum(axis=-1)
        return np.stack([chances(samples.num_samples, k).hit[correct_B] for k in set_sizes])


@dataclass(frozen=True, repr=False)
class SoftAny(Objective):
    """f(S) = 1 − Π_{i∈S} (1 − rᵢ), the chance that some member succeeds if r are chances.

    Rewards should be in [0, 1]; for rewards of 0 and 1 it is pass@K.
    """

    def __call__(self, members: Samples) -> np.ndarray:
        """One less the product of the chances to fail."""
        return 1 - np.prod(1 - members.rewards, axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return the means of products of failures; O(N·K)."""
        failure_BN = 1 - samples.rewards
        failed = product_means(failure_BN, set_size)

        def variance() -> np.ndarray:
            return product_means(failure_BN**2, set_size).mean_B - failed.mean_B**2

        return SetMeans(
            with_BN=1 - failed.with_BN,
            contrast_BN=-failed.contrast_BN,
            mean_B=1 - failed.mean_B,
            variance=variance,
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
        """Return the log-mean-exp of each set's rewards."""
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
        last_B = _last_node(log_rate_BN.min(axis=-1), set_size)
        nodes_T = _log_nodes(last_B.max(), set_size)
        for log_t_T in np.array_split(nodes_T, ceil(nodes_T.size * log_rate_BN.size / CHUNK)):
            log_t_T11 = log_t_T[:, None, None]
            factors = _decayed(log_t_T11 + log_rate_BN).reshape(-1, samples.num_samples)
            product = product_means(factors, set_size)
            with_TBN = _decayed(log_t_T11) - product.with_BN.reshape(-1, *log_rate_BN.shape)
            contrast_TBN = product.contrast_BN.reshape(with_TBN.shape)
            # One node after the other, and for each prompt its own: in any batch the same sum.
            for log_t, of_with_BN, of_contrast_BN in zip(
                log_t_T, with_TBN, contrast_TBN, strict=True
            ):
                weight_B1 = STEP * (log_t <= last_B)[:, None]
                with_BN += weight_B1 * of_with_BN
                contrast_BN -= weight_B1 * of_contrast_BN
        is_flat_B1 = ~log_rate_BN.any(axis=-1, keepdims=True)  # its integral is log K, up to ε
        with_BN = np.where(is_flat_B1, top_B1, top_B1 + with_BN - np.log(set_size)) / self.beta
        return SetMeans(with_BN, contrast_BN / self.beta, with_BN.mean(axis=-1))


def centre(rewards_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean reward of each prompt, and the rewards less it: 0 where all are equal."""
    shifted_BN = rewards_BN - rewards_BN[:, :1]
    shift_B = shifted_BN.mean(axis=-1)
    return rewards_BN[:, 0] + shift_B, shifted_BN - shift_B[:, None]


def _centred_product(square_BN: np.ndarray, set_size: int) -> tuple[np.ndarray, np.ndarray]:
    """u and u − v of (1/K²) Σ_{i∈S} xᵢ Σ_{j∈S} yⱼ for x, y of mean 0, from γᵢ = xᵢyᵢ alone.

    With P = Σ γ, the pairs i ≠ j sum to −P, those that hold i to −2γᵢ, all others to 2γᵢ − P.
    """
    n, k = square_BN.shape[-1], set_size
    one, two = max(n - 1, 1), max(n - 2, 1)
    total_B1 = square_BN.sum(axis=-1, keepdims=True)
    rest_BN, pairs_BN = total_B1 - square_BN, 2 * square_BN - total_B1
    own_BN = square_BN * (1 - 2 * (k - 1) / one)
    in_set = (k - 1) / one
    with_BN = own_BN + in_set * rest_BN + in_set * (k - 2) / two * pairs_BN
    contrast_BN = own_BN - rest_BN / one - 2 * in_set / two * pairs_BN
    return with_BN / k**2, contrast_BN / k**2


def _last_node(log_lowest_rate_B: np.ndarray, set_size: int) -> np.ndarray:
    """Return the log t of each prompt above which the integrand is negligible."""
    return np.log(NEGLIGIBLE) - np.minimum(log_lowest_rate_B + np.log(set_size), 0.0) + STEP


def _log_nodes(last: float, set_size: int) -> np.ndarray:
    """Return the values of log t from where the integrand is not negligible up to the last one."""
    return np.arange(-NEGLIGIBLE - np.log(set_size), last, STEP)


def _decayed(log_t: np.ndarray) -> np.ndarray:
    """e^(−t); exp of more than 700 has no float, and e^(−t) has long been 0."""
    return np.exp(-np.exp(np.minimum(log_t, 700.0)))
