"""Best of K by a proxy: what a selector that cannot see the rewards gets out of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import Chances, chances, one_if_any_outside
from setrl.core.objectives.thresholds import Ranked, rank, top_means
from setrl.core.samples import Samples


@dataclass(frozen=True, repr=False)
class BestOf(Objective):
    """f(S) = the reward of the member with the highest proxy, the mean reward of those that tie.

    With the reward itself as proxy it is max@K; with a constant proxy, mean reward.
    """

    reads: ClassVar[tuple[str, ...]] = ("rewards", "proxy")

    def __call__(self, members: Samples) -> np.ndarray:
        """The mean reward of each set's selected members."""
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
        """As max@K, in ascending order of the proxy, each reward as the mean of those that tie."""
        ranked = rank(samples.proxy, samples.rewards)
        ties = _ties(samples.proxy.ravel()[ranked.place_BN], ranked.values_BN)
        return top_means(ties.mean_BN, set_sizes)


class _Ties(NamedTuple):
    """The group of equal proxy of each rank, (B, N): how many samples are above it, its size, its
    mean reward, and what the rank's reward is above that.
    """

    above_BN: np.ndarray
    size_BN: np.ndarray
    mean_BN: np.ndarray
    deviation_BN: np.ndarray


def _ties(proxy_BN: np.ndarray, rewards_BN: np.ndarray) -> _Ties:
    """Groups of equal proxy, ascending; deviations are exactly 0 where rewards are equal."""
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
