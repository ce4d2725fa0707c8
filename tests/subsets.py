"""The definition of every metric at k: a statistic of all k-subsets, averaged exactly."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

SIZES = [(n, k) for n in range(1, 8) for k in range(1, n + 1)]

Statistic = Callable[[tuple[int, ...]], Fraction]


def mean_over_subsets(statistic: Statistic, n: int, k: int) -> Fraction:
    """The statistic of every k-subset of the indices, averaged."""
    values = [Fraction(statistic(subset)) for subset in combinations(range(n), k)]
    return sum(values, Fraction(0)) / len(values)


def variance(statistic: Statistic, n: int, k: int) -> Fraction:
    """Square of the mean, less the mean product over the pairs of disjoint subsets."""
    values = {subset: Fraction(statistic(subset)) for subset in combinations(range(n), k)}
    products = [x * y for a, x in values.items() for b, y in values.items() if not set(a) & set(b)]
    return mean_over_subsets(statistic, n, k) ** 2 - sum(products, Fraction(0)) / len(products)


def best_by_proxy(rewards: Sequence[int], proxy: Sequence[int]) -> Statistic:
    """Reward of a set's best by the proxy; among equal scores, their mean."""

    def statistic(subset: tuple[int, ...]) -> Fraction:
        best = max(proxy[i] for i in subset)
        tied = [int(rewards[i]) for i in subset if proxy[i] == best]
        return Fraction(sum(tied), len(tied))

    return statistic
