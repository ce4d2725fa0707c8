"""Set RL note, §2.3: the recipe in use — membership, scales, GRPO, several set sizes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from math import comb

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, scaled, stated
from claims.documents import NOTE
from claims.exact import (
    Actions,
    Policy,
    Score,
    average,
    draws,
    expected,
    logit_gradient,
    policy,
    times,
)
from claims.exact_credit import (
    Credit,
    all_sets,
    deviation,
    estimate,
    from_sets,
    group_means,
    mean_estimate,
)
from claims.note_estimator import GRADED, PASS, POLICIES


@claim(
    "note-eq-9-by-value",
    NOTE,
    "§2.3, Eq. 9, Algorithm 1 line 7",
    Verdict.FAILS,
    how="Equal generations taken for one: pass@2, N = 3, 4, three actions.",
    counterexample="N=3, n=2, π=(1/5, 3/10, 1/2), ratio_to_gradient=(0.8938, 1.05, 0.8)",
    truth="By index: two equal samples are two samples.",
)
def membership_by_value() -> Trials:
    """Read by value: 𝒢(y), the sets that contain y, are found by comparing generations."""
    size = 2
    for num, p in product((3, 4), [policy(1, 1, 1), policy(2, 3, 5)]):
        truth = times(comb(num - 1, size), logit_gradient(PASS, p, size))
        by_value = mean_estimate(_by_value(PASS, num, size), p, num)
        by_index = mean_estimate(from_sets(PASS, all_sets(num, size)), p, num)
        ratios = [float(b / t * comb(num - 1, size)) for b, t in zip(by_value, truth, strict=True)]
        proportional = len({b / t for b, t in zip(by_value, truth, strict=True)}) == 1
        yield stated(proportional, N=num, n=size, π=p, ratio_to_gradient=ratios)
        yield corrected(by_index == truth, N=num, π=p)


def _by_value(score: Score, num: int, size: int) -> Credit:
    def credit(group: Actions) -> list[Fraction]:
        sets = [tuple(sorted(group[i] for i in s)) for s in all_sets(num, size)]
        mean = average([score(s) for s in sets])
        return [sum((score(s) - mean for s in sets if y in s), Fraction(0)) for y in group]

    return credit


@claim(
    "note-alg-1",
    NOTE,
    "§2.3, Algorithm 1",
    Verdict.UP_TO_SCALE,
    how="The mean of ĝ over all groups of N = 4, n = 1, 2, 3; the scale for N = 32, n = 8.",
    truth="C(N−1, n), which is 7,888,725 for N = 32, n = 8: a learning rate fits one (N, n) "
    "only. Divide by it, or take means instead of sums.",
)
def algorithm_1() -> Trials:
    """ĝ of Algorithm 1 is the gradient of E f."""
    num = 4
    for size, p in product((1, 2, 3), POLICIES):
        found = mean_estimate(from_sets(GRADED, all_sets(num, size)), p, num)
        truth = logit_gradient(GRADED, p, size)
        yield stated(found == truth, N=num, n=size, mean_of_ĝ=found, gradient=truth)
        yield scaled(found == times(comb(num - 1, size), truth))
    yield remark(comb(31, 8) == 7_888_725)


@claim(
    "note-grpo-drop-in",
    NOTE,
    "§2.3, after Eq. 10",
    Verdict.FAILS,
    how="Mean update over all groups of N = 5, n = 2 with the advantages divided by their standard "
    "deviation, as GRPO does: pass@2 and max of (2, 1, 0).",
    counterexample="f=pass@2, p=3/5, ratios=(5.275, 8.148)",
    truth="The division makes the scale depend on the prompt (pass@2: 5.3 at p = 1/10, "
    "8.1 at 3/5) and bends the direction for graded rewards. Without it: (N−n)/n ∇E f.",
)
def grpo_drop_in() -> Trials:
    """GRPO optimises the set objective once its advantage is replaced by the marginal set
    advantage.
    """
    num, size = 5, 2
    binary = scores.maximum((1, 0))
    rates = []
    for p in (policy(1, 9), policy(3, 2)):
        truth = logit_gradient(binary, p, size)
        rates.append(_mean_standardised(binary, p, num, size)[0] / float(truth[0]))
        yield stated(
            len({round(r, 9) for r in rates}) == 1, f="pass@2", p=p[0], ratios=tuple(rates)
        )
    for p in POLICIES:
        truth = logit_gradient(GRADED, p, size)
        biased = _mean_standardised(GRADED, p, num, size)
        bent = [b / float(t) for b, t in zip(biased, truth, strict=True)]
        yield stated(max(bent) - min(bent) < 1e-9, f="max", π=p, ratios=tuple(bent))
        mean_form = mean_estimate(deviation(GRADED, size), p, num)
        yield corrected(mean_form == times(Fraction(num - size, size), truth), π=p)


def _mean_standardised(score: Score, p: Policy, num: int, size: int) -> list[float]:
    total = [0.0] * len(p)
    for group, chance in draws(p, num):
        credits = deviation(score, size)(group)
        spread = math.sqrt(average([c * c for c in credits]))
        if spread:
            for a, g in enumerate(estimate(credits, group, p)):
                total[a] += float(chance * g) / spread
    return total


SIZES = (1, 2, 3)


@claim(
    "note-ex-2.7",
    NOTE,
    "§2.3, Example 2.7",
    Verdict.HOLDS,
    how="Over all groups of N = 4 samples, sizes 1, 2, 3, max and distinct clusters.",
)
def several_sizes() -> Trials:
    """The displayed objective over several set sizes is, in expectation, Σ_c E f of size n_c."""
    num = 4
    for score, p in product((GRADED, scores.distinct()), POLICIES):
        shown = sum(
            (
                chance * sum(group_means(score, group, size).U for size in SIZES)
                for group, chance in draws(p, num)
            ),
            Fraction(0),
        )
        right = sum(expected(score, p, size) for size in SIZES)
        yield stated(shown == right, N=num, sizes=SIZES, π=p, J=right)


@claim(
    "note-ex-2.7-weights",
    NOTE,
    "§2.3, Example 2.7",
    Verdict.FAILS,
    how="Mean update over all groups, N = 4, sizes 1 and 2, against Σ_c ∇E f.",
    counterexample="N=4, sizes=(1, 2), π=(1/3, 1/3, 1/3), ratios=(47/76, 1/2, 43/68)",
    truth="With 1/C(N, n_c) size n_c enters with weight 1 − n_c/N; with 1/C(N−1, n_c) the mean "
    "update is Σ_c ∇E f exactly.",
)
def size_weights() -> Trials:
    """Marginal set advantages of the sizes, added with the weights 1/C(N, n_c), optimise that
    sum.
    """
    num, sizes = 4, (1, 2)
    for p in POLICIES:
        gradients = {size: logit_gradient(GRADED, p, size) for size in sizes}
        means = {
            size: mean_estimate(from_sets(GRADED, all_sets(num, size)), p, num) for size in sizes
        }
        wanted = [sum(gradients[size][a] for size in sizes) for a in range(3)]
        said = [sum(means[size][a] / comb(num, size) for size in sizes) for a in range(3)]
        right = [sum(means[size][a] / comb(num - 1, size) for size in sizes) for a in range(3)]
        weighted = [
            sum((1 - Fraction(size, num)) * gradients[size][a] for size in sizes) for a in range(3)
        ]
        ratios = [s / w for s, w in zip(said, wanted, strict=True)]
        yield stated(len(set(ratios)) == 1, N=num, sizes=sizes, π=p, ratios=tuple(ratios))
        yield corrected(right == wanted and said == weighted, π=p)
