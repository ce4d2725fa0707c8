"""Reward shaping: a sample's reward changed by what the prompt's other samples are.

The other samples are constants here, so no set is scored: these are the rivals of set objectives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from setrl.core.objectives.labels import find_labels
from setrl.samples.samples import Samples


class Shaping(Protocol):
    """A change of the rewards of a prompt's samples."""

    reads: ClassVar[tuple[str, ...]]

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return new rewards, (B, N)."""


@dataclass(frozen=True)
class DiversityBonus:
    """r + λ·d with dᵢ = (N / |strategy of i| − 1) / (N − 1): GRPO+DIV of arXiv:2604.17654.

    d is 1 for a strategy that no other sample uses and 0 for one that all use. A degenerate sample
    has d = 0. The paper does not give its λ.
    """

    weight: float

    reads: ClassVar[tuple[str, ...]] = ("rewards", "strategies")

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the rewards with the bonus."""
        n = samples.num_samples
        strategies = find_labels(samples.strategies)
        rarity_CB = (n / np.maximum(strategies.size_CB, 1) - 1) / max(n - 1, 1)
        return samples.rewards + self.weight * strategies.of_own(rarity_CB)


@dataclass(frozen=True)
class QualityTimesDiversity:
    """r · max(d, floor) with dᵢ = (N − |strategy of i|) / (N − 1): DARLING (arXiv:2509.02534).

    A degenerate sample has d = 0.
    """

    floor: float = 0.1

    reads: ClassVar[tuple[str, ...]] = ("rewards", "strategies")

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the rewards times the diversity."""
        n = samples.num_samples
        strategies = find_labels(samples.strategies)
        others_BN = strategies.of_own((n - strategies.size_CB) / max(n - 1, 1))
        return samples.rewards * np.maximum(others_BN, self.floor)


@dataclass(frozen=True)
class UnlikelinessBonus:
    """r · (1 − β·rank/N), the likeliest sample of rank N − 1, the least likely of rank 0.

    Rewarding the Unlikely (arXiv:2506.02355). The proxy is the sample's log-probability; samples
    that are equally likely share the mean of their ranks.
    """

    beta: float = 0.25

    reads: ClassVar[tuple[str, ...]] = ("rewards", "proxy")

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the rewards, reduced for likelier samples."""
        likelier_BN = samples.proxy[:, :, None] - samples.proxy[:, None, :]
        rank_BN = ((np.sign(likelier_BN) + 1) / 2).sum(axis=-1) - 0.5
        return samples.rewards * (1 - self.beta * rank_BN / samples.num_samples)


@dataclass(frozen=True)
class ShareOfMean:
    """r / (mean reward of the prompt), and 0 where that is 0: MaxRL (arXiv:2602.02710)."""

    reads: ClassVar[tuple[str, ...]] = ("rewards",)

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the rewards as multiples of their mean."""
        if (samples.rewards < 0).any():
            raise ValueError(f"maxrl needs rewards of at least 0, got {samples.rewards.min():g}")
        mean_B1 = samples.rewards.mean(axis=-1, keepdims=True)
        return samples.rewards / np.where(mean_B1 > 0, mean_B1, 1.0)


@dataclass(frozen=True)
class ConcaveCounts:
    """mᵢ^(α−1) if right, −β if wrong, where mᵢ right samples have i's strategy.

    With no baseline it is the gain f(S) − f(S∖i) of i among all N samples for the concave counts
    f(S) = Σ_c Σ_{j≤m_c} j^(α−1). A right sample that is degenerate is in no count, and gets 0.

    At α = 0, f is Σ_c H(m_c), a sum of harmonic numbers, and the gain 1/mᵢ is the Shapley value of
    another score: the number of right strategies.

    Attributes:
        alpha: From 0, where f adds up harmonic numbers, to 1, where it counts right samples.
        penalty: β, at least 0.
    """

    alpha: float
    penalty: float = 0.0

    reads: ClassVar[tuple[str, ...]] = ("correct", "strategies")

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1, got {self.alpha}")
        if not self.penalty >= 0:
            raise ValueError(f"penalty must be at least 0, got {self.penalty}")

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the credit of each sample."""
        right_BN = samples.right
        strategies = find_labels(samples.strategies)
        count_BN = strategies.of_own(strategies.total(right_BN))
        is_paid_BN = right_BN & (count_BN > 0)
        gain_BN = np.where(is_paid_BN, np.maximum(count_BN, 1.0) ** (self.alpha - 1), 0.0)
        return gain_BN - self.penalty * ~right_BN


@dataclass(frozen=True)
class Signed:
    """`right` for right samples, −1 for wrong ones: W-REINFORCE (arXiv:2506.01347).

    Attributes:
        right: What a right sample is worth, λ in the paper.
    """

    right: float = 0.1

    reads: ClassVar[tuple[str, ...]] = ("correct",)

    def __call__(self, samples: Samples) -> np.ndarray:
        """Return the signed rewards."""
        return np.where(samples.right, self.right, -1.0)
