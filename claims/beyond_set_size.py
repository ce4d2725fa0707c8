"""Beyond the sources: which set size has the least noise, and where leave-two-out pays."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import comb

from claims import scores
from claims.claims import (
    BEYOND,
    Trials,
    Tried,
    Verdict,
    claim,
    corrected,
    remark,
    rounded,
    shown,
    stated,
)
from claims.exact import (
    Policy,
    contrast,
    dot,
    gain,
    logit_gradient,
    mean_estimate,
    policy,
    times,
    trace_variance,
)

Estimate = Callable[[int], Fraction]  # number of right samples → the estimate along the right logit


def chance(num: int, p: Fraction, right: int) -> Fraction:
    """P of `right` successes in `num` draws."""
    return comb(num, right) * p**right * (1 - p) ** (num - right)


def leave_two_out(num: int, size: int) -> Estimate:
    """c·C(N−c, K)/C(N−1, K): Σᵢ sᵢ(u − v) for c right samples and two actions."""
    return lambda c: c * Fraction(comb(num - c, size), comb(num - 1, size))


def improvement(num: int, size: int, p: Fraction) -> Estimate:
    """(1−p)·c·C(N−c, K−1)/C(N−1, K−1): Σᵢ sᵢ(u − w)."""
    ways = comb(num - 1, size - 1)
    return lambda c: (1 - p) * c * Fraction(comb(num - c, size - 1), ways)


def moments(estimate: Estimate, num: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """Return mean and variance over the number of right samples."""
    mean = expected(estimate, num, p)
    return mean, expected(lambda c: estimate(c) ** 2, num, p) - mean**2


def expected(value: Estimate, num: int, p: Fraction) -> Fraction:
    """Return the mean of a function of c, 1 ≤ c ≤ N; without a right sample estimates are 0."""
    return sum((chance(num, p, c) * value(c) for c in range(1, num + 1)), Fraction(0))


def relative_variance(num: int, size: int, p: Fraction) -> Fraction:
    """Var / mean² of u − v."""
    mean, variance = moments(leave_two_out(num, size), num, p)
    return variance / mean**2


def quietest(num: int, p: Fraction) -> int:
    """Return the K with the smallest relative variance."""
    return min(range(1, num), key=lambda size: relative_variance(num, size, p))


@claim(
    "beyond-set-size",
    BEYOND,
    "Which K: the set size with the least noise",
    Verdict.FAILS,
    compares=("the K of the smallest relative variance", "=", "⟦1/p − 1⟧"),
    how="Relative variance of u − v over the number of right samples, in fractions, all K < "
    "N; its closed form against all groups of ⟦N = 6⟧ in the row below.",
    truth="To first order in ⟦1/N⟧ the relative variance is ⟦(1 − (K+1)p)²/(N·p(1−p))⟧. The "
    "least one lies at ⟦1/p − 1⟧ or one below if at least four right samples are "
    "expected, further below otherwise.",
    counterexample="N=8, p=1/4, least=2, formula=3",
    tried="9 of 18 stated, 18 corrected",
    cases=product((8, 16, 32), (Fraction(1, n) for n in (2, 3, 4, 5, 8, 10))),
)
def best_set_size(num: int, p: Fraction) -> Trials:
    """On a prompt of success rate p, pass@K has its smallest relative variance at ⟦K = 1/p − 1⟧."""
    least, formula = quietest(num, p), int(1 / p - 1)
    yield stated(least, formula, N=num, p=p, least=least, formula=formula)
    within = (0, 1) if num * p >= 4 else range(formula)
    yield corrected(formula - least in within, N=num, p=p, least=least)


@claim(
    "beyond-set-size-limit",
    BEYOND,
    "Which K: the set size with the least noise",
    Verdict.HOLDS,
    compares=("error at N", ">", "twice the error at twice N, from N = $N.least on"),
    how="N times the relative variance, in fractions, against the limit, for N = $nums; p = "
    "$p, K = $K.",
    tried="16 stated",
    cases=product((Fraction(1, 4), Fraction(2, 5)), (1, 2, 3, 4)),
)
def limit_of_the_noise(p: Fraction, size: int) -> Trials:
    """N times the relative variance of pass@K tends to ⟦(1 − (K+1)p)² / (p(1−p))⟧."""
    limit = (1 - (size + 1) * p) ** 2 / (p * (1 - p))
    errors = [(num, abs(num * relative_variance(num, size, p) - limit)) for num in (64, 128, 256)]
    yield shown(nums=[num for num, _ in errors])
    for (num, error), (_, later) in pairwise(errors):
        yield stated(error, 2 * later, p=p, K=size, N=num)


@claim(
    "beyond-set-size-actions",
    BEYOND,
    "Which K: several right and wrong answers",
    Verdict.HOLDS,
    compares=("⟦trace variance at N = 6⟧", "=", "the sum of the three parts"),
    how="Trace variance over all groups of ⟦N = 6⟧, in fractions, against the sum of three "
    "parts; two to four actions, K = $K; and the two new parts, times N over ‖∇J‖², as N "
    "grows.",
    truth="Var ⟦h·(‖q_R‖² + ‖q_W‖²) + E[h²/c]·(1 − ‖q_R‖²) + E[h²/(N−c)]·(1 − ‖q_W‖²)⟧, q the "
    "policy among the right (wrong) actions, c right samples, h the estimate of two "
    "actions. The last two are ⟦1/(Np)⟧ and ⟦1/(N(1−p))⟧ of (E h)² to first order: the "
    "best K stays, with a bounded gain.",
    tried="20 stated, 8 remark",
    cases=product(((1, 1), (1, 2), (2, 1), (2, 2)), (1, 2, 3, 4, 5)),
)
def several_actions(actions: tuple[int, int], size: int) -> Trials:
    """With several right and wrong answers the noise has two further parts, which do not depend on
    K to first order.
    """
    right, wrong = actions
    rewards = (*[1] * right, *[0] * wrong)
    p = policy(*range(1, right + wrong + 1))
    found = trace_variance(contrast(scores.any_correct(rewards), size), p, 6)
    yield stated(found, parts_of_noise(p, right, 6, size), actions=actions, K=size, trace=found)
    if size <= 2:
        share = Fraction(1, 3)
        errors = [_second_part(num, size, share) - 1 / share for num in (32, 64, 128)]
        yield remark(all(Fraction(9, 5) < a / b < Fraction(11, 5) for a, b in pairwise(errors)))


def parts_of_noise(p: Policy, right: int, num: int, size: int) -> Fraction:
    """Var h·(‖q_R‖² + ‖q_W‖²) + E[h²/c](1 − ‖q_R‖²) + E[h²/(N−c)](1 − ‖q_W‖²)."""
    success, h = sum(p[:right], Fraction(0)), leave_two_out(num, size)
    same_right = sum((x / success) ** 2 for x in p[:right])
    same_wrong = sum((x / (1 - success)) ** 2 for x in p[right:])
    _, variance = moments(h, num, success)
    of_right = expected(lambda c: h(c) ** 2 / c, num, success)
    of_wrong = expected(lambda c: h(c) ** 2 / max(num - c, 1), num, success)
    among = of_right * (1 - same_right) + of_wrong * (1 - same_wrong)
    return variance * (same_right + same_wrong) + among


def _second_part(num: int, size: int, p: Fraction) -> Fraction:
    h = leave_two_out(num, size)
    return num * expected(lambda c: h(c) ** 2 / c, num, p) / moments(h, num, p)[0] ** 2


@claim(
    "beyond-parallel",
    BEYOND,
    "Which K: one prompt has one direction",
    Verdict.HOLDS,
    compares=("∇pass@K", "=", "⟦K(1 − p)ᴷ⁻¹·∇p⟧"),
    how="⟦∇pass@K = K(1−p)^(K−1)·∇p⟧, all logits, ⟦all 0/1⟧ rewards of four actions, K ≤ $K.most.",
    tried="64 stated",
    cases=product(product((0, 1), repeat=4), (1, 2, 3, 4)),
)
def one_direction(rewards: tuple[int, ...], size: int) -> Trials:
    """On one prompt with right and wrong answers the gradients of all pass@K are parallel."""
    p = policy(1, 2, 3, 4)
    success = dot(p, rewards)
    single = logit_gradient(scores.mean(rewards), p, 1)
    found = logit_gradient(scores.any_correct(rewards), p, size)
    yield stated(found, times(size * (1 - success) ** (size - 1), single), r=rewards, K=size)


@claim(
    "beyond-leave-two-out",
    BEYOND,
    "Which K: when leave-two-out pays",
    Verdict.HOLDS,
    compares=("lower at some success rate", "exactly if", "⟦K < N/2⟧"),
    how="One right and one wrong action, all K < N: trace variances of u − v and u − w over "
    "all groups of N = $N.least, in fractions; their closed forms for N = $N at "
    "$rates.number success rates between $rates.least and $rates.most.",
    truth="For ⟦K < N/2⟧ it pays below exactly one p: N = $at, K = $sizes: $edges "
    "(docs/theory-proofs.md).",
    tried="43 stated, 86 remark",
    cases=product((4, 5, 6, 8, 10, 16)),
)
def leave_two_out_pays(num: int) -> Trials:
    """For two actions the variance of leave-two-out, compared with expected improvement's, is
    $q.
    """
    for size in range(1, num):
        rates = [Fraction(n, 20) for n in range(1, 20)]
        signs = [pays(num, size, p) for p in rates]
        helps = any(signs) or pays(num, size, Fraction(1, 1000))
        yield stated(helps, (2 * size < num), N=num, K=size, helps=helps)
        yield remark(signs == sorted(signs, reverse=True))
        yield shown(rates=Tried(tuple(rates)))
        yield remark(num > 4 or agrees_with_enumeration(num, size))
    if num == 16:
        edges = {size: _edge(num, size) for size in (2, 4, 6)}
        yield shown(at=num, sizes=list(edges), edges=[rounded(p, 3) for p in edges.values()])


def _edge(num: int, size: int) -> Fraction:
    """Return the success rate below which u − v pays, by bisection."""
    low, high = Fraction(0), Fraction(1)
    while high - low > Fraction(1, 10_000):
        middle = (low + high) / 2
        low, high = (middle, high) if pays(num, size, middle) else (low, middle)
    return low


def pays(num: int, size: int, p: Fraction) -> bool:
    """Return whether u − v has a lower variance than u − w."""
    with_baseline = moments(leave_two_out(num, size), num, p)
    return with_baseline[1] < moments(improvement(num, size, p), num, p)[1]


def agrees_with_enumeration(num: int, size: int) -> bool:
    """Return whether both closed forms have the moments of the estimates over all groups."""
    score = scores.any_correct((1, 0))
    for p in (Fraction(1, 10), Fraction(2, 5), Fraction(4, 5)):
        both = (
            (contrast(score, size), leave_two_out(num, size)),
            (gain(score, size), improvement(num, size, p)),
        )
        for credit, closed in both:
            mean, variance = moments(closed, num, p)
            pi = (p, 1 - p)
            # Two logits move by opposite amounts, so the trace is twice the variance.
            if trace_variance(credit, pi, num) != 2 * variance:
                return False
            if mean_estimate(credit, pi, num)[0] != mean:
                return False
    return True
