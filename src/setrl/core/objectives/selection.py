"""Best of K by a proxy: what a selector that cannot see the rewards gets out of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import (
    Chances,
    chances,
    marked_chances,
    one_if_any_outside,
)
from setrl.core.objectives.ranks import TopMean, check_count, check_enough
from setrl.core.objectives.thresholds import Ranked, rank, top_means
from setrl.core.samples import Samples


@dataclass(frozen=True, repr=False)
class BestOf(Objective):
    """f(S) = the reward of the member with the highest proxy, the mean reward of those that tie.

    With the reward itself as proxy it is max@K; with a constant proxy, mean reward.
    """

    is_light = True
    reads: ClassVar[tuple[str, ...]] = ("rewards", "proxy")

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the mean reward of each set's selected members."""
        chosen = members.proxy == members.proxy.max(axis=-1, keepdims=True)
        return np.where(chosen, members.rewards, 0.0).sum(axis=-1) / chosen.sum(axis=-1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Between groups of equal proxy as max@K, in which a threshold may also cost; within one,
        a member's deviation from the group's mean counts as often as it is selected; O(N log N).
        """
        n, k = samples.num_samples, set_size
        table = chances(n, k)
        ranked = rank(samples.proxy, samples.rewards)
        ties = _ties(samples.proxy.ravel()[ranked.place_BN], ranked.values_BN)
        between = Ranked(ranked.place_BN, ties.mean_BN)
        above_n, none_n = between.above_n, np.zeros(n - 1)
        missed_n, first_n = table.missed_with[above_n], table.missed_with[above_n - 1]
        alone_n, paid_n = table.missed_without[above_n - 1], missed_n * above_n / table.outside
        within_BN = ranked.by_sample(ties.deviation_BN * _selected(ties, table))
        with_BN = ties.mean_BN[:, -1:] + between.over_thresholds(none_n, -missed_n) + within_BN
        contrast_BN = between.over_thresholds(alone_n, -paid_n) + within_BN * (n / table.outside)

        def gain() -> np.ndarray:
            first_BN = ranked.by_sample(ties.deviation_BN * _selected_first(ties, table))
            return between.over_thresholds(first_n, none_n) + first_BN

        return SetMeans(
            with_BN=with_BN,
            contrast_BN=contrast_BN * one_if_any_outside(n, k),
            mean_B=with_BN.mean(axis=-1),
            gain=gain,
        )

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Return max@K by the order of the proxy, where tied samples have their mean reward."""
        ranked = rank(samples.proxy, samples.rewards)
        ties = _ties(samples.proxy.ravel()[ranked.place_BN], ranked.values_BN)
        return top_means(ties.mean_BN, set_sizes)


@dataclass(frozen=True, repr=False)
class TopByProxy(Objective):
    """f(S) = the mean reward of the m members with the highest proxy: Set RL note, Example 2.4.

    Members that tie for the last places share them equally. m = 1 is `best_of`, m = K the mean
    reward; with the reward itself as proxy it is `top_mean(m)`. K ≥ m.

    Attributes:
        m: How many members the selector returns, at least 1.
    """

    m: int

    is_light = True
    reads: ClassVar[tuple[str, ...]] = ("rewards", "proxy")

    def __post_init__(self) -> None:
        check_count("top_by_proxy(m)", self.m, 1)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the mean reward of each set's selected members."""
        proxy, m = members.proxy, self.m
        check_enough(f"top_by_proxy(m={m})", members.num_samples, m)
        last = np.sort(proxy, axis=-1)[..., -m, None]
        above, tied = proxy > last, proxy == last
        places = m - above.sum(axis=-1, keepdims=True)
        share = np.where(above, 1.0, tied * places / tied.sum(axis=-1, keepdims=True))
        return (share * members.rewards).sum(axis=-1) / m

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return `top_mean` over ranks by the proxy, where tied samples have their mean reward; a
        member's deviation from that mean counts as often as it is selected; O(N log N).
        """
        n, m = samples.num_samples, self.m
        mean = TopMean(m)
        ranked = rank(samples.proxy, samples.rewards)
        ties = _ties(samples.proxy.ravel()[ranked.place_BN], ranked.values_BN)
        between = mean.ranked_means(Ranked(ranked.place_BN, ties.mean_BN), set_size)
        within_BN = ranked.by_sample(ties.deviation_BN * _preferred(ties, n, set_size, m))
        outside = chances(n, set_size).outside

        def gain() -> np.ndarray:
            assert between.gain_BN is not None
            smaller_BN = _preferred_of_smaller(ties, n, set_size, m)
            return between.gain_BN + within_BN + ranked.by_sample(ties.deviation_BN * smaller_BN)

        return SetMeans(
            with_BN=between.with_BN + within_BN,
            contrast_BN=between.contrast_BN + within_BN * (n / outside),
            mean_B=between.mean_B,
            gain=gain if set_size > m else None,
        )


class _Ties(NamedTuple):
    """The group of equal proxy of each rank, (B, N): how many samples are above it, its size, its
    mean reward, and what the rank's reward is above that.
    """

    above_BN: np.ndarray
    size_BN: np.ndarray
    mean_BN: np.ndarray
    deviation_BN: np.ndarray


def _ties(proxy_BN: np.ndarray, rewards_BN: np.ndarray) -> _Ties:
    """Find groups of equal proxy, ascending; deviations are exactly 0 where rewards are equal."""
    num_prompts, n = proxy_BN.shape
    starts_BN = np.ones((num_prompts, n), dtype=bool)
    starts_BN[:, 1:] = proxy_BN[:, 1:] != proxy_BN[:, :-1]
    group_BN = np.cumsum(starts_BN.ravel()).reshape(num_prompts, n) - 1
    first_G = np.flatnonzero(starts_BN)
    size_G = np.diff(first_G, append=num_prompts * n)
    base_BN = rewards_BN.ravel()[first_G][group_BN]
    excess_BN = rewards_BN - base_BN
    mean_G = np.bincount(group_BN.ravel(), excess_BN.ravel()) / size_G
    above_G = n - first_G % n - size_G
    excess_mean_BN = mean_G[group_BN]
    return _Ties(
        above_G[group_BN], size_G[group_BN], base_BN + excess_mean_BN, excess_BN - excess_mean_BN
    )


def _selected(ties: _Ties, table: Chances) -> np.ndarray:
    """u of the set's mean deviation, per unit of one's own: with A above and m in the group,

    (1/(m−1)) Σ_{a=A+1}^{A+m−1} missed_with[a],   0 for m = 1, where the deviation is 0
    """
    return _missed_in_group(ties, table) / np.maximum(ties.size_BN - 1, 1)


def _selected_first(ties: _Ties, table: Chances) -> np.ndarray:
    """u − w of the same: the others' deviations sum to the opposite of one's own."""
    missed = table.missed_with
    lost_BN = missed[ties.above_BN] - missed[ties.above_BN + ties.size_BN - 1]
    return (_missed_in_group(ties, table) + lost_BN) / np.maximum(ties.size_BN - 1, 1)


def _missed_in_group(ties: _Ties, table: Chances) -> np.ndarray:
    from_a_up = np.append(np.cumsum(table.missed_with[::-1])[::-1], 0.0)
    return from_a_up[ties.above_BN + 1] - from_a_up[ties.above_BN + ties.size_BN]


def _preferred(ties: _Ties, num_samples: int, set_size: int, m: int) -> np.ndarray:
    """How much more often a sample is among the m selected than another of its group, in its sets.

    That is the chance that it is selected and the other is not in the set. With A above the group
    of g samples, and P the chance that fewer than m of K − 1 out of N − 2 are among a given a,

        (N−K)/(N−1) · (1/(g−1)) Σ_{a=A}^{A+g−2} P(a) / m,   0 for g = 1
    """
    if num_samples < 2 or set_size == num_samples:
        return np.zeros_like(ties.mean_BN)
    absent = (num_samples - set_size) / (num_samples - 1)
    return absent * _mean_in_group(ties, _few_above(num_samples - 2, set_size - 1, m)) / m


def _preferred_of_smaller(ties: _Ties, num_samples: int, set_size: int, m: int) -> np.ndarray:
    """How often another sample of the group is selected from the (K−1)-sets without this one."""
    if num_samples < 2:
        return np.zeros_like(ties.mean_BN)
    present = (set_size - 1) / (num_samples - 1)
    return present * _mean_in_group(ties, _few_above(num_samples - 2, set_size - 2, m)) / m


def _few_above(total: int, drawn: int, m: int) -> np.ndarray:
    """Return the chance that fewer than m of `drawn` out of `total` are among a, for each a."""
    return marked_chances(total, drawn)[:, :m].sum(axis=1)


def _mean_in_group(ties: _Ties, table_a: np.ndarray) -> np.ndarray:
    """Return the mean of a table over a = A … A + g − 2; 0 for groups of one."""
    up_to_a = np.append(0.0, np.cumsum(table_a))
    others_BN = ties.size_BN - 1
    total_BN = up_to_a[ties.above_BN + others_BN] - up_to_a[ties.above_BN]
    return total_BN / np.maximum(others_BN, 1)
