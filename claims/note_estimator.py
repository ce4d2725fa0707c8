"""Set RL note, §2.3: sets out of N samples, marginal set advantages, Proposition 2.6."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import NOTE
from claims.exact import Policy, Score, average, draws, logit_gradient, policies, policy, times
from claims.exact_credit import (
    Credit,
    all_sets,
    contrast,
    estimate,
    from_sets,
    gain,
    mean_estimate,
    trace_variance,
)

PASS = scores.maximum((1, 0, 0))
GRADED = scores.maximum((2, 1, 0))
POLY = scores.polychromic((1, 0, 1))
SCORES = (("pass", PASS), ("max", GRADED), ("polychromic", POLY))
POLICIES = (policy(1, 1, 1), policy(1, 2, 3), policy(5, 1, 2))


def sampled_scale(num: int, size: int, num_sets: int) -> Fraction:
    """M of Proposition 2.6 for K sets without replacement, as it is written there."""
    total = comb(num, size)
    subsets = comb(total - 2, num_sets - 2) if num_sets >= 2 else 0
    ways = Fraction(total * subsets, comb(total, num_sets) * num_sets)
    return ways * (total - comb(num - 1, size - 1))


def over_designs(score: Score, num: int, size: int, num_sets: int) -> Credit:
    """The credit averaged over every collection of K different sets."""
    designs = list(combinations(all_sets(num, size), num_sets))
    credits = [from_sets(score, design) for design in designs]
    return lambda group: [
        average(column) for column in zip(*(credit(group) for credit in credits), strict=True)
    ]


@claim(
    "note-number-of-sets",
    NOTE,
    "§2.3",
    Verdict.HOLDS,
    how="Counted by enumeration, N ≤ 6.",
)
def number_of_sets() -> Trials:
    """At most C(N, n) different sets can be made of N samples."""
    for num in range(2, 7):
        for size in range(1, num + 1):
            picks = {frozenset(pick) for pick in product(range(num), repeat=size)}
            found = sum(len(pick) == size for pick in picks)
            yield stated(found == comb(num, size), N=num, n=size, sets=found)


@claim(
    "note-prop-2.6-all",
    NOTE,
    "§2.3, Eq. 8–10, Proposition 2.6",
    Verdict.HOLDS,
    how="All groups of N samples of three actions; (N, n) up to (5, 3); three objectives.",
    truth="M = C(N−1, n). The baseline of Eq. 8, which contains yᵢ, only rescales.",
)
def complete_design() -> Trials:
    """With all C(N, n) sets, E Σᵢ ∇ log π(yᵢ) Â(yᵢ) = M ∇E f, M = C(N, n) − C(N−1, n−1)."""
    for num, size in ((3, 2), (4, 1), (4, 2), (4, 3), (5, 2), (5, 3)):
        scale = comb(num, size) - comb(num - 1, size - 1)
        yield remark(scale == comb(num - 1, size))
        for (name, score), p in product(SCORES, POLICIES):
            found = mean_estimate(from_sets(score, all_sets(num, size)), p, num)
            right = times(scale, logit_gradient(score, p, size))
            yield stated(found == right, f=name, N=num, n=size, π=p, M=scale)


@claim(
    "note-prop-2.6-sampled",
    NOTE,
    "§2.3, Proposition 2.6",
    Verdict.HOLDS,
    how="Every collection of K sets: N = 3, 4, n = 2, all K.",
    truth="Simpler: M = (K−1)/(K_all−1) · C(N−1, n).",
)
def sampled_design() -> Trials:
    """With K sets drawn without replacement the scale is M = K_all/K · C(K_all−2, K−2)/C(K_all,
    K) · (C(N, n) − C(N−1, n−1)).
    """
    for num, size in ((3, 2), (4, 2)):
        total = comb(num, size)
        for num_sets, p in product(range(1, total + 1), POLICIES[:2]):
            scale = sampled_scale(num, size, num_sets)
            simple = Fraction((num_sets - 1) * comb(num - 1, size), total - 1)
            found = mean_estimate(over_designs(GRADED, num, size, num_sets), p, num)
            right = times(scale, logit_gradient(GRADED, p, size))
            yield stated(found == right, N=num, n=size, K=num_sets, M=scale)
            yield remark(scale == simple)


@claim(
    "note-prop-2.6-positive",
    NOTE,
    "§2.3, Proposition 2.6",
    Verdict.FAILS,
    how="The formulas of the proposition for N ≤ 6, all n and K.",
    counterexample="N=2, n=1, K=1, M=0",
    truth="M > 0 exactly if n < N and K ≥ 2: one set is its own baseline, and with N = n there "
    "is only one set.",
)
def positive_scale() -> Trials:
    """The scale M is positive."""
    for num in range(2, 7):
        for size in range(1, num + 1):
            for num_sets in range(1, comb(num, size) + 1):
                scale = sampled_scale(num, size, num_sets)
                yield stated(scale > 0, N=num, n=size, K=num_sets, M=scale)
                proper = size < num and num_sets >= 2
                yield corrected((scale > 0) == proper, N=num, n=size, K=num_sets)


@claim(
    "note-all-sets-variance",
    NOTE,
    "§2.3",
    Verdict.HOLDS,
    how="Trace variance divided by the squared scale, over all groups and all collections of K "
    "sets; N = 4, n = 2, K = 2, 3, 5 and, as a control, all 6.",
)
def complete_against_sampled() -> Trials:
    """Using all sets reduces the variance against K sampled ones (complete U-statistic)."""
    num, size = 4, 2
    designs = all_sets(num, size)
    for (name, score), p in product(SCORES, POLICIES[:2]):
        whole = trace_variance(from_sets(score, designs), p, num) / comb(num - 1, size) ** 2
        for num_sets in (2, 3, 5, 6):
            scale = sampled_scale(num, size, num_sets)
            sampled = _variance_over_designs(score, p, num, size, num_sets) / scale**2
            yield remark((whole == sampled) == (num_sets == 6))
            yield stated(
                whole <= sampled, f=name, K=num_sets, all=float(whole), sampled=float(sampled)
            )


def _variance_over_designs(score: Score, p: Policy, num: int, size: int, num_sets: int) -> Fraction:
    """The trace variance when both the group and the collection of sets are drawn."""
    designs = list(combinations(all_sets(num, size), num_sets))
    credits = [from_sets(score, design) for design in designs]
    second = Fraction(0)
    mean = [Fraction(0)] * len(p)
    for group, chance in draws(p, num):
        for credit in credits:
            g = estimate(credit(group), group, p)
            second += chance * sum(x * x for x in g) / len(designs)
            mean = [m + chance * x / len(designs) for m, x in zip(mean, g, strict=True)]
    return second - sum(m * m for m in mean)


@claim(
    "note-lowest-variance",
    NOTE,
    "§2.3, after Proposition 2.6",
    Verdict.FAILS,
    how="Trace variance at one scale of u − v (all sets) and u − w (expected improvement), which "
    "are both unbiased; max, N = 4, n = 2.",
    counterexample="N=4, n=2, π=(1/3, 1/3, 1/3), all_sets=0.9218, EI=0.6804",
    truth="It has the lowest variance among collections of sets for the same advantage; other "
    "unbiased baselines can be lower.",
)
def lowest_variance() -> Trials:
    """The complete U-statistic estimator has the lowest variance."""
    num, size = 4, 2
    for p in policies(3, 6):
        whole = trace_variance(contrast(GRADED, size), p, num)
        smaller = trace_variance(gain(GRADED, size), p, num)
        truth = times(Fraction(num, size), logit_gradient(GRADED, p, size))
        yield stated(whole <= smaller, N=num, n=size, π=p, all_sets=float(whole), EI=float(smaller))
        yield remark(mean_estimate(gain(GRADED, size), p, num) == truth)
    for p, num_sets in product(POLICIES, (2, 3, 4, 5, 6)):
        whole = trace_variance(from_sets(GRADED, all_sets(num, size)), p, num) / 9
        scale = sampled_scale(num, size, num_sets)
        sampled = _variance_over_designs(GRADED, p, num, size, num_sets) / scale**2
        yield corrected(whole <= sampled and (whole == sampled) == (num_sets == 6), π=p, K=num_sets)
