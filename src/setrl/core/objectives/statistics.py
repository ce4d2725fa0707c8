"""L-statistics by name: the presets of OrderGrad (arXiv:2606.06096)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from setrl.core.objectives.ranks import RankWeighted


@dataclass(frozen=True, repr=False)
class TopMean(RankWeighted):
    """The mean of the m largest rewards of a set; m = 1 is the maximum, m = K the mean."""

    m: int

    def __post_init__(self) -> None:
        _check_count("top_mean(m)", self.m, 1)

    def weights(self, set_size: int) -> np.ndarray:
        """1/m for the m largest."""
        _check_enough(f"top_mean(m={self.m})", set_size, self.m)
        return _equal(set_size, set_size - self.m, set_size)


@dataclass(frozen=True, repr=False)
class Minimum(RankWeighted):
    """The smallest reward of a set: what holds when all K attempts count."""

    def weights(self, set_size: int) -> np.ndarray:
        """1 for the smallest."""
        return _equal(set_size, 0, 1)


@dataclass(frozen=True, repr=False)
class Median(RankWeighted):
    """The median reward of a set; the mean of the two middle ones where K is even."""

    def weights(self, set_size: int) -> np.ndarray:
        """1 for the middle, or 1/2 for each of the two."""
        return _equal(set_size, (set_size - 1) // 2, set_size // 2 + 1)


@dataclass(frozen=True, repr=False)
class TrimmedMean(RankWeighted):
    """The mean of a set's rewards without the m smallest and the m largest; K > 2m."""

    m: int

    def __post_init__(self) -> None:
        _check_count("trimmed_mean(m)", self.m, 0)

    def weights(self, set_size: int) -> np.ndarray:
        """1/(K − 2m) for those that stay."""
        _check_enough(f"trimmed_mean(m={self.m})", set_size, 2 * self.m + 1)
        return _equal(set_size, self.m, set_size - self.m)


@dataclass(frozen=True, repr=False)
class WinsorisedMean(RankWeighted):
    """The mean of a set's rewards after the m extremes on each side move to the next; K > 2m."""

    m: int

    def __post_init__(self) -> None:
        _check_count("winsorised_mean(m)", self.m, 0)

    def weights(self, set_size: int) -> np.ndarray:
        """1/K for those that stay, and m/K more for the first and the last of them."""
        _check_enough(f"winsorised_mean(m={self.m})", set_size, 2 * self.m + 1)
        kept = slice(self.m, set_size - self.m)
        weights = np.zeros(set_size)
        weights[kept] = 1 / set_size
        weights[self.m] += self.m / set_size
        weights[set_size - self.m - 1] += self.m / set_size
        return weights


@dataclass(frozen=True, repr=False)
class Quantile(RankWeighted):
    """The q-quantile of a set's rewards, between the two ranks next to q·K + 1/2 (Hazen).

    Attributes:
        q: From 0, the smallest, to 1, the largest.
    """

    q: float

    def __post_init__(self) -> None:
        if not 0 <= self.q <= 1:
            raise ValueError(f"quantile(q) must be in [0, 1], got {self.q}")

    def weights(self, set_size: int) -> np.ndarray:
        """The two ranks around the position, by nearness."""
        position = min(max(self.q * set_size - 0.5, 0.0), set_size - 1.0)
        low = floor(position)
        weights = np.zeros(set_size)
        weights[low] = 1 - (position - low)
        if position > low:
            weights[low + 1] = position - low
        return weights


@dataclass(frozen=True, repr=False)
class Cvar(RankWeighted):
    """The mean of the ⌈share·K⌉ smallest rewards of a set: the lower tail, for aversion to risk.

    Attributes:
        share: Of the set, above 0 and up to 1, which is the mean.
    """

    share: float

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"cvar(share) must be in (0, 1], got {self.share}")

    def weights(self, set_size: int) -> np.ndarray:
        """Equal for the lower tail."""
        return _equal(set_size, 0, max(1, ceil(self.share * set_size - 1e-12)))


@dataclass(frozen=True, repr=False)
class GiniMeanDifference(RankWeighted):
    """The mean of |rᵢ − rⱼ| over the pairs of a set, a measure of spread; 0 for K = 1."""

    def weights(self, set_size: int) -> np.ndarray:
        """2(2j − K − 1) / (K(K − 1)) for the j-th smallest."""
        rank_K = np.arange(1, set_size + 1)
        return 2 * (2 * rank_K - set_size - 1) / max(set_size * (set_size - 1), 1)


def _equal(set_size: int, start: int, stop: int) -> np.ndarray:
    """Equal weights for the ranks from start up to stop, which sum to 1."""
    weights = np.zeros(set_size)
    weights[start:stop] = 1 / (stop - start)
    return weights


def _check_count(what: str, value: int, least: int) -> None:
    if not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{what} must be an integer of at least {least}, got {value!r}")


def _check_enough(what: str, set_size: int, least: int) -> None:
    if set_size < least:
        raise ValueError(f"{what} needs a set_size of at least {least}, got {set_size}")
