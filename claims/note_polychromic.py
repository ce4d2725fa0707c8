"""Set RL note, §4: what the polychromic objective gives credit for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from claims import scores
from claims.claims import NOTE, Trials, Verdict, claim, kind, remark, rounded, shown, stated
from claims.exact import (
    Actions,
    Policy,
    Score,
    advantage,
    advantages,
    covariance,
    dot,
    estimate,
    expected,
    logit_gradient,
    policies,
    policy,
)
from claims.note_scaffold import log_rates, proposition_3_7

REWARDS = ((1, 0, 0), (1, 1, 0), (1, 0, 1))
LABELS = ((0, 1, 2), (0, 0, 1), (0, 1, 1))
POLICIES = (policy(1, 1, 1), policy(1, 2, 3), policy(6, 1, 1))


def given(score: Score, y: int) -> Score:
    """Score a set of y and the other members."""
    return lambda s: score(tuple(sorted((y, *s))))


@claim(
    "note-rewrite",
    NOTE,
    "§4, after Eq. 14",
    Verdict.HOLDS,
    compares=("E[mean r · d]", "=", "E_y[r(y) E[d(y, Y₂…Y_n)]]"),
    how="Both ends of the four-line rewrite, every reward and labelling of three actions "
    "tried, n = $n.",
    truth="d must be symmetric.",
    tried="54 stated",
    cases=product((2, 3), REWARDS, LABELS, POLICIES),
)
def rewrite(size: int, rewards: Actions, strategies: Actions, p: Policy) -> Trials:
    """$q."""
    d = scores.distinct_share(strategies)
    left = expected(scores.polychromic(rewards, strategies), p, size)
    right = sum(
        (
            q * r * expected(d, p, size - 1, (y,))
            for y, (q, r) in enumerate(zip(p, rewards, strict=True))
        ),
        Fraction(0),
    )
    yield stated(left, right, n=size, r=rewards, strategies=strategies, π=p, J=left)


def constant_others(p: Policy, rewards: tuple[int, ...], d: Score, size: int) -> list[Fraction]:
    """E[∇ log π(y) r(y) d(y, others)] with constant others."""
    total = [Fraction(0)] * len(p)
    for y, (chance, r) in enumerate(zip(p, rewards, strict=True)):
        value = r * expected(d, p, size - 1, (y,))
        for a, g in enumerate(estimate([value], (y,), p)):
            total[a] += chance * g
    return total


@claim(
    "note-constant-others",
    NOTE,
    "§4, on arXiv:2509.02534",
    Verdict.HOLDS,
    compares=("mean update", "≠", "∇E f"),
    how="Mean update of r(y)·d(y, others) with the others constant, and the rest of ∇E f: the "
    "signal that the other samples would get.",
    truth="The part that is missing is E[r(y) Σ_{others} ∇ log π · d]: with it, it is ∇E f.",
    tried="18 stated, 18 remark",
    cases=product((2, 3), REWARDS, POLICIES),
)
def others_constant(size: int, rewards: Actions, p: Policy) -> Trials:
    """Treating the other samples as constants (diversity as a reward) is not the set gradient."""
    d = scores.distinct_share()
    truth = logit_gradient(scores.polychromic(rewards), p, size)
    own = constant_others(p, rewards, d, size)
    missing = [Fraction(0)] * 3
    for y in range(3):
        inner = logit_gradient(given(d, y), p, size - 1)
        missing = [m + p[y] * rewards[y] * g for m, g in zip(missing, inner, strict=True)]
    yield stated(own, truth, n=size, r=rewards, π=p, constant=own, gradient=truth)
    yield remark([a + b for a, b in zip(own, missing, strict=True)] == truth)


def decomposition(left: Score, right: Score, p: Policy, size: int, y: int) -> tuple[Fraction, ...]:
    """Return the terms of Eq. 15 for f = left · right: two products of means, two covariances."""
    with_y = [expected(given(part, y), p, size - 1) for part in (left, right)]
    whole = [expected(part, p, size) for part in (left, right)]
    return (
        with_y[0] * with_y[1],
        whole[0] * whole[1],
        covariance(given(left, y), given(right, y), p, size - 1),
        covariance(left, right, p, size),
    )


@claim(
    "note-eq-15",
    NOTE,
    "§4, Eq. 15",
    Verdict.HOLDS,
    compares=(
        "A(y)",
        "=",
        "⟦(r(y)/n + (n−1)/n E r) E d(y, ·) − E r E d + Cov given y − Cov(r(Y₁), d(Y))⟧",
    ),
    how="Each term enumerated as it is written, n = $n, every reward and labelling tried.",
    tried="162 stated",
    cases=product((2, 3), REWARDS, LABELS, POLICIES),
)
def equation_15(size: int, rewards: Actions, strategies: Actions, p: Policy) -> Trials:
    """$q."""
    d, r = scores.distinct_share(strategies), scores.mean(rewards)
    score = scores.product(r, d)
    mean_r = expected(r, p, 1)
    for y in range(3):
        _, _, cov_with, cov_all = decomposition(r, d, p, size, y)
        set_reward = Fraction(rewards[y], size) + Fraction(size - 1, size) * mean_r
        product_terms = set_reward * expected(d, p, size - 1, (y,)) - mean_r * expected(d, p, size)
        found = advantage(score, p, size, y)
        yield stated(found, product_terms + cov_with - cov_all, n=size, π=p, y=y, A=found)


@claim(
    "note-two-objectives",
    NOTE,
    "§4, after Eq. 15",
    Verdict.HOLDS,
    compares=("A(y)", "=", "⟦the terms of Eq. 15 by hand⟧"),
    how="f = (mean of r_A)(mean of r_B), the note's example: A by enumeration against ⟦Eq. 15⟧ "
    "with every term worked out by hand, all ⟦rewards 0/1⟧ of three actions, n = $n.",
    truth="In the example both covariances are the same for every y, −Cov(r_A, r_B)/n² in all: "
    "only ⟦Term 1⟧ orders the generations.",
    tried="1152 stated, 1152 remark",
    cases=product((2, 3), POLICIES),
)
def two_objectives(size: int, p: Policy) -> Trials:
    """The decomposition of ⟦Eq. 15⟧ extends to any f = φψ, such as a product of two mean
    rewards.
    """
    for a, b in product(product(range(2), repeat=3), repeat=2):
        score = scores.product(scores.mean(a), scores.mean(b))
        mean_a, mean_b = dot(p, a), dot(p, b)
        both = dot(p, [x * y for x, y in zip(a, b, strict=True)])
        synergy = -(both - mean_a * mean_b) / size**2
        for y in range(3):
            with_y = [
                Fraction(r[y] + (size - 1) * mean) / size for r, mean in ((a, mean_a), (b, mean_b))
            ]
            formula = with_y[0] * with_y[1] - mean_a * mean_b + synergy
            found = advantage(score, p, size, y)
            yield stated(found, formula, n=size, π=p, r_A=a, r_B=b, y=y, A=found)
            terms = decomposition(scores.mean(a), scores.mean(b), p, size, y)
            yield remark(terms[2] - terms[3] == synergy)


@claim(
    "note-covariance-needs-both",
    NOTE,
    "§4, second feature",
    Verdict.HOLDS,
    word="holds by construction",
    compares=("A under mean r + d", "=", "A_r + A_d"),
    how="For f = mean r + d, A is additive, as every expectation is; for a reward r·d with "
    "the others constant it is r(y) E d(y, ·) minus its mean. Under mean r · d the "
    "covariance part of ⟦Eq. 15⟧ is ⟦not 0⟧ for $apart of the $actions actions, n = $n.",
    truth="An expectation is linear, so a sum has no covariance term.",
    tried="18 stated, 19 remark",
)
def covariance_needs_both() -> Trials:
    """The covariance term needs the set objective and the product: $q."""
    apart = actions = 0
    for size, rewards, p in product((2, 3), REWARDS, POLICIES):
        r, d = scores.mean(rewards), scores.distinct_share()
        total = lambda s, r=r, d=d: r(s) + d(s)  # noqa: E731
        parts = zip(advantages(r, p, size), advantages(d, p, size), strict=True)
        found = advantages(total, p, size)
        yield stated(found, [a + b for a, b in parts], n=size, r=rewards, π=p)
        alone = [rewards[y] * expected(d, p, size - 1, (y,)) for y in range(3)]
        update = [q * (a - dot(p, alone)) for q, a in zip(p, alone, strict=True)]
        yield remark(constant_others(p, rewards, d, size) == update)
        terms = [decomposition(r, d, p, size, y) for y in range(3)]
        actions += len(terms)
        apart += sum(with_y != whole for _, _, with_y, whole in terms)
    yield remark(apart == actions)
    yield shown(apart=apart, actions=actions)


@claim(
    "note-optimism",
    NOTE,
    "§4, after Eq. 15",
    Verdict.HOLDS,
    compares=("A of a wrong sample", ">", 0),
    how="One common correct action, one wrong one of another strategy: A and the exact d log "
    "π/dα, n = $n; and the terms of ⟦Eq. 15⟧ for ⟦r(y) = 0⟧.",
    tried="2 stated, 4 remark",
    nearest="43/1000",
    cases=product((3, 4)),
)
def optimism(size: int) -> Trials:
    """A generation with ⟦reward 0⟧ can gain probability by its diversity, and ⟦Term 1⟧ alone can be
    positive for it.
    """
    score, p = scores.polychromic((1, 0)), policy(9, 1)
    found, rates = advantages(score, p, size), log_rates(score, p, size)
    terms = decomposition(scores.mean((1, 0)), scores.distinct_share(), p, size, 1)
    yield remark(rates[1] > 0)
    yield remark(terms[0] > terms[1])
    yield stated(found[1], n=size, π=p, A=found[1], rate=rates[1], term_1=terms[0] - terms[1])


@claim(
    "note-exploration-stays",
    NOTE,
    "§4, first feature",
    Verdict.READING,
    compares=("A of a wrong sample", ">", 0),
    how="A of a wrong action with its own strategy: the correct mass on one strategy, "
    "accuracy $accuracy.least to $accuracy.most, and on m = $m at ⟦1 − 10⁻⁶⟧; n = $n.",
    kindly="It can keep one: for ⟦n ≥ 3⟧ and one correct strategy it is positive at every "
    "accuracy tried and tends to ⟦(n−2)/n²⟧.",
    truth="In the limit, with the correct mass even over m strategies, it is positive exactly "
    "if ⟦m ≤ n − 2⟧. For ⟦n = 2⟧, ⟦m = 1⟧ it is ⟦−p(1−p)/2 < 0⟧.",
    counterexample="f=polychromic of (1, 0), n=2, accuracy=9/10, A=-9/200",
    tried="4 of 16 stated, 24 kind, 20 remark",
    nearest="9999/200000000",
)
def exploration_stays() -> Trials:
    """As accuracy rises, every wrong generation of a new strategy keeps a positive signal."""
    score = scores.named("polychromic", 1, 0)
    for size, digits in product((2, 3, 4, 5), (1, 2, 3, 4)):
        p = policy(10**digits - 1, 1)
        found = advantage(score, p, size, 1)
        yield stated(found, f=score, n=size, accuracy=p[0], A=found)
        if size == 2:
            yield remark(found == -p[0] * p[1] / 2)
        else:
            limit = Fraction(size - 2, size**2)
            yield kind(found > 0, n=size, A=found)
            yield kind(abs(found - limit) < 2 * p[1], n=size, A=found)
    for size, strategies in product((2, 3, 4, 5), (1, 2, 3, 4)):
        p = policy(*[10**6] * strategies, strategies)
        spread = scores.polychromic((*[1] * strategies, 0))
        found = advantage(spread, p, size, strategies)
        yield remark((found > 0) == (strategies <= size - 2), n=size, m=strategies, A=found)


@claim(
    "note-never-collapse",
    NOTE,
    "§4, before Definition 4.1",
    Verdict.READING,
    compares=("the p of the largest E f", "<", 1),
    how="One correct action of probability p and one wrong one: the p with the largest E f, "
    "in steps of $step, for d = strategies/n and for d = ⟦(strategies − 1)/(n − 1)⟧.",
    kindly="With d = ⟦(strategies − 1)/(n − 1)⟧, whose range ⟦Definition 4.1⟧ asks for, a "
    "collapsed policy ⟦scores 0⟧, and the optimum is inside for n = $n.",
    truth="With d = strategies/n and ⟦n = 2⟧, E f = ⟦p − p²/2⟧ is largest at ⟦p = 1⟧. For n = "
    "$larger the optimum is inside, by being wrong in some samples: p* = $places.",
    counterexample="f=polychromic of (1, 0), n=2, best_p=1, J=1/2",
    tried="1 of 4 stated, 4 kind, 1 remark",
)
def never_collapse() -> Trials:
    """Under the polychromic objective the policy never collapses onto a single generation."""
    score, grid = scores.named("polychromic", 1, 0), _grid(1000)
    places = {}
    for size in (2, 3, 4, 5):
        values = {p: expected(score, (p, 1 - p), size) for p in grid}
        places[size] = best = max(values, key=values.__getitem__)
        yield stated(best, f=score, n=size, best_p=best, J=values[best])
        if size == 2:
            yield remark(all(value == p - p * p / 2 for p, value in values.items()))
        shared = scores.product(scores.mean((1, 0)), scores.extra_share())
        yield kind(max(grid, key=lambda p: expected(shared, (p, 1 - p), size)) < 1, n=size)
    inside = {size: rounded(p, 3) for size, p in places.items() if p < 1}
    yield shown(step=grid[1], larger=list(inside), places=list(inside.values()))


def _grid(steps: int) -> list[Fraction]:
    return [Fraction(k, steps) for k in range(steps + 1)]


def stepped_entropy(score: Score, p: Policy, size: int, alpha: float) -> tuple[float, float, float]:
    """Return entropy before and after a gradient step, and dH/dα by Proposition 3.7."""
    logs = [math.log(q) for q in p]
    shift = [float(g) for g in logit_gradient(score, p, size)]
    weights = [math.exp(log + alpha * z) for log, z in zip(logs, shift, strict=True)]
    moved = [w / sum(weights) for w in weights]
    slope = sum(
        float(c) * log for c, log in zip(proposition_3_7(score, p, size), logs, strict=True)
    )
    return _entropy([float(q) for q in p]), _entropy(moved), slope


def _entropy(p: Sequence[float]) -> float:
    return -sum(q * math.log(q) for q in p)


@claim(
    "note-entropy-collapse",
    NOTE,
    "§4, before Definition 4.1",
    Verdict.HOLDS,
    compares=("entropy falls", "exactly if", "⟦its covariance in Prop. 3.7 is positive⟧"),
    how="Sign of the entropy change of a gradient step of ⟦α = 10⁻⁴⟧ taken in full, against "
    "the sign of the covariance of ⟦Proposition 3.7⟧; four objectives, three actions.",
    tried="70 stated",
    cases=product(scores.OBJECTIVES, policies(3, 6)),
)
def entropy_collapse(score: Score, p: Policy) -> Trials:
    """Entropy falls where log π and the scaffold values of sets are positively correlated."""
    before, after, slope = stepped_entropy(score, p, 2, 1e-4)
    if abs(slope) > 1e-9:
        yield stated((after < before), (slope < 0), f=score, π=p, dH=slope)
