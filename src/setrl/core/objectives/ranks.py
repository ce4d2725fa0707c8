"""Set objectives of the ranked rewards: the maximum, and every L-statistic.

An L-statistic is Σⱼ aⱼ r₍ⱼ₎ over the rewards of a set from the smallest to the largest. OrderGrad
(arXiv:2606.06096) trains on them; those with a name are its presets.

What depends on ranks is a sum over thresholds, one between each two ranks. With the values x in the
order of the ranks and Δₖ = x₍ₖ₊₁₎ − x₍ₖ₎, the value of the set's highest rank is
x₍₀₎ + Σₖ Δₖ 1{S holds a rank above k}. A sample gains from the thresholds below it and pays at the
others; the two sums are kept apart, so that u − v is never formed as the difference
of two near-equal means.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import chances, marked_chances
from setrl.core.sums import total
from setrl.samples.samples import Samples

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class Max(Objective):
    """f(S) = max_{i∈S} rᵢ: max@K, which is pass@K when rewards are 0 and 1."""

    is_light = True

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the largest reward of each set."""
        return np.max(members.rewards, axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return a sum of pass@K over thresholds; O(N log N)."""
        table, ranked = chances(samples.num_samples, set_size), rank(samples.rewards)
        mean_B = total(ranked.values_BN * table.top)
        return SetMeans.around(
            mean_B,
            ranked.over_thresholds(*table.top_contrast),
            set_size,
            gain=lambda: ranked.over_thresholds(*table.top_gain),
            variance=lambda: total((ranked.values_BN - mean_B[:, None]) ** 2 * table.top),
        )

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Σ C(i−1, K−1)/C(N, K) · r₍ᵢ₎ over the sorted rewards."""
        return top_means(rank(samples.rewards).values_BN, set_sizes)


class RankWeighted(Objective):
    """An L-statistic: f(S) = Σⱼ aⱼ r₍ⱼ₎, r₍₁₎ ≤ … ≤ r₍K₎. A subclass defines the weights."""

    is_light = True

    @abstractmethod
    def weights(self, set_size: int) -> np.ndarray:
        """Return the K weights, from the smallest reward to the largest."""

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the weighted sum of each set's sorted rewards."""
        ordered, weights = np.sort(members.rewards, axis=-1), self.weights(members.num_samples)
        counted = [weights[j] * ordered[..., j] for j in np.flatnonzero(weights)]
        return functools.reduce(np.add, counted, np.zeros(ordered.shape[:-1]))

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return a sum over thresholds, weighted by how many members pass each; O(N log N).

        The tables are O(N·K) once for each N, K and weights.
        """
        return self.ranked_means(rank(samples.rewards), set_size)

    def ranked_means(self, ranked: Ranked, set_size: int) -> SetMeans:
        """Return the means of values whose ranks are given, in any order of the values."""
        num_samples = ranked.values_BN.shape[1]
        weights = self.weights(set_size)
        table = _rank_table(num_samples, tuple(weights), self._smaller_weights(set_size))
        lowest_B1 = ranked.values_BN[:, :1]

        mean_B = weights.sum() * lowest_B1[:, 0] + total(ranked.step_Bn * table.mean_n)

        def gain() -> np.ndarray:
            assert table.gain_n is not None
            return table.gained * lowest_B1 + ranked.over_thresholds(*table.gain_n)

        contrast_BN = ranked.over_thresholds(*table.contrast_n)
        return SetMeans.around(mean_B, contrast_BN, set_size, gain if table.gain_n else None)

    def _smaller_weights(self, set_size: int) -> tuple[float, ...] | None:
        """Return the weights of sets with one member less; None where it scores none."""
        if set_size == 1:
            return None
        try:
            return tuple(self.weights(set_size - 1))
        except ValueError:
            return None


@dataclass(frozen=True, repr=False)
class LStatistic(RankWeighted):
    """f(S) = Σⱼ a[j] · (j-th smallest reward of S), for sets of len(a) members.

    Attributes:
        a: The weights, first the weight of the smallest reward.
    """

    a: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", tuple(map(float, self.a)))
        if not self.a or not np.isfinite(self.a).all():
            raise ValueError(f"l_statistic(weights) needs finite numbers, one a rank, got {self.a}")

    @property
    def set_size(self) -> int:
        """How many weights there are."""
        return len(self.a)

    def weights(self, set_size: int) -> np.ndarray:
        """Return the weights."""
        if set_size != len(self.a):
            raise ValueError(
                f"an l_statistic of {len(self.a)} weights scores sets of {len(self.a)}, "
                f"got set_size {set_size}"
            )
        return np.array(self.a, dtype=np.float64)


@dataclass(frozen=True, repr=False)
class TopMean(RankWeighted):
    """The mean of the m largest rewards of a set; m = 1 is the maximum, m = K the mean."""

    m: int

    def __post_init__(self) -> None:
        check_count("top_mean(m)", self.m, 1)

    def weights(self, set_size: int) -> np.ndarray:
        """1/m for the m largest."""
        check_enough(f"top_mean(m={self.m})", set_size, self.m)
        return _equal_weights(set_size, set_size - self.m, set_size)


@dataclass(frozen=True, repr=False)
class Minimum(RankWeighted):
    """The smallest reward of a set: what holds when all K attempts count."""

    def weights(self, set_size: int) -> np.ndarray:
        """1 for the smallest."""
        return _equal_weights(set_size, 0, 1)


@dataclass(frozen=True, repr=False)
class Median(RankWeighted):
    """The median reward of a set; the mean of the two middle ones where K is even."""

    def weights(self, set_size: int) -> np.ndarray:
        """1 for the middle, or 1/2 for each of the two."""
        return _equal_weights(set_size, (set_size - 1) // 2, set_size // 2 + 1)


@dataclass(frozen=True, repr=False)
class GiniMeanDifference(RankWeighted):
    """The mean of |rᵢ − rⱼ| over the pairs of a set, a measure of spread; 0 for K = 1."""

    def weights(self, set_size: int) -> np.ndarray:
        """2(2j − K − 1) / (K(K − 1)) for the j-th smallest."""
        rank_K = np.arange(1, set_size + 1)
        return 2 * (2 * rank_K - set_size - 1) / max(set_size * (set_size - 1), 1)


class _Sides(NamedTuple):
    """What a unit step at each threshold is worth to a sample that passes it, or does not."""

    passed_n: np.ndarray
    ahead_n: np.ndarray


class _RankTable(NamedTuple):
    """Means of an L-statistic per threshold; `gained` is Σ a at K less Σ a at K − 1."""

    mean_n: np.ndarray
    contrast_n: _Sides
    gain_n: _Sides | None
    gained: float


@lru_cache(maxsize=128)
def _rank_table(
    num_samples: int, weights: tuple[float, ...], smaller: tuple[float, ...] | None
) -> _RankTable:
    """Return the tables for thresholds that m = N−1 … 1 samples pass.

    Let t of a set's other K−1 members pass, out of the N−1 other samples. A member that passes as
    well brings the weight aₖ₋ₜ of rank K−t. Against a set where a sample outside takes its place,
    it brings that only if the other does not pass, which N−m−(K−1−t) of the N−K do not.
    """
    n, k = num_samples, len(weights)
    chance_mt = marked_chances(n - 1, k - 1)
    m_n1, t_K = np.arange(n - 1, 0, -1)[:, None], np.arange(k)
    by_passing_nK, by_failing_nK = chance_mt[m_n1[:, 0] - 1], chance_mt[m_n1[:, 0]]
    brought_K = np.array(weights[::-1])
    top_K = _top_sums(weights)
    outside = float(n - k) or np.nan
    failing_nK = (n - m_n1 - (k - 1 - t_K)) / outside
    passing_nK = (m_n1 - t_K) / outside
    contrast = _Sides(
        total(by_passing_nK * failing_nK * brought_K),
        -total(by_failing_nK * passing_nK * brought_K),
    )
    gain, gained = None, np.nan
    if smaller is not None:
        less_K = _top_sums(smaller)
        gain = _Sides(
            total(by_passing_nK * (top_K[1:] - less_K)),
            total(by_failing_nK * (top_K[:-1] - less_K)),
        )
        rounding = len(weights) * EPS * max(np.abs(weights).sum(), np.abs(smaller).sum())
        gained = top_K[-1] - less_K[-1]
        gained = 0.0 if abs(gained) <= rounding else gained
    passing_n = m_n1[:, 0] / n  # the share of samples that pass
    mean_n = passing_n * total(by_passing_nK * top_K[1:])
    mean_n += (1 - passing_n) * total(by_failing_nK * top_K[:-1])
    return _RankTable(mean_n, contrast, gain, gained)


def _top_sums(weights: Sequence[float]) -> np.ndarray:
    """Return the sum of the weights of the t largest ranks, for t from 0 to K."""
    return np.concatenate([[0.0], np.cumsum(weights[::-1])])


def _equal_weights(set_size: int, start: int, stop: int) -> np.ndarray:
    """Equal weights for the ranks from start up to stop, which sum to 1."""
    weights = np.zeros(set_size)
    weights[start:stop] = 1 / (stop - start)
    return weights


def check_count(what: str, value: int, least: int) -> None:
    """Refuse a count that is not an integer, or too small."""
    if not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{what} must be an integer of at least {least}, got {value!r}")


def check_enough(what: str, set_size: int, least: int) -> None:
    """Refuse sets that are too small."""
    if set_size < least:
        raise ValueError(f"{what} needs a set_size of at least {least}, got {set_size}")


@dataclass(frozen=True)
class Ranked:
    """Values of each prompt's samples in ascending order of a key.

    Attributes:
        place_BN: Where in the flattened array the sample of each rank stands.
        values_BN: The values by rank.
    """

    place_BN: np.ndarray
    values_BN: np.ndarray

    @cached_property
    def step_Bn(self) -> np.ndarray:
        """Δ at each of the N − 1 thresholds."""
        return self.values_BN[:, 1:] - self.values_BN[:, :-1]

    def over_thresholds(self, passed_n: np.ndarray, ahead_n: np.ndarray) -> np.ndarray:
        """Σ Δₖ·passedₖ over the thresholds below a sample + Σ Δₖ·aheadₖ over the others: (B, N)."""
        # The two running sums go through one array of complex numbers, in half of the time: one
        # from the first threshold up, one from the last threshold down.
        both_BN = np.zeros(self.values_BN.shape, dtype=np.complex128)
        np.multiply(self.step_Bn, passed_n, out=both_BN.real[:, 1:])
        np.multiply(self.step_Bn[:, ::-1], ahead_n[::-1], out=both_BN.imag[:, 1:])
        np.cumsum(both_BN, axis=-1, out=both_BN)
        return self.by_sample(both_BN.real + both_BN.imag[:, ::-1])

    def by_sample(self, ranked_BN: np.ndarray) -> np.ndarray:
        """Values by rank → values by sample."""
        values = np.empty(ranked_BN.size)
        values[self.place_BN] = ranked_BN
        return values.reshape(ranked_BN.shape)


def rank(key_BN: np.ndarray, values_BN: np.ndarray | None = None) -> Ranked:
    """Return the values (of the key itself, if none are given) in ascending order of the key."""
    num_prompts, n = key_BN.shape
    place_BN, ordered_BN = _sorting_order(key_BN)
    place_BN += n * np.arange(num_prompts)[:, None]
    if values_BN is not None or ordered_BN is None:
        ordered_BN = np.take(key_BN if values_BN is None else values_BN, place_BN)
    return Ranked(place_BN, ordered_BN)


def top_means(ranked_BN: np.ndarray, set_sizes: Sequence[int]) -> np.ndarray:
    """Return the mean value of the set's highest rank, values in ascending order: (sizes, B)."""
    n = ranked_BN.shape[1]
    return np.stack([total(ranked_BN * chances(n, k).top) for k in set_sizes])


def _sorting_order(key_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return an order that sorts each row, equal keys in any, and the sorted keys if known.

    Sorting keys is several times faster than sorting indices by them. Where the last bits of all
    keys are 0, as in 0, 1 and all numbers that were float32, each key carries its index in them.
    """
    n = key_BN.shape[-1]
    low_bits = (1 << (n - 1).bit_length()) - 1
    bits_BN = key_BN.view(np.int64)
    if np.bitwise_or.reduce(bits_BN, axis=None) & low_bits:
        return np.argsort(key_BN, axis=-1), None
    # Sorted as integers: 0 with an index in its last bits is a float that some threads (of XLA, in
    # a callback) take for 0. Different keys differ in a higher bit, which the index leaves alone.
    is_signed = bits_BN.min(initial=0) < 0
    taken_BN = (_flip_negative_bits(bits_BN) if is_signed else bits_BN) & ~low_bits | np.arange(n)
    taken_BN.sort(axis=-1)
    bits_BN = _flip_negative_bits(taken_BN) if is_signed else taken_BN
    return taken_BN & low_bits, (bits_BN & ~low_bits).view(np.float64)


def _flip_negative_bits(bits_BN: np.ndarray) -> np.ndarray:
    """Return integers in the order of the floats of these bits, or the bits of such integers."""
    return bits_BN ^ (bits_BN >> 63 & np.iinfo(np.int64).max)  # a negative one flips all the others
