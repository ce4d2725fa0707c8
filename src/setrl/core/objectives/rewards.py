"""Set objectives of the rewards that do not rank them: their mean, and whether any is correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import by_member, chances, one_if_any_outside
from setrl.core.sums import mean
from setrl.samples.samples import Samples


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
    n_less_1, n_less_2 = max(n - 1, 1), max(n - 2, 1)
    total_B1 = square_BN.sum(axis=-1, keepdims=True)
    rest_BN, pairs_BN = total_B1 - square_BN, 2 * square_BN - total_B1
    own_BN = square_BN * (1 - 2 * (k - 1) / n_less_1)
    in_set = (k - 1) / n_less_1
    with_BN = own_BN + in_set * rest_BN + in_set * (k - 2) / n_less_2 * pairs_BN
    contrast_BN = own_BN - rest_BN / n_less_1 - 2 * in_set / n_less_2 * pairs_BN
    return with_BN / k**2, contrast_BN / k**2
