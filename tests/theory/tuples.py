"""Means over all tuples of actions, in rational arithmetic: what the theory must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from tests.core.reference import probability

Score = Callable[[tuple[int, ...]], Fraction]  # the actions of a set → its score


def mean(score: Score, policy: Sequence[Fraction], set_size: int) -> Fraction:
    """E f of independent draws."""
    draws = product(range(len(policy)), repeat=set_size)
    return sum((probability(draw, policy) * score(draw) for draw in draws), Fraction(0))


def given_first(score: Score, policy: Sequence[Fraction], set_size: int, action: int) -> Fraction:
    """E[f | y₁ = action]."""
    return mean(lambda rest: score((action, *rest)), policy, set_size - 1)


def advantages(score: Score, policy: Sequence[Fraction], set_size: int) -> list[Fraction]:
    """E[f | y₁ = y] − E f of every action."""
    value = mean(score, policy, set_size)
    return [given_first(score, policy, set_size, y) - value for y in range(len(policy))]


def covariance(first: Score, second: Score, policy: Sequence[Fraction], set_size: int) -> Fraction:
    """Cov of two functions of the draws."""
    joint = mean(lambda draw: first(draw) * second(draw), policy, set_size)
    return joint - mean(first, policy, set_size) * mean(second, policy, set_size)
