"""How long the samples of a problem are the same: the prefixes that two of them share.

A sample is a string (its characters) or a sequence of token ids. A sample that ends where another
continues diverges from it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Tokens = str | Sequence[object]


def mean_shared_prefix(samples: Sequence[Tokens]) -> float:
    """Mean number of tokens that two samples of a problem share from their beginning.

        Σ_{i<j} |common prefix of i and j| / C(n, 2)

    A mean over pairs, so it is unbiased for two fresh samples, whatever n. In sorted order, two
    samples share as much as the least similar neighbours between them: one pass over the n − 1
    neighbours replaces the n²/2 pairs.

    Returns:
        The mean; NaN for fewer than two samples.

    >>> mean_shared_prefix(["abc", "abd", "ax"])
    1.3333333333333333
    """
    ordered: list[Any] = sorted(s if isinstance(s, str) else tuple(s) for s in samples)
    total = ending = 0  # over all pairs so far, and over the pairs that end at this sample
    least: list[tuple[int, int]] = []  # what such pairs share, and how many share so much
    for first, second in pairwise(ordered):
        shared, number = common_prefix(first, second), 1
        while least and least[-1][0] >= shared:
            more, pairs = least.pop()
            ending, number = ending - more * pairs, number + pairs
        least.append((shared, number))
        ending += shared * number
        total += ending
    every = len(ordered) * (len(ordered) - 1) // 2
    return total / every if every else float("nan")


def common_prefix(first: Tokens, second: Tokens) -> int:
    """Tokens that two samples share from their beginning; halving, so that slices do the work."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
