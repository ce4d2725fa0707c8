"""Best of K by a proxy: what a selector that cannot see the rewards gets out of a set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import Chances, chances, marked_chances
from setrl.core.objectives.ranks import Ranked, TopMean, check_count, check_enough, rank, top_means
from setrl.core.sums import total
from setrl.samples.samples import Samples


@dataclass(frozen=True, repr=False)
class BestOf(Objective):
    """f(S) = the reward of the member with the highest proxy; if several tie, their mean.

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
        table, by_proxy = chances(n, k), _rank_by_proxy(samples)

        def within(share: Callable[[_Ties, Chances], np.ndarray]) -> np.ndarray | float:
            return by_proxy.within(lambda ties: share(ties, table))

        def gain() -> np.ndarray:
            between_BN = by_proxy.between.over_thresholds(*table.top_gain)
            return between_BN + within(_gain_if_selected)

        contrast_BN = by_proxy.between.over_thresholds(*table.top_contrast)
        contrast_BN += within(_mean_if_selected) * (n / table.outside)
        mean_B = total(by_proxy.between.values_BN * table.top)
        return SetMeans.around(mean_B, contrast_BN, k, gain)

    def mean_scores(self, samples: Samples, set_sizes: Sequence[int]) -> np.ndarray:
        """Return max@K by the order of the proxy, where tied samples have their mean reward."""
        return top_means(_rank_by_proxy(samples).between.values_BN, set_sizes)


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
        n, m, by_proxy = samples.num_samples, self.m, _rank_by_proxy(samples)
        between = TopMean(m).ranked_means(by_proxy.between, set_size)
        within_BN = by_proxy.within(lambda ties: _selection_excess(ties, n, set_size, m))

        def gain() -> np.ndarray:
            assert between.gain_BN is not None
            smaller_BN = by_proxy.within(lambda ties: _chance_for_tied(ties, n, set_size, m))
            return between.gain_BN + within_BN + smaller_BN

        return SetMeans(
            with_BN=between.with_BN + within_BN,
            contrast_BN=between.contrast_BN + within_BN * (n / chances(n, set_size).outside),
            mean_B=between.mean_B,
            gain=gain if set_size > m else None,
        )


class _Ties(NamedTuple):
    """The group of equal proxy of each rank, (B, N): how many samples are above it, its size, and
    what the rank's reward is above its mean reward.
    """

    above_BN: np.ndarray
    size_BN: np.ndarray
    deviation_BN: np.ndarray


class _ByProxy(NamedTuple):
    """Rewards in the order of the proxy; tied samples have their mean, and `ties` says the rest.

    `ties` is None where no samples tie.
    """

    between: Ranked
    ties: _Ties | None

    def within(self, share: Callable[[_Ties], np.ndarray]) -> np.ndarray | float:
        """Return what a sample's deviation from the mean of the samples that tie with it adds."""
        if self.ties is None:
            return 0.0
        return self.between.by_sample(self.ties.deviation_BN * share(self.ties))


def _rank_by_proxy(samples: Samples) -> _ByProxy:
    """Rank the samples by the proxy; deviations are exactly 0 where tied rewards are equal."""
    ranked = rank(samples.proxy, samples.rewards)
    proxy_BN, rewards_BN = np.take(samples.proxy, ranked.place_BN), ranked.values_BN
    num_prompts, n = proxy_BN.shape
    starts_BN = np.ones((num_prompts, n), dtype=bool)
    starts_BN[:, 1:] = proxy_BN[:, 1:] != proxy_BN[:, :-1]
    if starts_BN.all():
        return _ByProxy(ranked, None)
    group_BN = np.cumsum(starts_BN.ravel()).reshape(num_prompts, n) - 1
    first_G = np.flatnonzero(starts_BN)
    size_G = np.diff(first_G, append=num_prompts * n)
    base_BN = rewards_BN.ravel()[first_G][group_BN]
    excess_BN = rewards_BN - base_BN
    excess_mean_BN = (np.bincount(group_BN.ravel(), excess_BN.ravel()) / size_G)[group_BN]
    above_BN = (n - first_G % n - size_G)[group_BN]
    ties = _Ties(above_BN, size_G[group_BN], excess_BN - excess_mean_BN)
    return _ByProxy(Ranked(ranked.place_BN, base_BN + excess_mean_BN), ties)


def _mean_if_selected(ties: _Ties, table: Chances) -> np.ndarray:
    """u of the set's mean deviation, per unit of one's own: with A above and m in the group,

    (1/(m−1)) Σ_{a=A+1}^{A+m−1} missed_with[a],   0 for m = 1, where the deviation is 0
    """
    return _missed_in_group(ties, table) / np.maximum(ties.size_BN - 1, 1)


def _gain_if_selected(ties: _Ties, table: Chances) -> np.ndarray:
    """u − w of the same: the others' deviations sum to the opposite of one's own."""
    missed = table.missed_with
    lost_BN = missed[ties.above_BN] - missed[ties.above_BN + ties.size_BN - 1]
    return (_missed_in_group(ties, table) + lost_BN) / np.maximum(ties.size_BN - 1, 1)


def _missed_in_group(ties: _Ties, table: Chances) -> np.ndarray:
    from_a_up = np.append(np.cumsum(table.missed_with[::-1])[::-1], 0.0)
    return from_a_up[ties.above_BN + 1] - from_a_up[ties.above_BN + ties.size_BN]


def _selection_excess(ties: _Ties, num_samples: int, set_size: int, m: int) -> np.ndarray:
    """How much more often a sample is among the m selected than another of its group, in its sets.

    That is the chance that it is selected and the other is not in the set. With A above the group
    of g samples, and P the chance that fewer than m of K − 1 out of N − 2 are among a given a,

        (N−K)/(N−1) · (1/(g−1)) Σ_{a=A}^{A+g−2} P(a) / m,   0 for g = 1
    """
    if num_samples < 2 or set_size == num_samples:
        return np.zeros_like(ties.deviation_BN)
    absent = (num_samples - set_size) / (num_samples - 1)
    return absent * _mean_in_group(ties, _chance_few_above(num_samples - 2, set_size - 1, m)) / m


def _chance_for_tied(ties: _Ties, num_samples: int, set_size: int, m: int) -> np.ndarray:
    """How often another sample of the group is selected from the (K−1)-sets without this one."""
    if num_samples < 2:
        return np.zeros_like(ties.deviation_BN)
    present = (set_size - 1) / (num_samples - 1)
    return present * _mean_in_group(ties, _chance_few_above(num_samples - 2, set_size - 2, m)) / m


def _chance_few_above(total: int, drawn: int, m: int) -> np.ndarray:
    """Return the chance that fewer than m of `drawn` out of `total` are among a, for each a."""
    return marked_chances(total, drawn)[:, :m].sum(axis=1)


def _mean_in_group(ties: _Ties, table_a: np.ndarray) -> np.ndarray:
    """Return the mean of a table over a = A … A + g − 2; 0 for groups of one."""
    up_to_a = np.append(0.0, np.cumsum(table_a))
    others_BN = ties.size_BN - 1
    total_BN = up_to_a[ties.above_BN + others_BN] - up_to_a[ties.above_BN]
    return total_BN / np.maximum(others_BN, 1)
