"""The definition of every metric at k: a statistic of all k-subsets, averaged exactly."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

Statistic = Callable[[tuple[int, ...]], Fraction]


def mean_over_subsets(statistic: Statistic, n: int, k: int) -> Fraction:
    """The statistic of every k-subset of the indices, averaged."""
    values = [Fraction(statistic(subset)) for subset in combinations(range(n), k)]
    return sum(values, Fraction(0)) / len(values)


def best_by_proxy(rewards: Sequence[int], proxy: Sequence[int]) -> Statistic:
    """Reward of a set's best by the proxy; among equal scores, their mean."""

    def statistic(subset: tuple[int, ...]) -> Fraction:
        best = max(proxy[i] for i in subset)
        tied = [int(rewards[i]) for i in subset if proxy[i] == best]
        return Fraction(sum(tied), len(tied))

    return statistic
