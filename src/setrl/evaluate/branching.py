"""Where the samples of a problem diverge: their prefix tree, read off the sorted order.

Neighbours in sorted order share the longest prefixes, and two samples share as much as the least
similar neighbours between them. So a sort and one pass over the n − 1 neighbours replace the n²/2
pairs: time ∝ the tokens that are compared.

A sample is a string (its characters) or a sequence of token ids. A sample that ends where another
continues diverges from it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.evaluate.estimators import Floats, pass_at_k

Tokens = str | Sequence[int]


@dataclass(frozen=True)
class PrefixTree:
    """The places at which groups of samples with a common prefix diverge, the longest first.

    Attributes:
        num_samples: n.
        length: Tokens of the longest sample.
        shared_M: How many tokens the two sides of each of the n − 1 branchings share; equal
            samples count as branching after their end, at `length`.
        sides_M2: Samples on either side.
        same_M: Whether the two sides are the same sample.
    """

    num_samples: int
    length: int
    shared_M: NDArray[np.int64]
    sides_M2: NDArray[np.int64]
    same_M: NDArray[np.bool_]


def prefix_tree(samples: Sequence[Tokens]) -> PrefixTree:
    """Return the prefix tree of a problem's samples.

    Raises:
        ValueError: If there is no sample.

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


def mean_shared_prefix(samples: Sequence[Tokens]) -> float:
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


def branches_by_position(samples: Sequence[Tokens], k: int | None = None) -> Floats:
    """Return E[different prefixes of t tokens among k of the samples], t = 1 … longest.

    For all n samples (the default) it is the number of branches of their prefix tree at each depth.
    A sample that has ended stays a branch, so that the curve never falls and ends at the number of
    different samples. For k < n it is the mean over all k-subsets (rarefaction; as
    `objectives.distinct()`), so that runs with different n can be compared.

    Args:
        samples: A problem's n samples.
        k: Samples that are drawn, 1 … n.

    Returns:
        (T,) values in [1, k].

    Poly-EPO (arXiv:2604.17654, Fig. 3) plots this count against the position.

    >>> branches_by_position(["abc", "abd", "ax"])
    array([1., 2., 3.])
    """
    tree = prefix_tree(samples)
    n = tree.num_samples
    size = n if k is None else k
    # A prefix of m samples is among the k with the chance hit(m) that pass@k has for m correct
    # ones. Joined, two sides are one prefix: they count hit(a + b) instead of hit(a) + hit(b).
    loss_M = pass_at_k(tree.sides_M2, n, size).sum(axis=1)
    loss_M -= pass_at_k(tree.sides_M2.sum(axis=1), n, size)
    last_M = np.where(
        tree.same_M, tree.length, tree.shared_M
    )  # the last position where they are one prefix
    joined_T = np.bincount(last_M, weights=loss_M, minlength=tree.length + 1)[::-1].cumsum()[::-1]
    return n * pass_at_k(1, n, size) - joined_T[1:]


def _common_prefix(first: Tokens, second: Tokens) -> int:
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
    """Sizes of the two groups that each branching of sorted neighbours joins, in this order.

    A group is an interval of the sorted samples; its size is stored at both of its ends.
    """
    size = [1] * (len(order) + 1)
    for place in order.tolist():
        left, right = size[place], size[place + 1]
        yield left, right
        size[place - left + 1] = size[place + right] = left + right
