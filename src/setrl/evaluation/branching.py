"""Where the samples of a problem part: their prefix tree, read off the sorted order.

Neighbours in sorted order share the longest prefixes, and two samples share the least of what the
neighbours between them share. So a sort and one pass over the n − 1 neighbours hold what the n²/2
pairs do: time ∝ the tokens that are compared.

A sample is a string (its characters) or a sequence of token ids; one that ends where another goes
on parts from it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.evaluation.estimators import Floats, hit_probabilities

Sample = str | Sequence[int]


@dataclass(frozen=True)
class PrefixTree:
    """The places at which groups of samples with a common prefix part, the longest first.

    Attributes:
        num_samples: n.
        length: Tokens of the longest sample.
        shared_M: How many tokens the two sides of each of the n − 1 partings share; those of
            equal samples part behind their end, at `length`.
        sides_M2: Samples on either side.
        same_M: Whether the two sides are one and the same sample.
    """

    num_samples: int
    length: int
    shared_M: NDArray[np.int64]
    sides_M2: NDArray[np.int64]
    same_M: NDArray[np.bool_]


def prefix_tree(samples: Sequence[Sample]) -> PrefixTree:
    """The prefix tree of a problem's samples.

    Raises:
        ValueError: When there is no sample.

    >>> tree = prefix_tree(["abc", "abd", "ax"])
    >>> tree.shared_M.tolist(), tree.sides_M2.tolist()
    ([2, 1], [[1, 1], [2, 1]])
    """
    if not samples:
        raise ValueError("samples must hold at least one sample, got none")
    ordered: list[Any] = sorted(s if isinstance(s, str) else tuple(s) for s in samples)
    shared = np.array([_common_prefix(a, b) for a, b in pairwise(ordered)], dtype=np.int64)
    same = np.array([a == b for a, b in pairwise(ordered)], dtype=bool)
    order = np.lexsort((-shared, ~same))
    sides = np.array(list(_sides(order)), dtype=np.int64).reshape(-1, 2)
    longest = max(map(len, ordered))
    return PrefixTree(len(ordered), longest, shared[order], sides, same[order])


def mean_shared_prefix(samples: Sequence[Sample]) -> float:
    """Mean number of tokens that two samples of a problem share from their beginning.

        Σ_{i<j} |common prefix of i and j| / C(n, 2)

    A mean over pairs, so it is unbiased for two fresh samples, whatever n.

    Returns:
        The mean; NaN for fewer than two samples.

    >>> mean_shared_prefix(["abc", "abd", "ax"])
    1.3333333333333333
    """
    tree = prefix_tree(samples)
    if tree.num_samples < 2:
        return float("nan")
    pairs_M = tree.sides_M2.prod(axis=1)
    return float(tree.shared_M @ pairs_M / pairs_M.sum())


def branches_by_position(samples: Sequence[Sample], k: int | None = None) -> Floats:
    """Expected number of different prefixes of t tokens among k of the samples, t = 1 … longest.

    All n samples (the default): the number of branches of their prefix tree at each depth. A
    sample that has ended stays a branch, so that the curve never falls and ends at the number of
    different samples. For k < n it is the mean over all k-subsets (rarefaction; as
    `distinct_at_k`), so that runs with different n can be compared.

    Args:
        samples: A problem's n samples.
        k: Samples that are looked at, 1 … n.

    Returns:
        (T,) values in [1, k].

    The branch count against position is how Poly-EPO (arXiv:2604.17654, Fig. 3) shows where
    samples part.

    >>> branches_by_position(["abc", "abd", "ax"])
    array([1., 2., 3.])
    """
    tree = prefix_tree(samples)
    n = tree.num_samples
    hit = hit_probabilities(n, n if k is None else k)
    # Joined, two sides are one prefix: they count hit(a + b) instead of hit(a) + hit(b).
    loss_M = hit[tree.sides_M2].sum(axis=1) - hit[tree.sides_M2.sum(axis=1)]
    last_M = np.where(tree.same_M, tree.length, tree.shared_M)  # position where they are still one
    joined_T = np.bincount(last_M, weights=loss_M, minlength=tree.length + 1)[::-1].cumsum()[::-1]
    return n * hit[1] - joined_T[1:]


def _common_prefix(first: Sample, second: Sample) -> int:
    """Tokens that two samples share from their beginning; halving, so that slices do the work."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _sides(order: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Sizes of the two groups that each parting of sorted neighbours joins, in this order.

    A group is an interval of the sorted samples; its size stands at both of its ends.
    """
    size = [1] * (len(order) + 1)
    for place in order.tolist():
        left, right = size[place], size[place + 1]
        yield left, right
        size[place - left + 1] = size[place + right] = left + right
