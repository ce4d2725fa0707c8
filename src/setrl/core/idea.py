"""The idea of setrl, by its definition: what is a sample worth to the sets that hold it?

A prompt has N samples. Every set of K of them, taken by index, gets a score. A sample is credited
with the mean score of the sets that hold it, less a baseline:

    Aᵢ = mean{f(S) : i ∈ S} − baseline,     S ⊂ {0 … N−1}, |S| = K

Here every set is listed, in fractions: there are C(N, K) of them, so this is for reading and for
tests. Everything else in the library computes the same numbers without the list, and its tests
compare it with this file.

Are two right answers worth the same if one of them is the only one of its kind? With the
objective "mean reward × share of different strategies" they are not:

>>> right, strategy = [1, 1, 1, 0], ["factor", "factor", "formula", "guess"]
>>> def polychromic(members):
...     mean = Fraction(sum(right[i] for i in members), len(members))
...     return mean * Fraction(len({strategy[i] for i in members}), len(members))
>>> credit = advantages(polychromic, num_samples=4, set_size=2)
>>> [str(value) for value in credit]
['0', '0', '1/6', '-1/6']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm
from typing import Literal

Members = tuple[int, ...]  # a set: the places of its samples, in order
Score = Callable[[Members], Fraction | int | float]  # a set objective: what a set is worth


def average(numbers: Iterable[Fraction]) -> Fraction:
    """Σx / n, exact; 0 without numbers."""
    ratios = [number.as_integer_ratio() for number in numbers]
    common = lcm(*(below for _, below in ratios))  # integers add up much faster
    total = sum(above * (common // below) for above, below in ratios)
    return Fraction(total, common * max(len(ratios), 1))


@dataclass(frozen=True)
class Sets:
    """All sets of K of N samples, and the means of their scores.

    Attributes:
        score: f, what a set of indices is worth.
        num: N.
        size: K.
    """

    score: Score
    num: int
    size: int

    @cached_property
    def scored(self) -> dict[Members, Fraction]:
        """Every set and its score."""
        return {s: Fraction(self.score(s)) for s in combinations(range(self.num), self.size)}

    @cached_property
    def u(self) -> list[Fraction]:
        """uᵢ: the mean score of the sets with sample i."""
        return [average(f for s, f in self.scored.items() if i in s) for i in range(self.num)]

    @cached_property
    def v(self) -> list[Fraction]:
        """vᵢ: the mean score of the sets without sample i; empty if K = N: all have sample i."""
        samples = range(self.num if self.size < self.num else 0)
        return [average(f for s, f in self.scored.items() if i not in s) for i in samples]

    @cached_property
    def w(self) -> list[Fraction]:
        """wᵢ: the mean score of the sets of K − 1 without sample i; 0 if K = 1."""
        if self.size == 1:
            return [Fraction(0)] * self.num
        return Sets(self.score, self.num, self.size - 1).v

    @cached_property
    def U(self) -> Fraction:
        """U: the mean score of all sets."""
        return average(self.scored.values())

    @cached_property
    def variance(self) -> Fraction:
        """Var f(S) over all sets."""
        return average((f - self.U) ** 2 for f in self.scored.values())


def advantages(
    score: Score,
    num_samples: int,
    set_size: int,
    baseline: Literal["all_sets", "leave_one_out", "smaller_sets", "none"] = "all_sets",
) -> list[Fraction]:
    """Return Aᵢ = uᵢ − baseline for each sample.

    `all_sets` compares with all sets (Set RL, Poly-EPO; GRPO without its scale where K = 1),
    `leave_one_out` with the sets without the sample (MaxPO; RLOO where K = 1), `smaller_sets` with
    what the other K − 1 members score alone (expected improvement), `none` with nothing.
    """
    sets = Sets(score, num_samples, set_size)
    compared = {
        "all_sets": lambda: [sets.U] * num_samples,
        "leave_one_out": lambda: sets.v,
        "smaller_sets": lambda: sets.w,
        "none": lambda: [Fraction(0)] * num_samples,
    }[baseline]()
    return [u - b for u, b in zip(sets.u, compared, strict=True)]
