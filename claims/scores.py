"""Set objectives as functions of the actions in a set, in rational arithmetic: the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from claims.exact import Actions, Score

DEGENERATE = -1


def mean(rewards: Sequence[Fraction | int]) -> Score:
    """(1/n) Σ r(yᵢ)."""
    return cache(lambda s: Fraction(sum(rewards[a] for a in s)) / len(s))


def maximum(rewards: Sequence[Fraction | int]) -> Score:
    """max r(yᵢ): pass@n where rewards are 0 and 1."""
    return cache(lambda s: Fraction(max(rewards[a] for a in s)))


def strategies(s: Actions, clusters: Sequence[int] | None = None) -> int:
    """How many clusters a set has; each action is its own cluster unless told otherwise."""
    labels = {a if clusters is None else clusters[a] for a in s}
    return len(labels - {DEGENERATE})


def distinct(clusters: Sequence[int] | None = None) -> Score:
    """Clusters / n: the diversity of Poly-EPO."""
    return cache(lambda s: Fraction(strategies(s, clusters), len(s)))


def spread(clusters: Sequence[int] | None = None) -> Score:
    """(clusters − 1)/(n − 1): a diversity that is 0 for a set of one strategy."""
    return cache(lambda s: Fraction(strategies(s, clusters) - 1, len(s) - 1))


def product(left: Score, right: Score) -> Score:
    """left · right."""
    return cache(lambda s: left(s) * right(s))


def polychromic(rewards: Sequence[Fraction | int], clusters: Sequence[int] | None = None) -> Score:
    """Mean reward · clusters/n: Set RL note, Eq. 14."""
    return product(mean(rewards), distinct(clusters))


def differ(s: Actions) -> Fraction:
    """1 if two members differ: Set RL note, Examples 3.6 and 5.4."""
    return Fraction(int(len(set(s)) > 1))


def majority(rewards: Sequence[Fraction | int], ties: str = "uniform") -> Score:
    """r of the most frequent action; ties are broken uniformly, or go to the lowest action."""

    def score(s: Actions) -> Fraction:
        counts = Counter(s)
        most = max(counts.values())
        winners = sorted(a for a in counts if counts[a] == most)
        if ties == "lowest":
            return Fraction(rewards[winners[0]])
        return Fraction(sum(rewards[a] for a in winners)) / len(winners)

    return cache(score)


def rarest_correct(rewards: Sequence[Fraction | int]) -> Score:
    """maxᵢ r(yᵢ) / (how often yᵢ is in the set): f_srl of the Set RL note, §5."""
    return cache(lambda s: max(Fraction(rewards[a]) / s.count(a) for a in s))
