"""Strategies in families: losing a family costs more than losing a variant of one that stays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans, weighted_means
from setrl.core.objectives.diversity import DistinctShare
from setrl.core.objectives.labels import count_distinct
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE


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
        families, variants = (count_distinct(level.strategies) for level in _levels(members))
        return (families + self.variant_weight * (variants - families)) / members.num_samples

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the means of `distinct_share` at both levels; O(N + C)."""
        means = [DistinctShare().set_means(level, set_size) for level in _levels(samples)]
        return weighted_means(self._weights, means)

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans | None:
        """Return the times-mean form of `distinct_share` at both levels."""
        levels = _levels(samples)
        means = [DistinctShare().times_mean(values_BN, level, set_size) for level in levels]
        return weighted_means(self._weights, means)

    @property
    def _weights(self) -> tuple[float, float]:
        return 1 - self.variant_weight, self.variant_weight


def _levels(samples: Samples) -> tuple[Samples, Samples]:
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
