"""Credit of the samples of one group, and what it does on average, in rational arithmetic.

A credit is a function of a group, N actions that were sampled: it gives each of them an advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from claims.exact import Actions, Policy, Score, average, draws

Credit = Callable[[Actions], Sequence[Fraction]]
Design = tuple[tuple[int, ...], ...]  # which sets are scored, by index


@dataclass(frozen=True)
class GroupMeans:
    """Mean scores of sets out of one group of samples, by index.

    Attributes:
        u: Over the n-sets with each sample.
        v: Over those without it; empty if n = N.
        w: Over the (n−1)-sets without it; 0 if n = 1.
        U: Over all.
    """

    u: list[Fraction]
    v: list[Fraction]
    w: list[Fraction]
    U: Fraction


def group_means(score: Score, group: Actions, size: int) -> GroupMeans:
    """u, v, w and U of a group of N samples, by enumerating its sets."""
    samples = range(len(group))
    scored = [(s, score(_members(group, s))) for s in combinations(samples, size)]
    smaller = [(s, score(_members(group, s))) for s in combinations(samples, size - 1) if s]
    return GroupMeans(
        u=[average([f for s, f in scored if i in s]) for i in samples],
        v=[average([f for s, f in scored if i not in s]) for i in samples if size < len(group)],
        w=[average([f for s, f in smaller if i not in s]) for i in samples],
        U=average([f for _, f in scored]),
    )


def estimate(credits: Sequence[Fraction], group: Actions, policy: Policy) -> list[Fraction]:
    """Σᵢ ∇_z log π(yᵢ)·Aᵢ of one group."""
    total = sum(credits, Fraction(0))
    own = [Fraction(0)] * len(policy)
    for action, credit in zip(group, credits, strict=True):
        own[action] += credit
    return [mine - p * total for mine, p in zip(own, policy, strict=True)]


def mean_estimate(credit: Credit, policy: Policy, num: int) -> list[Fraction]:
    """E Σᵢ ∇_z log π(yᵢ)·Aᵢ over groups of `num` independent samples."""
    total = [Fraction(0)] * len(policy)
    for group, chance in draws(policy, num):
        for a, part in enumerate(estimate(credit(group), group, policy)):
            total[a] += chance * part
    return total


def trace_variance(credit: Credit, policy: Policy, num: int) -> Fraction:
    """E ‖g‖² − ‖E g‖² of the estimate g of one group of `num` samples."""
    second = Fraction(0)
    for group, chance in draws(policy, num):
        second += chance * sum(g * g for g in estimate(credit(group), group, policy))
    return second - sum(g * g for g in mean_estimate(credit, policy, num))


def all_sets(num: int, size: int) -> Design:
    """Every n-set of N indices."""
    return tuple(combinations(range(num), size))


def from_sets(score: Score, design: Design) -> Credit:
    """Σ_{G∋i} (f(G) − f̂) over the sets of a design, f̂ their mean, by index: Set RL note, Eq. 9."""

    def credit(group: Actions) -> list[Fraction]:
        scored = [score(_members(group, s)) for s in design]
        mean = average(scored)
        return [
            sum((f - mean for f, s in zip(scored, design, strict=True) if i in s), Fraction(0))
            for i in range(len(group))
        ]

    return credit


def deviation(score: Score, size: int) -> Credit:
    """u − U."""

    def credit(group: Actions) -> list[Fraction]:
        means = group_means(score, group, size)
        return [u - means.U for u in means.u]

    return credit


def contrast(score: Score, size: int) -> Credit:
    """u − v."""
    return mixture(score, size, Fraction(1))


def gain(score: Score, size: int) -> Credit:
    """u − w."""
    return mixture(score, size, Fraction(0))


def mixture(score: Score, size: int, c: Fraction) -> Credit:
    """u − c·v − (1−c)·w."""

    def credit(group: Actions) -> list[Fraction]:
        means = group_means(score, group, size)
        triples = zip(means.u, means.v, means.w, strict=True)
        return [u - c * v - (1 - c) * w for u, v, w in triples]

    return credit


def _members(group: Actions, indices: Sequence[int]) -> Actions:
    return tuple(sorted(group[i] for i in indices))
