"""Set objectives of strategies and families: how many a set holds, alone or times the mean reward.

Degenerate samples add no strategy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans, weighted_means
from setrl.core.objectives.chances import chances
from setrl.core.objectives.labels import count_distinct, find_labels
from setrl.core.objectives.misses import Misses, times_mean
from setrl.core.sums import mean
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE


class StrategyDiversity(Objective):
    """A function of the number of different strategies in a set that is made of `Misses`."""

    is_light = True
    reads: ClassVar[tuple[str, ...]] = ("strategies",)

    @abstractmethod
    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """Return the form of the diversity for prompts of `count` strategies."""

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return the means of the diversity times a mean of ones; O(N + C)."""
        return self.times_mean(np.ones(samples.strategies.shape), samples, set_size)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans:
        """Add up over the strategies, each by itself: exact in O(N + C)."""
        strategies = find_labels(samples.strategies)
        form = self.misses((strategies.size_CB > 0).sum(axis=0), set_size)
        return times_mean(form, values_BN, strategies, set_size)


@dataclass(frozen=True, repr=False)
class Distinct(StrategyDiversity):
    """f(S) = |{cᵢ : i∈S, cᵢ ≠ DEGENERATE}|, the number of different strategies in the set."""

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the number of different strategies of each set; degenerate ones do not count."""
        return count_distinct(members.strategies)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return a sum over strategies of the chance that a set hits it; O(N + C)."""
        table = chances(samples.num_samples, set_size)
        strategies = find_labels(samples.strategies)
        size_CB = strategies.size_CB
        missed_CB = table.missed_with[size_CB]
        alone_CB = strategies.kept(table.missed_without[size_CB - 1])
        paid_CB = size_CB * missed_CB
        with_BN = strategies.gather(strategies.kept(1.0) + strategies.others(1.0 - missed_CB))
        return SetMeans(
            with_BN=with_BN,
            contrast_BN=strategies.gather(alone_CB - strategies.others(paid_CB) / table.outside),
            mean_B=mean(with_BN),
            size_B=strategies.of_all(paid_CB) / table.outside + alone_CB.max(axis=0),
            gain=lambda: strategies.of_own(table.missed_with[size_CB - 1]),
        )

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Σ_c 1 − C(N−m_c, K)/C(N, K): rarefaction (Hurlbert, Ecology 52, 1971)."""
        strategies = find_labels(samples.strategies)
        tables = (chances(samples.num_samples, k) for k in set_sizes)
        return np.stack([strategies.of_all(table.hit[strategies.size_CB]) for table in tables])

    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """C − Σ_c 1{S misses c}."""
        return Misses(count_B, each=-1.0)


@dataclass(frozen=True, repr=False)
class DistinctCorrect(Objective):
    """f(S) = |{cᵢ : i∈S correct, cᵢ ≠ DEGENERATE}|: the strategies that succeed."""

    is_light = True
    reads: ClassVar[tuple[str, ...]] = ("correct", "strategies")

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the number of different strategies of each set's correct members."""
        return Distinct()(self._drop_wrong_strategies(members))

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return the means of `distinct`, where a wrong sample is of no strategy; O(N + C)."""
        return Distinct().set_means(self._drop_wrong_strategies(samples), set_size)

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Return the mean scores that `set_means` gives."""
        return Distinct().mean_scores(self._drop_wrong_strategies(samples), set_sizes)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans:
        """Return the mean scores that `set_means` gives."""
        return Distinct().times_mean(values_BN, self._drop_wrong_strategies(samples), set_size)

    def _drop_wrong_strategies(self, samples: Samples) -> Samples:
        # A product: a choice for each sample takes ten times as long on mixed prompts.
        kept_BN = (samples.strategies - DEGENERATE) * samples.right
        return replace(samples, strategies=kept_BN + DEGENERATE)


@dataclass(frozen=True, repr=False)
class DistinctShare(StrategyDiversity):
    """f(S) = |{cᵢ : i∈S}| / K, from 1/K to 1: the diversity of Poly-EPO (arXiv:2604.17654)."""

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the number of different strategies of each set per member."""
        return count_distinct(members.strategies) / members.num_samples

    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """(C − Σ_c 1{S misses c}) / K."""
        return Misses(count_B / set_size, each=-1 / set_size)


@dataclass(frozen=True, repr=False)
class ExtraShare(StrategyDiversity):
    """f(S) = (|{cᵢ : i∈S}| − 1)₊ / (K − 1), from 0 to 1; 0 for K = 1, where there is no other."""

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the number of strategies beyond the first, per member beyond the first."""
        extra = np.maximum(count_distinct(members.strategies) - 1, 0.0)
        return extra / max(members.num_samples - 1, 1)

    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """(C − 1 − Σ_c 1{S misses c} + 1{S misses all}) / (K − 1)."""
        num_others = max(set_size - 1, 1)
        return Misses((count_B - 1) / num_others, each=-1 / num_others, none_B=1 / num_others)


@dataclass(frozen=True, repr=False)
class MixedShare(StrategyDiversity):
    """f(S) = |{cᵢ : i∈S}| / K · 1{|{cᵢ : i∈S}| > 1}: `DistinctShare`, but 0 for one strategy.

    The diversity in Algorithm 2 of Poly-EPO (arXiv:2604.17654); its code leaves the indicator out.
    """

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the number of different strategies per member, where there are two or more."""
        count = count_distinct(members.strategies)
        return np.where(count > 1, count, 0.0) / members.num_samples

    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """(C − Σ_c 1{S misses c} − Σ_c 1{S misses all but c} + C·1{S misses all}) / K."""
        factor = -1 / set_size
        return Misses(count_B / set_size, each=factor, rest=factor, none_B=count_B / set_size)


@dataclass(frozen=True, repr=False)
class Differ(StrategyDiversity):
    """f(S) = 1{two members of S differ in strategy}: Set RL, Example 3.6.

    With degenerate samples: 1 where at least two strategies are present.
    """

    def __call__(self, members: Samples) -> np.ndarray:
        """1.0 for each set that holds two strategies, else 0.0."""
        return (count_distinct(members.strategies) > 1) * 1.0

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return the means of a strategy diversity; a score of 0 or 1 has variance U(1 − U)."""
        means = super().set_means(samples, set_size)
        return replace(means, variance=lambda: means.mean_B * (1 - means.mean_B))

    def misses(self, count_B: np.ndarray, set_size: int) -> Misses:
        """1 − Σ_c 1{S misses all but c} + (C − 1)·1{S misses all}."""
        return Misses(np.ones(count_B.shape), rest=-1.0, none_B=count_B - 1)


@dataclass(frozen=True, repr=False)
class Polychromic(Objective):
    """f(S) = (1/K) Σ_{i∈S} rᵢ · diversity(S).

    Degenerate samples add no strategy; their reward counts. arXiv:2604.17654, Eq. 10 and 11; with
    the default diversity in the form of its code: a set with one strategy is worth mean reward / K
    (`MixedShare`, of the paper's Algorithm 2, makes it 0).

    Attributes:
        diversity: An objective from 0 to 1. Exact for all of `setrl.core.objectives.diversity` in
            O(N + C), and for `pairwise_distance` in O(N²).
    """

    diversity: Objective = field(default_factory=DistinctShare)

    def __post_init__(self) -> None:
        if not isinstance(self.diversity, Objective):
            raise ValueError(
                "diversity must be a value such as objectives.mixed_share(), "
                f"got {self.diversity!r}"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """The rewards, and what the diversity reads."""
        return tuple(dict.fromkeys(("rewards", *self.diversity.reads)))

    @property
    def set_size(self) -> int | None:
        """The set size of the diversity."""
        return self.diversity.set_size

    @property
    def is_light(self) -> bool:
        """Whether the diversity is one of strategies."""
        return isinstance(self.diversity, StrategyDiversity)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the polychromic score of each set."""
        return members.rewards.mean(axis=-1) * self.diversity(members)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return what the diversity's `times_mean` returns for the rewards."""
        return self.diversity.times_mean(samples.rewards, samples, set_size)


@dataclass(frozen=True, repr=False)
class FamilyShare(Objective):
    """f(S) = (F + α·(V − F)) / K: a family of strategies counts 1, each further variant of it α.

    F is the number of families in the set, V the number of variants. For α < 1, losing a family of
    v variants costs 1 + α(v − 1), and a variant of a family that stays costs α. At α = 1 it is
    `distinct_share` of the variants, at α = 0 of the families. Poly-EPO's judge
    (arXiv:2604.17654, §A.1) names a macro-strategy, the framework, and a micro-strategy, the method
    at key steps, and its strategies count both equally (α = 1).

    Families are a separate field, `families`, next to `strategies`, and not a part of a strategy's
    name, because labels are often integers in a tensor, and because another judge may give each
    level. A variant is a pair (family, strategy): two families may use the same strategy label. A
    sample that is degenerate at one level is in neither.

    Attributes:
        variant_weight: α, from 0 to 1.
    """

    variant_weight: float = 0.5

    reads: ClassVar[tuple[str, ...]] = ("strategies", "families")

    def __post_init__(self) -> None:
        if not 0 <= self.variant_weight <= 1:
            raise ValueError(
                f"family_share(variant_weight=...) must be from 0 to 1, got {self.variant_weight}"
            )

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the weighted number of families and variants of each set, per member."""
        families, variants = (count_distinct(level.strategies) for level in _split_levels(members))
        return (families + self.variant_weight * (variants - families)) / members.num_samples

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the means of `distinct_share` at both levels; O(N + C)."""
        means = [DistinctShare().set_means(level, set_size) for level in _split_levels(samples)]
        return weighted_means(self._level_weights, means)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the times-mean form of `distinct_share` at both levels."""
        levels = _split_levels(samples)
        means = [DistinctShare().times_mean(values_BN, level, set_size) for level in levels]
        return weighted_means(self._level_weights, means)

    @property
    def _level_weights(self) -> tuple[float, float]:
        return 1 - self.variant_weight, self.variant_weight


def _split_levels(samples: Samples) -> tuple[Samples, Samples]:
    """Return the samples with their families, and with their variants, as strategies."""
    in_none = (samples.strategies == DEGENERATE) | (samples.families == DEGENERATE)
    # Labels may be hashes, whose product would not fit into an integer.
    family = np.unique(samples.families, return_inverse=True)[1].reshape(in_none.shape)
    labels, strategy = np.unique(samples.strategies, return_inverse=True)
    variant = family * len(labels) + strategy.reshape(in_none.shape)
    return (
        replace(samples, strategies=np.where(in_none, DEGENERATE, family)),
        replace(samples, strategies=np.where(in_none, DEGENERATE, variant)),
    )
