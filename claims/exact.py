"""Expectations over finite policies and groups of samples, in rational arithmetic.

This is the ledger's own arithmetic: plain enumeration with fractions, which shares no code with
the rest of the library. A policy is a tuple of probabilities; a score is a function of the actions
in a set, given in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, pairwise
from math import factorial, gcd, prod

Policy = tuple[Fraction, ...]
Actions = tuple[int, ...]
Score = Callable[[Actions], Fraction]


def policy(*weights: int) -> Policy:
    """π ∝ weights.

    >>> [str(p) for p in policy(1, 3)]
    ['1/4', '3/4']
    """
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def policies(num_actions: int, largest: int) -> Iterator[Policy]:
    """Every policy with positive probabilities over one denominator up to `largest`, that first."""
    for denominator in range(num_actions, largest + 1):
        for cuts in combinations(range(1, denominator), num_actions - 1):
            edges = (0, *cuts, denominator)
            weights = [high - low for low, high in pairwise(edges)]
            if gcd(*weights) == 1:
                yield policy(*weights)


def chances(largest: int) -> Iterator[Fraction]:
    """Every fraction strictly between 0 and 1 with denominator up to `largest`."""
    for p, _ in policies(2, largest):
        yield p


@lru_cache(maxsize=4096)
def draws(policy: Policy, num: int) -> tuple[tuple[Actions, Fraction], ...]:
    """Every multiset of `num` independent actions, and its probability."""
    counted = []
    for drawn in combinations_with_replacement(range(len(policy)), num):
        counts = [drawn.count(action) for action in range(len(policy))]
        orders = factorial(num) // prod(map(factorial, counts))
        counted.append((drawn, orders * prod((policy[a] for a in drawn), start=Fraction(1))))
    return tuple(counted)


def expected(score: Score, policy: Policy, num: int, given: Actions = ()) -> Fraction:
    """E f(given, Y₁…Y_num)."""
    return sum(
        (chance * score(tuple(sorted(given + drawn))) for drawn, chance in draws(policy, num)),
        Fraction(0),
    )


def covariance(left: Score, right: Score, policy: Policy, num: int) -> Fraction:
    """Cov(left(Y), right(Y)) over sets of `num` independent actions."""
    both = expected(lambda s: left(s) * right(s), policy, num)
    return both - expected(left, policy, num) * expected(right, policy, num)


def advantage(score: Score, policy: Policy, size: int, action: int) -> Fraction:
    """A(y) = E f(y, Y₂…Y_n) − E f(Y₁…Y_n): Set RL note, Eq. 12."""
    return expected(score, policy, size - 1, (action,)) - expected(score, policy, size)


def advantages(score: Score, policy: Policy, size: int) -> list[Fraction]:
    """A of every action."""
    whole = expected(score, policy, size)
    return [expected(score, policy, size - 1, (a,)) - whole for a in range(len(policy))]


def logit_gradient(score: Score, policy: Policy, size: int) -> list[Fraction]:
    """∇_z E f, z the logits: the polynomial E f in π, differentiated, then the softmax.

    It does not use the score function, so that score-function identities can be held against it.
    """
    slopes = [Fraction(0)] * len(policy)
    for drawn, chance in draws(policy, size):
        for action in set(drawn):
            slopes[action] += drawn.count(action) * chance / policy[action] * score(drawn)
    mean = sum(p * slope for p, slope in zip(policy, slopes, strict=True))
    return [p * (slope - mean) for p, slope in zip(policy, slopes, strict=True)]


def log_likelihood_rates(gradient: Sequence[Fraction], policy: Policy) -> list[Fraction]:
    """d log π(y) / dα when the logits move by α·gradient."""
    mean = sum((p * g for p, g in zip(policy, gradient, strict=True)), Fraction(0))
    return [g - mean for g in gradient]


def average(numbers: Sequence[Fraction]) -> Fraction:
    """Their mean; 0 of none."""
    return sum(numbers, Fraction(0)) / max(len(numbers), 1)


def times(scale: Fraction | int, numbers: Sequence[Fraction]) -> list[Fraction]:
    """scale · numbers."""
    return [scale * number for number in numbers]
