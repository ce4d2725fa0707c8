"""Beyond the sources: a pay for right samples that falls with the size of their strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb

from claims import scores
from claims.claims import BEYOND, Trials, Verdict, claim, corrected, kind, remark, shown, stated
from claims.exact import (
    Actions,
    Credit,
    Score,
    average,
    expected,
    group_means,
    logit_gradient,
    mean_estimate,
    policy,
    times,
)

Pay = Callable[[int], Fraction]  # the pay of the j-th right sample of a strategy

PAYS: dict[str, Pay] = {
    "1/j": lambda j: Fraction(1, j),
    "1": lambda j: Fraction(1),
    "1/j²": lambda j: Fraction(1, j * j),
    "2 − j": lambda j: Fraction(2 - j),
}
# Outcomes: right by two strategies, wrong by the first, degenerate.
REWARDS, LABELS = (1, 1, 0, 0), (0, 1, 0, -1)
POLY = scores.polychromic((1, 0, 1))


def counts(pay: Pay, rewards: Actions = REWARDS, strategies: Actions = LABELS) -> Score:
    """f(S) = Σ_c (pay(1) + … + pay(m_c)), where strategy c has m_c right samples."""

    def score(s: Actions) -> Fraction:
        found = Counter(strategies[i] for i in s if rewards[i] and strategies[i] >= 0)
        return sum((pay(j) for m in found.values() for j in range(1, m + 1)), Fraction(0))

    return score


def paid(pay: Pay) -> Credit:
    """rᵢ·pay(m), where m right samples of the group have the strategy of sample i."""

    def credit(group: Actions) -> list[Fraction]:
        found = Counter(LABELS[a] for a in group if REWARDS[a])
        return [REWARDS[a] * pay(found[LABELS[a]]) if REWARDS[a] else Fraction(0) for a in group]

    return credit


@claim(
    "beyond-counts-credit",
    BEYOND,
    "Concave counts: the credit",
    Verdict.HOLDS,
    compares=("u − w at K = N", "=", "r·pay(m)"),
    how="u − w of sets of all N samples by enumeration, every multiset of N ≤ $num.most of "
    "four outcomes, four ways to pay; mean update against ∇E f for N = $of_update.",
    truth="With ⟦pay(j) = j^(α−1)⟧ it is ⟦r·m^(α−1)⟧. The mean update is ∇E f exactly, and "
    "⟦−β(1 − r)⟧ adds β·N·∇E r.",
    tried="484 stated, 24 remark",
    cases=product(PAYS, (2, 3, 4, 5)),
)
def counts_credit(name: str, num: int) -> Trials:
    """With f = Σ_c ⟦(pay(1) + … + pay(m_c))⟧ of all N samples, expected improvement is $q."""
    score, credit = counts(PAYS[name]), paid(PAYS[name])
    for group in combinations_with_replacement(range(4), num):
        means = group_means(score, group, num)
        found = [u - w for u, w in zip(means.u, means.w, strict=True)]
        yield stated(found, credit(group), pay=name, group=group, credit=found)
    if num < 5:
        p = policy(1, 2, 3, 1)
        truth = logit_gradient(score, p, num)
        yield remark(mean_estimate(credit, p, num) == truth, of_update=num)
        single = times(Fraction(num, 5), logit_gradient(scores.mean(REWARDS), p, 1))
        more = mean_estimate(_less_wrong(credit), p, num)
        yield remark(more == [g + h for g, h in zip(truth, single, strict=True)])


def _less_wrong(credit: Credit) -> Credit:
    """Credit − (1 − r)/5."""
    return lambda group: [
        a - Fraction(1 - REWARDS[y], 5) for a, y in zip(credit(group), group, strict=True)
    ]


@claim(
    "beyond-counts-shapley",
    BEYOND,
    "Concave counts: α = 0",
    Verdict.HOLDS,
    compares=("Shapley value", "=", "r/m"),
    how="The gain in right strategies from each sample, averaged over all orders, every "
    "multiset of N ≤ $num.most of four outcomes.",
    truth="So it is unbiased for Σ_{n≤N} ∇J_n/n, where J_n is the mean number of right strategies "
    "in n samples.",
    tried="121 stated, 4 remark",
    cases=product((2, 3, 4, 5)),
)
def counts_are_shapley(num: int) -> Trials:
    """For concave counts with ⟦α = 0⟧, the $q, of the number of right strategies."""
    score, credit = scores.distinct_correct(REWARDS, LABELS), paid(PAYS["1/j"])
    for group in combinations_with_replacement(range(4), num):
        found = shapley(score, group)
        yield stated(found, credit(group), group=group, shapley=found)
    p = policy(1, 2, 3, 1)
    values = [expected(score, p, n) / n for n in range(1, num + 1)]
    yield remark(expected(counts(PAYS["1/j"]), p, num) == sum(values, Fraction(0)))


def shapley(score: Score, group: Actions) -> list[Fraction]:
    """Return the mean gain of each sample over all orders of the samples; no samples score 0."""

    def gains(order: Actions) -> dict[int, Fraction]:
        held = [tuple(sorted(group[i] for i in order[:k])) for k in range(1, len(order) + 1)]
        so_far = [Fraction(0), *map(score, held)]
        return {i: so_far[k + 1] - so_far[k] for k, i in enumerate(order)}

    found = [gains(order) for order in permutations(range(len(group)))]
    return [average(gain[i] for gain in found) for i in range(len(group))]


@claim(
    "beyond-shapley-sets",
    BEYOND,
    "Methods: the baseline shapley",
    Verdict.HOLDS,
    compares=("mean Shapley value in K-sets", "=", "mean of u − w over the sizes"),
    how="Shares of every set over all orders of its members; every multiset of N ≤ $num.most "
    "of three actions, K ≤ N, two objectives; mean updates for N = $of_update.",
    truth="So the advantages sum to N/K·U, and the mean update is N/K·Σ_{k≤K} ∇J_k/k.",
    tried="204 stated, 214 remark",
    cases=product((2, 3, 4)),
)
def shapley_in_sets(num: int) -> Trials:
    """A sample's $q ⟦from 1⟧ to K."""
    p = policy(1, 2, 3)
    for score, size in product((scores.maximum((2, 1, 0)), POLY), range(1, num + 1)):
        credit = partial(mean_gain, score, size=size)
        for group in combinations_with_replacement(range(3), num):
            found, whole = credit(group), group_means(score, group, size).U
            yield stated(found, shares(score, group, size), group=group, K=size, shares=found)
            yield remark(sum(found) == Fraction(num, size) * whole)
        if num < 4:
            parts = [times(Fraction(1, k), logit_gradient(score, p, k)) for k in range(1, size + 1)]
            total = [sum(part) for part in zip(*parts, strict=True)]
            wanted = times(Fraction(num, size), total)
            yield remark(mean_estimate(credit, p, num) == wanted, of_update=num)


def mean_gain(score: Score, group: Actions, size: int) -> list[Fraction]:
    """Return u − w of each sample, averaged over sets of 1 to `size`."""
    found = [group_means(score, group, k) for k in range(1, size + 1)]
    return [average(one.u[i] - one.w[i] for one in found) for i in range(len(group))]


def shares(score: Score, group: Actions, size: int) -> list[Fraction]:
    """Return the mean Shapley value of each sample in its sets."""
    own: list[list[Fraction]] = [[] for _ in group]
    for held in combinations(range(len(group)), size):
        for i, share in zip(held, shapley(score, tuple(group[i] for i in held)), strict=True):
            own[i].append(share)
    return [average(of_sample) for of_sample in own]


@claim(
    "beyond-counts-shares",
    BEYOND,
    "Concave counts: where they end",
    Verdict.FAILS,
    compares=("best share of the weaker of two strategies", "=", Fraction(1, 2)),
    how="⟦α = 0⟧: E f of two strategies over all groups, in fractions, at every share in "
    "steps of $step; N = $N.",
    truth="With ⟦α = 0⟧ a strategy survives only if N·s is above Σ_c ⟦(1 − (1 − q_c s_c)^N)⟧. "
    "For ⟦N·q·s ≫ 1⟧ shares are equal.",
    counterexample="N=4, s=(9/10, 1/10), share=0",
    tried="3 of 9 stated, 12 corrected, 3 remark",
    cases=product((4, 16, 64), ((9, 1), (9, 5), (10, 10))),
)
def shares_of_counts(num: int, tenths: tuple[int, int]) -> Trials:
    """With ⟦α = 0⟧ strategies end with equal shares, whatever their success."""
    success = [Fraction(n, 10) for n in tenths]
    step = Fraction(1, 40)
    grid = [step * k for k in range(21)]
    yield shown(step=step)
    value = {q: value_of_counts((1 - q, q), success, num) for q in grid}
    best = max(grid, key=value.__getitem__)
    yield stated(best, N=num, s=tuple(success), share=best)
    # The weaker strategy starts to pay where N·s passes what the stronger strategy gives.
    level = 1 - (1 - success[0]) ** num
    yield corrected((best > 0) == (num * success[1] > level), N=num, s=tuple(success))
    if num == 64:
        yield corrected(abs(best - Fraction(1, 2)) <= Fraction(1, 20), s=tuple(success), q=best)
    if num == 4:
        yield remark(value[grid[8]] == _enumerated((1 - grid[8], grid[8]), success))


def value_of_counts(shares: Sequence[Fraction], success: Sequence[Fraction], num: int) -> Fraction:
    """Σ_c E[1 + 1/2 + … + 1/m_c], m_c ~ Bin(N, q_c·s_c)."""
    total = Fraction(0)
    for q, s in zip(shares, success, strict=True):
        harmonic = Fraction(0)
        for m in range(1, num + 1):
            harmonic += Fraction(1, m)
            total += comb(num, m) * (q * s) ** m * (1 - q * s) ** (num - m) * harmonic
    return total


def _enumerated(shares: Sequence[Fraction], success: Sequence[Fraction]) -> Fraction:
    right = [q * s for q, s in zip(shares, success, strict=True)]
    pi = (*right, 1 - sum(right, Fraction(0)))
    return expected(counts(PAYS["1/j"], (1, 1, 0), (0, 1, 0)), pi, 4)


@claim(
    "beyond-counts-baseline",
    BEYOND,
    "Concave counts: why they are not centred",
    Verdict.READING,
    compares=("variance without a baseline", "<", "variance of the centred credit"),
    how="Variance of (r − b)·∇log π of one sample that is right with probability q, two "
    "outcomes, in fractions: ⟦b = 0⟧, q, ⟦1 − q⟧ and all ⟦k/20⟧, q from $q.least to "
    "$q.most.",
    kindly="For a success rate above $edge: the baseline of least variance is ⟦1 − q⟧, to which "
    "⟦b = 0⟧ is then closer than q.",
    counterexample="q=1/20, none=0.04287, centred=0.03848",
    tried="13 of 19 stated, 19 kind, 19 remark",
    cases=product(range(1, 20)),
)
def no_baseline_is_better(twentieths: int) -> Trials:
    """Given its strategy, credit without a baseline has a lower variance than credit centred at the
    mean.
    """
    q = Fraction(twentieths, 20)
    none, centred = variance_with(q, Fraction(0)), variance_with(q, q)
    yield stated(none, centred, q=q, none=float(none), centred=float(centred))
    edge = Fraction(2, 3)
    yield kind((none < centred) == (q > edge), q=q)
    yield shown(edge=edge)
    best = min((Fraction(k, 20) for k in range(21)), key=lambda b: variance_with(q, b))
    yield remark(best == 1 - q)


def variance_with(q: Fraction, baseline: Fraction) -> Fraction:
    """Variance of (r − b)·(r − q): the right outcome's score is 1 − q if right, −q if wrong."""
    drawn = ((q, (1 - baseline) * (1 - q)), (1 - q, baseline * q))
    mean = sum((p * g for p, g in drawn), Fraction(0))
    return sum((p * g * g for p, g in drawn), -(mean**2))
