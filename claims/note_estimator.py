"""Set RL note, §2.3: sets out of N samples, Proposition 2.6, and the recipe in use."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from math import comb

from claims import scores
from claims.claims import (
    NOTE,
    Trials,
    Verdict,
    claim,
    control,
    kind,
    remark,
    rounded,
    scaled,
    shown,
    stated,
)
from claims.exact import (
    Policy,
    Score,
    all_sets,
    average,
    by_value,
    contrast,
    deviation,
    draws,
    estimate,
    expected,
    from_sets,
    gain,
    group_means,
    logit_gradient,
    mean_estimate,
    over_designs,
    policies,
    policy,
    ratios,
    times,
    trace_variance,
)
from claims.formulas import Formula

PASS, GRADED = scores.named("max", 1, 0, 0), scores.named("max", 2, 1, 0)
SCORES = (PASS, GRADED, scores.named("polychromic", 1, 0, 1))
POLICIES = (policy(1, 1, 1), policy(1, 2, 3), policy(5, 1, 2))
SUM_SCALE = Formula("C(N−1, n)")  # of the sums over all sets of a sample, as a multiple of ∇E f
DISPLAYED_SCALE = Formula("C(N, n) − C(N−1, n−1)")  # as Proposition 2.6 writes it
MEAN_SCALE = Formula("(N−n)/n")  # of the means over them


SAMPLED_SCALE = Formula("K_all/K · C(K_all−2, K−2)/C(K_all, K) · (C(N, n) − C(N−1, n−1))")
SIMPLE_SCALE = Formula("(K−1)/(K_all−1) · C(N−1, n)")


def sampled_scale(num: int, size: int, num_sets: int) -> Fraction:
    """M for K sets without replacement, as Proposition 2.6 writes it."""
    if num_sets == 1:
        return Fraction(0)
    return SAMPLED_SCALE(N=num, n=size, K=num_sets, K_all=comb(num, size))


@claim(
    "note-number-of-sets",
    NOTE,
    "§2.3",
    Verdict.HOLDS,
    compares=("sets of n different samples of N", "=", Formula("C(N, n)")),
    how="Counted by enumeration, N ≤ $N.most.",
    tried="20 stated",
    cases=product(range(2, 7)),
)
def number_of_sets(num: int) -> Trials:
    """At most C(N, n) different sets can be made of N samples ($q)."""
    for size in range(1, num + 1):
        picks = {frozenset(pick) for pick in product(range(num), repeat=size)}
        found = sum(len(pick) == size for pick in picks)
        yield stated(found, N=num, n=size, sets=found)


@claim(
    "note-prop-2.6-all",
    NOTE,
    "§2.3, Eq. 8–10, Proposition 2.6",
    Verdict.HOLDS,
    compares=("E Σᵢ ∇ log π(yᵢ) Â(yᵢ)", "=", "M·∇E f"),
    how="All groups of N samples of three actions; N ≤ $N.most, n ≤ $n.most; three objectives.",
    truth="M = $simple. The baseline of ⟦Eq. 8⟧, which contains yᵢ, only rescales.",
    tried="54 stated, 6 remark",
    cases=((3, 2), (4, 1), (4, 2), (4, 3), (5, 2), (5, 3)),
)
def complete_design(num: int, size: int) -> Trials:
    """With all ⟦C(N, n)⟧ sets, $q, M = $displayed."""
    scale = DISPLAYED_SCALE(N=num, n=size)
    yield remark(scale == SUM_SCALE(N=num, n=size))
    yield shown(displayed=DISPLAYED_SCALE, simple=SUM_SCALE)
    for score, p in product(SCORES, POLICIES):
        found = mean_estimate(from_sets(score, all_sets(num, size)), p, num)
        right = times(scale, logit_gradient(score, p, size))
        yield stated(found, right, f=score, N=num, n=size, π=p, M=scale)


@claim(
    "note-prop-2.6-sampled",
    NOTE,
    "§2.3, Proposition 2.6",
    Verdict.HOLDS,
    compares=("mean update", "=", "M·∇E f"),
    how="Every collection of one, two, … sets: N = $N, n = $n.",
    truth="Simpler: M = $simpler.",
    tried="18 stated, 18 remark",
    cases=((3, 2), (4, 2)),
)
def sampled_design(num: int, size: int) -> Trials:
    """With K sets drawn without replacement the scale is M = $written."""
    total = comb(num, size)
    for num_sets, p in product(range(1, total + 1), POLICIES[:2]):
        scale = sampled_scale(num, size, num_sets)
        simple = SIMPLE_SCALE(N=num, n=size, K=num_sets, K_all=total)
        found = mean_estimate(
            over_designs(GRADED, combinations(all_sets(num, size), num_sets)), p, num
        )
        right = times(scale, logit_gradient(GRADED, p, size))
        yield stated(found, right, N=num, n=size, sets=num_sets, M=scale)
        yield remark(scale == simple)
    yield shown(written=SAMPLED_SCALE, simpler=SIMPLE_SCALE)


@claim(
    "note-prop-2.6-positive",
    NOTE,
    "§2.3, Proposition 2.6",
    Verdict.HOLDS,
    compares=("M", ">", 0),
    how="The formulas of the proposition for N ≤ $N.most, all n ≤ N and every number of sets.",
    truth="Except for a single set, where ⟦M = 0⟧: it is its own baseline. With N = n, which "
    "the note excludes, there is only one set.",
    tried="99 stated, 20 remark",
    nearest="1/5",
    cases=product(range(2, 7)),
)
def positive_scale(num: int) -> Trials:
    """The scale $q."""
    for size in range(1, num + 1):
        for num_sets in range(1, comb(num, size) + 1):
            scale = sampled_scale(num, size, num_sets)
            if size < num and num_sets >= 2:
                yield stated(scale, N=num, n=size, sets=num_sets, M=scale)
            else:
                yield remark(scale == 0, N=num, n=size, sets=num_sets)


@claim(
    "note-all-sets-variance",
    NOTE,
    "§2.3",
    Verdict.HOLDS,
    compares=("variance with all sets", "≤", "variance with K sets"),
    how="Trace variance divided by the squared scale, over all groups and all collections of "
    "K = $sets sets, the last, all of them, as a control; N = $N, n = $n.",
    tried="24 stated, 24 remark",
    cases=product(SCORES, POLICIES[:2]),
)
def complete_against_sampled(score: Score, p: Policy) -> Trials:
    """The complete U-statistic varies less: $q."""
    num, size = 4, 2
    designs = all_sets(num, size)
    whole = trace_variance(from_sets(score, designs), p, num) / comb(num - 1, size) ** 2
    for num_sets in (2, 3, 5, 6):
        scale = sampled_scale(num, size, num_sets)
        sampled = _variance_over_designs(score, p, num, size, num_sets) / scale**2
        yield remark((whole == sampled) == (num_sets == 6))
        yield stated(whole, sampled, f=score, N=num, n=size, sets=num_sets, sampled=float(sampled))


def _variance_over_designs(score: Score, p: Policy, num: int, size: int, num_sets: int) -> Fraction:
    """Return the trace variance when both the group and the collection of sets are drawn."""
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
    Verdict.READING,
    compares=("variance with all sets", "≤", "variance of EI"),
    how="Trace variance at one scale of u − v (all sets) and u − w (expected improvement), "
    "which are both unbiased; max, N = $N, n = $n.",
    kindly="It has the lowest among all numbers of sets K, for the same advantage.",
    counterexample="f=max of (2, 1, 0), N=4, n=2, π=(1/3, 1/3, 1/3), all_sets=0.9218, EI=0.6804",
    tried="18 of 19 stated, 30 kind, 3 control, 19 remark",
)
def lowest_variance() -> Trials:
    """The complete U-statistic estimator has the lowest variance of all unbiased estimators."""
    num, size = 4, 2
    for p in policies(3, 6):
        whole = trace_variance(contrast(GRADED, size), p, num)
        smaller = trace_variance(gain(GRADED, size), p, num)
        truth = times(Fraction(num, size), logit_gradient(GRADED, p, size))
        case = {"f": GRADED, "N": num, "n": size, "π": p}
        yield stated(whole, smaller, **case, all_sets=float(whole), EI=float(smaller))
        yield remark(mean_estimate(gain(GRADED, size), p, num) == truth)
    for p, num_sets in product(POLICIES, (2, 3, 4, 5, 6)):
        whole = trace_variance(from_sets(GRADED, all_sets(num, size)), p, num) / 9
        scale = sampled_scale(num, size, num_sets)
        sampled = _variance_over_designs(GRADED, p, num, size, num_sets) / scale**2
        yield kind(whole <= sampled, π=p, sets=num_sets)
        if num_sets == 6:
            yield control(whole, sampled, π=p)
        yield kind((whole == sampled) == (num_sets == 6), π=p, sets=num_sets)


@claim(
    "note-eq-9-by-value",
    NOTE,
    "§2.3, Eq. 9, Algorithm 1 line 7",
    Verdict.READING,
    compares=("number of different ratios of the mean update to ∇E f", "=", 1),
    how="Mean update over all groups with 𝒢(y) by value and by index: ⟦pass@2⟧, N = $N, three"
    " actions.",
    kindly="𝒢(yᵢ) holds the sets with the i-th sample.",
    counterexample="f=max of (1, 0, 0), N=3, n=2, π=(1/5, 3/10, 1/2), ratio_to_gradient=(0.8938, "
    "1.05, 0.8)",
    tried="2 of 4 stated, 4 kind, 4 control",
    cases=product((3, 4), [policy(1, 1, 1), policy(2, 3, 5)]),
)
def membership_by_value(num: int, p: Policy) -> Trials:
    """⟦Proposition 2.6⟧ holds if 𝒢(y), the sets that contain y, is found by comparing
    generations.
    """
    size = 2
    truth = times(comb(num - 1, size), logit_gradient(PASS, p, size))
    equal = mean_estimate(by_value(PASS, all_sets(num, size)), p, num)
    by_index = mean_estimate(from_sets(PASS, all_sets(num, size)), p, num)
    found = ratios(equal, logit_gradient(PASS, p, size))
    floats = list(map(float, found))
    yield stated(len(set(found)), f=PASS, N=num, n=size, π=p, ratio_to_gradient=floats)
    yield control(len(set(ratios(by_index, truth))), N=num, π=p)
    yield kind(by_index == truth, N=num, π=p)


@claim(
    "note-alg-1",
    NOTE,
    "§2.3, Algorithm 1",
    Verdict.UP_TO_SCALE,
    compares=("E ĝ", "=", "∇E f"),
    how="The mean of ĝ over all groups of N = $N, n = $n. For N = $at_N, n = $at_n the scale "
    "is $large.",
    truth="$scale: a learning rate fits one (N, n) only.",
    counterexample="f=max of (2, 1, 0), N=4, n=2, π=(1/3, 1/3, 1/3), mean_of_ĝ=(10/9, -2/9, "
    "-8/9), gradient=(10/27, -2/27, -8/27)",
    tried="3 of 6 stated, 6 scaled",
)
def algorithm_1() -> Trials:
    """ĝ of ⟦Algorithm 1⟧ is the gradient of E f."""
    num = 4
    for size, p in product((2, 3), POLICIES):
        found = mean_estimate(from_sets(GRADED, all_sets(num, size)), p, num)
        truth = logit_gradient(GRADED, p, size)
        case = {"f": GRADED, "N": num, "n": size, "π": p}
        yield stated(found, truth, **case, mean_of_ĝ=found, gradient=truth)
        yield scaled(found, times(SUM_SCALE(N=num, n=size), truth))
    large = {"N": 32, "n": 8}
    yield shown(scale=SUM_SCALE, large=int(SUM_SCALE(**large)))
    yield shown(**{f"at_{letter}": number for letter, number in large.items()})


@claim(
    "note-grpo-drop-in",
    NOTE,
    "§2.3, after Eq. 10",
    Verdict.READING,
    compares=("number of different scales of two prompts", "=", 1),
    how="Mean update over all groups of N = $N, n = $n, with the marginal advantages divided by "
    "their standard deviation, as GRPO does with rewards, and without: ⟦pass@2⟧ and max of "
    "⟦rewards 2, 1, 0⟧, three actions.",
    kindly=f"GRPO's division is replaced, too: the mean update is then {MEAN_SCALE} ∇E f.",
    truth="The scale depends on the prompt (⟦pass@2⟧: $scale_1 at p = $p_1, $scale_2 at $p_2); "
    "under a max of graded rewards, the direction too.",
    counterexample="N=5, n=2, f=pass@2, p=(1/10, 3/5), ratios=(5.275, 8.148)",
    tried="1 of 1 stated, 3 kind, 1 control, 5 remark",
    nearest="1",
)
def grpo_drop_in() -> Trials:
    """GRPO optimises the set objective if it divides the marginal set advantages by their standard
    deviation.
    """
    num, size = 5, 2
    scales: dict[Fraction, float] = {}
    for p in (policy(2, 9, 9), policy(6, 2, 2)):
        of_actions = {round(r, 9) for r in _standardised_ratios(PASS, p, num, size)}
        yield remark(len(of_actions) == 1, f="pass@2", π=p)
        scales[p[0]] = min(of_actions)
    different = tuple(scales.values())
    yield stated(len(set(different)), N=num, n=size, f="pass@2", p=tuple(scales), ratios=different)
    first, second = different
    yield shown(p_1=min(scales), scale_1=rounded(first, 1))
    yield shown(p_2=max(scales), scale_2=rounded(second, 1))
    plain = set()
    for p in POLICIES:
        found = _standardised_ratios(GRADED, p, num, size)
        yield remark(max(found) > min(found) + 0.1, f="max", π=p, ratios=found)
        mean_form = mean_estimate(deviation(GRADED, size), p, num)
        truth = logit_gradient(GRADED, p, size)
        plain |= set(ratios(mean_form, truth))
        yield kind(mean_form == times(MEAN_SCALE(N=num, n=size), truth), π=p)
    yield control(len(plain), N=num, n=size)


def _standardised_ratios(score: Score, p: Policy, num: int, size: int) -> list[float]:
    """Mean update over ∇E f, for each action whose gradient is not 0."""
    found, truth = _mean_standardised(score, p, num, size), logit_gradient(score, p, size)
    return [f / float(t) for f, t in zip(found, truth, strict=True) if t]


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
    compares=("mean of the displayed objective", "=", "Σ_c E f of size n_c"),
    how="Over all groups of N = $N samples, sizes $sizes_shown, max and distinct strategies.",
    tried="6 stated",
    cases=product((GRADED, scores.distinct_share()), POLICIES),
)
def several_sizes(score: Score, p: Policy) -> Trials:
    """With several set sizes, $q."""
    num = 4
    displayed = sum(
        (
            chance * sum(group_means(score, group, size).U for size in SIZES)
            for group, chance in draws(p, num)
        ),
        Fraction(0),
    )
    right = sum(expected(score, p, size) for size in SIZES)
    yield stated(displayed, right, N=num, π=p, J=right)
    yield shown(sizes_shown=list(SIZES))


@claim(
    "note-ex-2.7-weights",
    NOTE,
    "§2.3, Example 2.7",
    Verdict.READING,
    compares=("number of different ratios of the mean update to Σ_c ∇E f", "=", 1),
    how="Mean update over all groups, N = $N, sizes $sizes_shown, against Σ_c ∇E f.",
    kindly="The example gives no estimator. With weights ⟦1/C(N−1, n_c)⟧ the mean update is Σ_c "
    "∇E f exactly.",
    truth="With ⟦1/C(N, n_c)⟧ size n_c enters with ⟦weight 1⟧ − n_c/N.",
    counterexample="f=max of (2, 1, 0), N=4, sizes=(1, 2), π=(1/3, 1/3, 1/3), "
    "ratios=(47/76, 1/2, 43/68)",
    tried="3 of 3 stated, 3 kind, 3 control, 3 remark",
    nearest="2",
    cases=product(POLICIES),
)
def size_weights(p: Policy) -> Trials:
    """Marginal set advantages of the sizes, added with the weights ⟦1/C(N, n_c)⟧ of the displayed
    objective, optimise it.
    """
    num, sizes = 4, (1, 2)
    gradients = {size: logit_gradient(GRADED, p, size) for size in sizes}
    means = {size: mean_estimate(from_sets(GRADED, all_sets(num, size)), p, num) for size in sizes}
    wanted = [sum(gradients[size][a] for size in sizes) for a in range(3)]
    formula = [sum(means[size][a] / comb(num, size) for size in sizes) for a in range(3)]
    right = [sum(means[size][a] / comb(num - 1, size) for size in sizes) for a in range(3)]
    weighted = [
        sum((1 - Fraction(size, num)) * gradients[size][a] for size in sizes) for a in range(3)
    ]
    found = ratios(formula, wanted)
    yield stated(len(set(found)), f=GRADED, N=num, sizes=sizes, π=p, ratios=tuple(found))
    yield shown(sizes_shown=list(sizes))
    yield control(len(set(ratios(right, wanted))), N=num, π=p)
    yield kind(right == wanted, π=p)
    yield remark(formula == weighted, π=p)
