"""Expectations over finite policies, groups of samples and their sets, in rational arithmetic.

This is the reference of the claims and of the tests: plain enumeration with fractions, which shares
no code with the library but its definition, `setrl.core.idea`. A policy is a sequence of
probabilities, one for each action. A score is a function of the members of a set in ascending
order: actions, or indices of samples. A credit gives an advantage to each action of a group of N
samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, pairwise, product
from math import factorial, gcd, lcm, prod
from typing import Any

from setrl.core.idea import Sets, average

Policy = Sequence[Fraction]
Actions = tuple[int, ...]
Score = Callable[[Actions], Fraction]
Credit = Callable[[Actions], Sequence[Fraction]]
Design = Sequence[tuple[int, ...]]  # which sets are scored, by index


def dot(left: Iterable[Fraction], right: Iterable[Fraction | int]) -> Fraction:
    """Σ left · right; a float if one of the numbers is a float."""
    pairs = list(zip(left, right, strict=True))
    if float in {type(number) for pair in pairs for number in pair}:
        return sum((a * b for a, b in pairs), Fraction(0))
    ratios = [(*a.as_integer_ratio(), *b.as_integer_ratio()) for a, b in pairs]
    common = lcm(*(b * d for _, b, _, d in ratios))  # integers add up much faster
    return Fraction(sum(a * c * (common // (b * d)) for a, b, c, d in ratios), common)


def times(scale: Fraction | int, numbers: Iterable[Fraction]) -> list[Fraction]:
    """scale · numbers."""
    return [scale * number for number in numbers]


def weighted(weights: Iterable[Fraction], numbers: Iterable[Fraction]) -> list[Fraction]:
    """weight · number, for each pair."""
    return [weight * number for weight, number in zip(weights, numbers, strict=True)]


def ratios(left: Iterable[Fraction | int], right: Iterable[Fraction | int]) -> list[Fraction]:
    """left / right, for each pair whose right is not 0.

    >>> ratios([Fraction(1), Fraction(3), Fraction(1)], [Fraction(2), Fraction(6), Fraction(0)])
    [Fraction(1, 2), Fraction(1, 2)]
    """
    return [Fraction(a) / b for a, b in zip(left, right, strict=True) if b]


# Policies and independent draws from them.


def policy(*weights: int) -> tuple[Fraction, ...]:
    """π ∝ weights.

    >>> [str(p) for p in policy(1, 3)]
    ['1/4', '3/4']
    """
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def policies(num_actions: int, largest: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield every policy with positive probabilities, denominators ascending up to `largest`."""
    for denominator in range(num_actions, largest + 1):
        for cuts in combinations(range(1, denominator), num_actions - 1):
            edges = (0, *cuts, denominator)
            weights = [high - low for low, high in pairwise(edges)]
            if gcd(*weights) == 1:
                yield policy(*weights)


def probability(drawn: Iterable[int], policy: Policy) -> Fraction:
    """P of these independent actions, in this order."""
    return prod((policy[action] for action in drawn), start=Fraction(1))


def ordered_draws(policy: Policy, num: int) -> Iterator[tuple[Actions, Fraction]]:
    """Yield every tuple of `num` independent actions, and its probability."""
    for drawn in product(range(len(policy)), repeat=num):
        yield drawn, probability(drawn, policy)


def draws(policy: Policy, num: int) -> tuple[tuple[Actions, Fraction], ...]:
    """Return every multiset of `num` independent actions, and its probability."""
    return _draws(tuple(policy), num)


@lru_cache(maxsize=4096)
def _draws(policy: tuple[Fraction, ...], num: int) -> tuple[tuple[Actions, Fraction], ...]:
    counted, (parts, unit) = [], _in_integers(policy)
    for drawn in combinations_with_replacement(range(len(policy)), num):
        orders = factorial(num) // prod(factorial(drawn.count(action)) for action in set(drawn))
        ways = orders * prod(parts[action] for action in drawn)
        counted.append((drawn, ways * unit**num))
    return tuple(counted)


def _in_integers(policy: Policy) -> tuple[Sequence[Any], Fraction]:
    """Return how often each chance has their common unit, and the unit; floats have the unit 1."""
    if float in set(map(type, policy)):
        return policy, Fraction(1)
    common = lcm(*(chance.denominator for chance in policy))  # integers multiply much faster
    return [int(chance * common) for chance in policy], Fraction(1, common)


# Scores under a policy.


def expected(score: Score, policy: Policy, num: int, given: Actions = ()) -> Fraction:
    """E f(given, Y₁…Y_num)."""
    found = draws(policy, num)
    scores = (score(tuple(sorted(given + drawn))) for drawn, _ in found)
    return dot((chance for _, chance in found), scores)


def covariance(left: Score, right: Score, policy: Policy, num: int) -> Fraction:
    """Cov(left(Y), right(Y)) over sets of `num` independent actions."""
    both = expected(lambda s: left(s) * right(s), policy, num)
    return both - expected(left, policy, num) * expected(right, policy, num)


def advantage(score: Score, policy: Policy, size: int, action: int) -> Fraction:
    """A(y) = E f(y, Y₂…Y_n) − E f(Y₁…Y_n): Set RL note, Eq. 12."""
    return expected(score, policy, size - 1, (action,)) - expected(score, policy, size)


def advantages(score: Score, policy: Policy, size: int) -> list[Fraction]:
    """Return A of every action."""
    whole = expected(score, policy, size)
    return [expected(score, policy, size - 1, (a,)) - whole for a in range(len(policy))]


def logit_gradient(score: Score, policy: Policy, size: int) -> list[Fraction]:
    """∇_z E f, where z are the logits: the polynomial E f in π, differentiated, then the softmax.

    It does not use the score function, so that score-function identities can be compared with it.
    """
    slopes = [Fraction(0)] * len(policy)
    for drawn, chance in draws(policy, size):
        for action in set(drawn):
            slopes[action] += drawn.count(action) * chance / policy[action] * score(drawn)
    mean = dot(policy, slopes)
    return [p * (slope - mean) for p, slope in zip(policy, slopes, strict=True)]


def log_likelihood_rates(gradient: Sequence[Fraction], policy: Policy) -> list[Fraction]:
    """d log π(y) / dα when the logits move by α·gradient."""
    mean = dot(policy, gradient)
    return [g - mean for g in gradient]


# Sets out of one group of samples, by index.


def group_means(score: Score, group: Actions, size: int) -> Sets:
    """Compute u, v, w and U of a group of actions."""
    return Sets(of_group(score, group), len(group), size)


def of_group(score: Score, group: Actions) -> Score:
    """Score a set of indices by the actions that were sampled there."""
    return lambda s: score(tuple(sorted(group[i] for i in s)))


def all_sets(num: int, size: int) -> Design:
    """Return every n-set of N indices."""
    return tuple(combinations(range(num), size))


# Credit of the samples of a group, and what it does on average.


def deviation(score: Score, size: int) -> Credit:
    """u − U."""

    @cache
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

    @cache  # the same groups are drawn from every policy
    def credit(group: Actions) -> list[Fraction]:
        means = group_means(score, group, size)
        triples = zip(means.u, means.v, means.w, strict=True)
        return [u - c * v - (1 - c) * w for u, v, w in triples]

    return credit


def from_sets(score: Score, design: Design) -> Credit:
    """Σ_{G∋i} (f(G) − f̂) over the sets of a design, f̂ their mean, by index: Set RL note, Eq. 9."""

    @cache
    def credit(group: Actions) -> list[Fraction]:
        scored = [(s, of_group(score, group)(s)) for s in design]
        mean = average(f for _, f in scored)
        return [
            sum((f - mean for s, f in scored if i in s), Fraction(0)) for i in range(len(group))
        ]

    return credit


def by_value(score: Score, design: Design) -> Credit:
    """Sum as `from_sets`, with membership by value, which confuses equal samples: biased."""

    def credit(group: Actions) -> list[Fraction]:
        sets = [tuple(sorted(group[i] for i in s)) for s in design]
        mean = average(score(s) for s in sets)
        return [sum((score(s) - mean for s in sets if y in s), Fraction(0)) for y in group]

    return credit


def over_designs(score: Score, designs: Iterable[Design]) -> Credit:
    """Average `from_sets` over designs."""
    credits = [from_sets(score, design) for design in designs]
    return lambda group: [
        average(column) for column in zip(*(credit(group) for credit in credits), strict=True)
    ]


def estimate(credits: Sequence[Fraction], group: Actions, policy: Policy) -> list[Fraction]:
    """Σᵢ ∇_z log π(yᵢ)·Aᵢ of one group."""
    total = sum(credits, Fraction(0))
    own = [Fraction(0)] * len(policy)
    for action, credit in zip(group, credits, strict=True):
        own[action] += credit
    return [mine - p * total for mine, p in zip(own, policy, strict=True)]


def mean_estimate(
    credit: Credit, policy: Policy, num: int, groups: Callable = draws
) -> list[Fraction]:
    """E Σᵢ ∇_z log π(yᵢ)·Aᵢ over groups of `num` independent samples.

    `groups` is `ordered_draws` for a credit that depends on the order of the samples.
    """
    listed = list(groups(policy, num))
    updates = (estimate(credit(group), group, policy) for group, _ in listed)
    chances = [chance for _, chance in listed]
    return [dot(chances, column) for column in zip(*updates, strict=True)]


def trace_variance(credit: Credit, policy: Policy, num: int) -> Fraction:
    """E ‖g‖² − ‖E g‖² for the estimate g from one group of `num` samples."""
    groups = draws(policy, num)
    chances = [chance for _, chance in groups]
    updates = [estimate(credit(group), group, policy) for group, _ in groups]
    mean = [dot(chances, column) for column in zip(*updates, strict=True)]
    return dot(chances, [dot(update, update) for update in updates]) - dot(mean, mean)
