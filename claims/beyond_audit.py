"""Beyond the sources: which estimators are the gradient of any objective at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb
from random import Random

from claims import scores
from claims.beyond_counts import LABELS, PAYS, counts, paid
from claims.beyond_counts import REWARDS as STRATEGY_REWARDS
from claims.claims import BEYOND, Trials, Verdict, claim, remark, shown, stated
from claims.exact import (
    Actions,
    Credit,
    Policy,
    contrast,
    dot,
    gain,
    logit_gradient,
    mean_estimate,
    policies,
    policy,
)
from claims.scores import OBJECTIVES

REWARDS = (Fraction(0), Fraction(1), Fraction(3))  # of three actions


@claim(
    "beyond-same-gradient",
    BEYOND,
    "What an estimator optimises: two estimators, one gradient",
    Verdict.HOLDS,
    compares=("mean update with such a difference", "=", "mean update without it"),
    how="Random integer credits of three actions, N = $N: with a baseline b(others) added, "
    "the exact mean updates of all policies are equal; with one advantage changed, they "
    "are not.",
    truth="Unbiased for κ·∇J: with all ⟦N − 1⟧ others, it pays a more than b by κ·U(others, a) "
    "− κ·U(others, b), U the mean score of a group's K-sets.",
    tried="8 stated, 8 remark",
    cases=[(num, seed) for num in (2, 3) for seed in range(4)],
)
def same_gradient(num: int, seed: int) -> Trials:
    """Two credits that ignore the order of samples have equal mean updates if and only if, with the
    same ⟦N − 1⟧ others, their difference is the same for every action.
    """
    rng = Random(seed)
    table = random_table(3, num, rng)
    shifts = {rest: rng.randint(-3, 3) for rest in _multisets(3, num - 1)}
    shifted = {at: value + shifts[_without(*at)] for at, value in table.items()}
    changed = dict(table)
    changed[rng.choice(list(table))] += 1
    grid = list(policies(3, 6))
    updates = [
        [mean_estimate(credit_of(one), policy, num) for policy in grid]
        for one in (table, shifted, changed)
    ]
    yield stated(updates[0], updates[1], N=num, seed=seed)
    yield remark(updates[0] != updates[2], N=num, seed=seed)


@claim(
    "beyond-integrable",
    BEYOND,
    "What an estimator optimises: the test",
    Verdict.HOLDS,
    compares=("⟦some such sum is not 0⟧", "exactly if", "the mean update turns around somewhere"),
    how="The sums against exact line integrals of the mean update around triangles of "
    "policies: u − v and u − w of four objectives, (r − r̄)/r̄ and r divided by a count, "
    "rewards $rewards, and random integer credits; three actions, N = $N.",
    truth="Two kinds of samples always are. So is a credit of only the own action, how "
    "often the group holds it, and a baseline b(others).",
    tried="26 stated, 20 remark",
)
def integrable() -> Trials:
    """The mean update is the gradient of an objective if and only if, with all ⟦N − 2⟧ others, the
    differences A_b − A_a of the pairs (a, b), (b, c), (c, a) sum ⟦to 0⟧.
    """
    yield shown(rewards=list(REWARDS))
    for name, num, credit in _credits():
        sums = triangles(credit, 3, num)
        turned = [loop(credit, num, corners) for corners in LOOPS]
        yield stated(any(sums), any(turned), credit=name, N=num)
        if name.startswith(("u −", "r/m")):
            yield remark(not any(sums), credit=name, N=num)
        if name == "(r − r̄)/r̄":
            yield remark(any(sums), credit=name, N=num)


@claim(
    "beyond-minus-mean",
    BEYOND,
    "What an estimator optimises: minus the mean of the group",
    Verdict.HOLDS,
    compares=("mean update after the change", "=", "the gradient"),
    how="Random integer credits of three actions, N = $of_random: the exact mean update of "
    "the centred credit, against the update before and the gradient of the mean sum, a "
    "polynomial. Concave counts, four ways to pay, N = $of_counts, two right strategies, "
    "wrong, degenerate.",
    truth="Concave counts with α and `all_sets` are exactly ∇E Σ_c ⟦(Σ_{j ≤ m_c} j^(α−1) − "
    "m_c^α/N)⟧; for ⟦α = 0⟧ Σ_c H(m_c) minus ⟦1/N⟧ of the number of right strategies, H "
    "the harmonic numbers.",
    tried="92 stated, 35 remark",
)
def minus_mean() -> Trials:
    """If the mean update of A is ∇J, then A minus the mean of its group has the mean update
    ∇(J − E Σᵢ Aᵢ/N).
    """
    for num in (2, 3):
        for seed in range(4):
            credit = credit_of(random_table(3, num, Random(seed)))
            for at in policies(3, 5):
                before = mean_estimate(credit, at, num)
                yield stated(_centring(credit, at, num), before, of_random=num, seed=seed)
    for name, num in product(PAYS, (2, 3, 4)):
        score, at = counts(PAYS[name]), policy(1, 2, 3, 1)
        truth = logit_gradient(score, at, num)
        yield stated(_centring(paid(PAYS[name]), at, num), truth, pay=name, of_counts=num)
    strategies = scores.distinct_correct(STRATEGY_REWARDS, LABELS)
    for group in _multisets(4, 4):
        yield remark(sum(paid(PAYS["1/j"])(group)) == strategies(group), group=group)


def _centring(credit: Credit, at: Policy, num: int) -> list[Fraction]:
    """Return the mean update of the centred credit, plus the gradient of E Σᵢ Aᵢ/N."""

    def centred(group: Actions) -> list[Fraction]:
        values = credit(group)
        return [value - sum(values, Fraction(0)) / num for value in values]

    def mean(group: Actions) -> Fraction:
        return sum(credit(group), Fraction(0)) / num

    moved = logit_gradient(mean, at, num)
    return [a + b for a, b in zip(mean_estimate(centred, at, num), moved, strict=True)]


def _credits() -> Iterator[tuple[str, int, Credit]]:
    for score in OBJECTIVES:
        for num in (3, 4):
            yield f"u − v of {score}", num, contrast(score, 2)
            yield f"u − w of {score}", num, gain(score, 2)
    for num in (3, 4):
        yield "(r − r̄)/r̄", num, share_of_mean
        yield "r/m", num, over_count
        for seed in range(3):
            yield f"random {seed}", num, credit_of(random_table(3, num, Random(seed)))


def share_of_mean(group: Actions) -> list[Fraction]:
    """(r − r̄)/r̄: MaxRL's advantage; 0 if all rewards are 0."""
    rewards = [REWARDS[action] for action in group]
    mean = sum(rewards, Fraction(0)) / len(rewards)
    return [(reward - mean) / mean if mean else Fraction(0) for reward in rewards]


def over_count(group: Actions) -> list[Fraction]:
    """r/m, where m samples of the group are this action."""
    return [REWARDS[action] / group.count(action) for action in group]


def triangles(credit: Credit, num_actions: int, num: int) -> list[Fraction]:
    """Return the sums of the test, for all N − 2 others and all three actions."""

    def step(rest: Actions, a: int, b: int) -> Fraction:
        group = tuple(sorted((*rest, a, b)))
        paid = dict(zip(group, credit(group), strict=True))
        return paid[b] - paid[a]

    return [
        step(rest, a, b) + step(rest, b, c) + step(rest, c, a)
        for rest in _multisets(num_actions, num - 2)
        for a, b, c in combinations(range(num_actions), 3)
    ]


LOOPS = [
    [(Fraction(x, 12), Fraction(y, 12), Fraction(12 - x - y, 12)) for x, y in corners]
    for corners in (((1, 1), (10, 1), (1, 10)), ((2, 3), (5, 1), (3, 6)), ((1, 5), (4, 4), (6, 1)))
]


def loop(credit: Credit, num: int, corners: Sequence[Policy]) -> Fraction:
    """∮ Σ_y g_y dπ_y around the corners, exactly: g is a polynomial of degree N − 1.

    g_y is the mean update in the logits divided by π_y, up to the same number for all y, which
    Σ dπ_y = 0 removes.
    """
    edges = zip(corners, [*corners[1:], corners[0]], strict=True)
    return sum((_along(credit, num, *edge) for edge in edges), Fraction(0))


def _along(credit: Credit, num: int, start: Policy, end: Policy) -> Fraction:
    nodes = [Fraction(k, num) for k in range(num + 1)]
    total = Fraction(0)
    for weight, t in zip(newton_cotes(nodes), nodes, strict=True):
        policy = tuple((1 - t) * a + t * b for a, b in zip(start, end, strict=True))
        update = mean_estimate(credit, policy, num)
        slopes = [u / p for u, p in zip(update, policy, strict=True)]
        moves = (b - a for a, b in zip(start, end, strict=True))
        total += weight * sum(s * m for s, m in zip(slopes, moves, strict=True))
    return total


def newton_cotes(nodes: Sequence[Fraction]) -> list[Fraction]:
    """Return the weights with which values at the nodes add up to the integral from 0 to 1."""
    weights = []
    for node in nodes:
        product = [Fraction(1)]  # the Lagrange polynomial of this node, lowest power first
        for other in nodes:
            if other != node:
                shifted = [Fraction(0), *product]
                product = [
                    (high - other * low) / (node - other)
                    for high, low in zip(shifted, [*product, Fraction(0)], strict=True)
                ]
        weights.append(sum(part / (power + 1) for power, part in enumerate(product)))
    return [Fraction(weight) for weight in weights]


Table = dict[tuple[Actions, int], Fraction]  # group, action → advantage


def random_table(num_actions: int, num: int, rng: Random) -> Table:
    """Return an integer advantage for every action of every group."""
    groups = _multisets(num_actions, num)
    return {
        (group, y): Fraction(rng.randint(-4, 4)) for group in groups for y in sorted(set(group))
    }


def credit_of(table: Table) -> Credit:
    """Return the credit that looks up a table."""
    return lambda group: [table[tuple(sorted(group)), action] for action in group]


def _without(group: Actions, action: int) -> Actions:
    at = group.index(action)
    return group[:at] + group[at + 1 :]


def _multisets(num_actions: int, num: int) -> list[Actions]:
    return list(combinations_with_replacement(range(num_actions), num))


@claim(
    "beyond-all-fail",
    BEYOND,
    "What an estimator optimises: the least variance",
    Verdict.HOLDS,
    compares=("mean estimate, given a right or a wrong sample", "=", "⟦Np(1 − p)ᴷ in both cases⟧"),
    how="The length along ∇p, N ≤ $N.most, K < N, five success rates: its exact mean given "
    "one sample, right or wrong (its Hoeffding projection).",
    truth="For ⟦K = 1⟧ the relative variance is ⟦2/(N(N − 1))⟧ for every p, and RLOO has ⟦(1 − "
    "2p)²/(N·p(1 − p))⟧ more. With more answers the advantage is smaller or lost "
    "(docs/audit.md).",
    tried="55 stated, 40 remark",
    cases=[(num, size) for num in (2, 3, 5, 8) for size in range(1, min(num, 5))],
)
def all_fail(num: int, size: int) -> Trials:
    """With one right and one wrong answer, ⟦u − 1 + K(v − w)⟧ of pass@K is unbiased, and has no
    noise of first order in ⟦1/N⟧ at any success rate p: $q.
    """
    for p in (Fraction(1, 9), Fraction(1, 3), Fraction(1, 2), Fraction(4, 5), Fraction(9, 10)):
        given = [_given_one(_failing(num, size, p), num, p, right) for right in (0, 1)]
        wanted = num * p * (1 - p) ** size  # N/K·dJ/dp·p(1 − p), J = 1 − (1 − p)^K
        yield stated(given, [wanted, wanted], N=num, K=size, p=p)
        if size == 1:
            relative = _relative_variance(_failing(num, 1, p), num, p)
            yield remark(relative == Fraction(2, num * (num - 1)), N=num, p=p, variance=relative)
            leave_one_out = [Fraction(c * (num - c), num - 1) for c in range(num + 1)]
            more = _relative_variance(leave_one_out, num, p) - relative
            yield remark(more == (1 - 2 * p) ** 2 / (num * p * (1 - p)), N=num, p=p, more=more)


def _failing(num: int, size: int, p: Fraction) -> list[Fraction]:
    """Return the estimate along ∇p of u − 1 + K(v − w), for c = 0 … N right samples."""

    def missed(wrong: int, drawn: int) -> Fraction:
        return Fraction(comb(wrong, drawn), comb(num - 1, drawn))

    lengths = []
    for c in range(num + 1):
        # u is 1 for a right sample; v − w is the chance that K − 1 others fail minus that K fail.
        rest = [num - c, max(num - c - 1, 0)]  # wrong ones with a right and with a wrong sample
        right, wrong = (size * (missed(m, size - 1) - missed(m, size)) for m in rest)
        wrong -= missed(rest[1], size - 1)
        lengths.append(c * (1 - p) * right - (num - c) * p * wrong)
    return lengths


def _given_one(lengths: Sequence[Fraction], num: int, p: Fraction, right: int) -> Fraction:
    rest = num - 1
    chances = (comb(rest, c) * p**c * (1 - p) ** (rest - c) for c in range(num))
    return dot(chances, lengths[right : right + num])


def _relative_variance(lengths: Sequence[Fraction], num: int, p: Fraction) -> Fraction:
    chances = [comb(num, c) * p**c * (1 - p) ** (num - c) for c in range(num + 1)]
    mean = dot(chances, lengths)
    return dot(chances, [length**2 for length in lengths]) / mean**2 - 1
