"""Poly-EPO tutorial: its worked examples and its results table, recomputed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

from claims import scores
from claims.claims import (
    TUTORIAL,
    Trials,
    Verdict,
    claim,
    control,
    corrected,
    percent,
    remark,
    rounded,
    shown,
    stated,
)
from claims.exact import (
    Design,
    Policy,
    advantages,
    all_sets,
    average,
    deviation,
    from_sets,
    policies,
)
from claims.formulas import Formula
from claims.note_sequential import solve

# y₁…y₄ of "Solve x² + 3x + 2 = 0". The list is missing from the text. With y₃ wrong, as the text
# says, its scores leave only this reading, except for y₄'s strategy: y₁'s (0), y₃'s (2) or a new
# (3).
REWARDS = (1, 1, 0, 1)
DESIGN: Design = ((0, 2), (1, 3), (0, 1))  # S₁, S₂, S₃
LAST_LABELS = (0, 2, 3)
GROUP = (0, 1, 2, 3)


def example(last: int) -> tuple[int, ...]:
    """Return the strategies of y₁…y₄."""
    return (0, 1, 2, last)


def standardised(numbers: Sequence[Fraction | int], ddof: int = 0) -> list[float]:
    """Subtract the mean from numbers and divide by their standard deviation."""
    mean = sum(numbers) / Fraction(len(numbers))
    spread = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - ddof))
    return [float(x - mean) / spread for x in numbers]


@claim(
    "tutorial-example-sets",
    TUTORIAL,
    "Set RL, worked example (N = 4, n = 2, 3 sets)",
    Verdict.HOLDS,
    compares=("baseline; set advantages", "≈", ("0.833", "−0.333", "+0.167", "+0.167")),
    how="The three sets scored with fractions, for the three strategies that y₄ can have.",
    truth="Exactly $exact.",
    tried="3 stated",
    cases=product(LAST_LABELS),
)
def example_sets(last: int) -> Trials:
    """The worked example: $q."""
    score = scores.polychromic(REWARDS, example(last))
    values = [score(s) for s in DESIGN]
    gaps = [value - average(values) for value in values]
    yield stated([average(values), *gaps], y4=last, baseline=average(values), A=gaps)
    yield shown(exact=[average(values), *gaps])


@claim(
    "tutorial-example-marginals",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("marginal advantages", "≈", ("−0.166", "+0.334", "−0.333", "+0.167")),
    how="Sums by index of the set advantages, rounded to three digits as the text does.",
    truth="$exact if nothing is rounded before the sum.",
    tried="3 stated",
    cases=product(LAST_LABELS),
)
def example_marginals(last: int) -> Trials:
    """The worked example: $q."""
    score = scores.polychromic(REWARDS, example(last))
    mean = average(score(s) for s in DESIGN)
    gaps = [round(float(score(s) - mean), 3) for s in DESIGN]
    found = [sum(gap for s, gap in zip(DESIGN, gaps, strict=True) if i in s) for i in GROUP]
    yield stated(found, y4=last, A=found)
    yield shown(exact=list(from_sets(score, DESIGN)(GROUP)))


@claim(
    "tutorial-example-zscore",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("GRPO's z-score of y₃", "≈", ("−1.73",)),
    how="Three rewards ⟦of 1⟧ and one ⟦of 0⟧, standardised.",
    truth="⟦−√3 exactly⟧, with the standard deviation of a population. GRPO trainers divide by the "
    "standard deviation of a sample ⟦(ddof = 1)⟧, which gives $of_sample.",
    tried="1 stated, 1 remark",
)
def example_zscore() -> Trials:
    """$q."""
    found = standardised(REWARDS)[2]
    yield stated([found], z=found)
    yield remark(abs(found + math.sqrt(3)) < 1e-12)
    yield shown(of_sample=rounded(standardised(REWARDS, ddof=1)[2], 1))


@claim(
    "tutorial-example-milder",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("standardised advantage", ">", "GRPO's"),
    how="y₃'s advantage with the three sets of the text and over all six sets, standardised as "
    "GRPO's is, for each strategy of y₄.",
    truth="y₃ brings a strategy to S₁: $alone, and $shared if it shared that of y₁. "
    "Standardised $milder against $grpo_z; over all sets $over_all_0, $over_all_2 and "
    "$over_all_3 for y₄ in the strategy of y₁, of y₃ and in a fourth, the last as GRPO's.",
    tried="3 stated, 3 remark",
    cases=product((0, 2, 3)),
)
def example_milder(last: int) -> Trials:
    """With the three sets of the text, Poly-EPO's penalty for y₃, wrong but of a new strategy, is
    milder than GRPO's.
    """
    grpo = standardised(REWARDS)[2]
    score = scores.polychromic(REWARDS, example(last))
    found = standardised(list(deviation(score, 2)(GROUP)))[2]
    yield remark(found >= grpo - 1e-12)
    yield shown(**{f"over_all_{last}": rounded(found, 3)})
    drawn = from_sets(score, DESIGN)(GROUP)
    milder = standardised(list(drawn))[2]
    yield stated(milder, grpo + 1e-12, y4=last, poly_epo=milder, grpo=grpo)
    shared = from_sets(scores.polychromic(REWARDS, (0, 1, 0, last)), DESIGN)(GROUP)
    yield shown(milder=rounded(milder, 3), grpo_z=rounded(grpo, 2))
    yield shown(alone=drawn[2], shared=shared[2])


@claim(
    "tutorial-example-artefact",
    TUTORIAL,
    "Set RL, worked example, with 'a random sample provides an unbiased estimate'",
    Verdict.HOLDS,
    compares=("mean over all collections", "=", "$scale of the advantage with all sets"),
    how="All $collections collections of three of the six sets: their mean advantages are "
    "proportional to the advantages from all sets, for each strategy of y₄.",
    truth="y₁, correct, gets $first by chance: over the $collections collections it is positive"
    " in $above, negative in $below, zero in $zero; with all sets it is $with_all.",
    tried="3 stated",
    cases=product(LAST_LABELS),
)
def example_artefact(last: int) -> Trials:
    """Scoring K random sets is unbiased for scoring all of them."""
    score = scores.polychromic(REWARDS, example(last))
    every = from_sets(score, all_sets(4, 2))(GROUP)
    drawn = [from_sets(score, design)(GROUP) for design in combinations(all_sets(4, 2), 3)]
    mean = [average(column) for column in zip(*drawn, strict=True)]
    scale = Fraction(3 - 1, 6 - 1)
    yield stated(mean, [scale * a for a in every], y4=last, mean=mean, all_sets=every)
    yield shown(scale=scale)
    if last == 0:
        first = [a[0] for a in drawn]
        yield shown(above=sum(a > 0 for a in first), below=sum(a < 0 for a in first))
        yield shown(zero=first.count(Fraction(0)), with_all=every[0], collections=len(drawn))
        yield shown(first=from_sets(score, DESIGN)(GROUP)[0])


@claim(
    "tutorial-flip",
    TUTORIAL,
    "Set RL, worked example, last sentence",
    Verdict.HOLDS,
    compares=("largest A over n", ">", 0),
    how="A wrong sample with its own strategy next to N − one correct samples of another, N ="
    " $N, all sets, every n.",
    truth="For ⟦n ≥ 3⟧ it is positive; for ⟦n = 2⟧ it ⟦is 0⟧.",
    tried="5 stated, 10 remark",
    nearest="1/36",
    cases=product(range(4, 9)),
)
def flips_positive(num: int) -> Trials:
    """In larger sets with more correct members a wrong, unique sample can have ⟦A > 0⟧."""
    found = {n: _lone_wrong(num, n)[-1] for n in range(2, num)}
    yield stated(max(found.values()), N=num, A=list(found.values()))
    yield remark(found[2] == 0)
    yield remark(all(found[n] > 0 for n in range(3, num)))


def _lone_wrong(num: int, size: int) -> Sequence[Fraction]:
    """u − U of N − 1 correct samples of one strategy and a wrong sample of another."""
    score = scores.polychromic((*[1] * (num - 1), 0), (*[0] * (num - 1), 1))
    return deviation(score, size)(tuple(range(num)))


@claim(
    "tutorial-eight-samples",
    TUTORIAL,
    "Decomposition, 8 generations, 7 correct by A and 1 wrong by B",
    Verdict.HOLDS,
    compares=("A(y₈)", ">", 0),
    how="f of a set of three correct and y₈; U and u − U over all $sets sets of four.",
    truth="Baseline $baseline; A(y₈) = $wrong and $correct for each correct one; $degenerate if"
    " y₈ is degenerate. Positive for n = $sizes, zero for ⟦n = 2⟧.",
    tried="1 stated, 2 remark",
    nearest="1/16",
)
def eight_samples() -> Trials:
    """Sets of y₈ and three correct samples score $score, which exceeds the baseline ($q)."""
    rewards, strategies = (*[1] * 7, 0), (*[0] * 7, 1)
    score = scores.polychromic(rewards, strategies)
    baseline = average([score(s) for s in all_sets(8, 4)])
    value, found = score((0, 1, 2, 7)), _lone_wrong(8, 4)
    yield remark(value > baseline)
    yield stated(found[7], f=value, U=baseline, A=found[7])
    yield shown(score=float(value), baseline=baseline, wrong=found[7], correct=found[0])
    degenerate = scores.polychromic(rewards, (*[0] * 7, scores.DEGENERATE))
    yield shown(degenerate=deviation(degenerate, 4)(tuple(range(8)))[7], sets=comb(8, 4))
    signs = {n: _lone_wrong(8, n)[7] for n in range(2, 8)}
    yield remark(signs[2] == 0)
    yield shown(sizes=[n for n, a in signs.items() if a > 0])


@claim(
    "tutorial-score-copies",
    TUTORIAL,
    "Polychromic objective",
    Verdict.HOLDS,
    compares=("f", "=", 0.125),
    how="Eight correct of one strategy.",
    tried="1 stated",
)
def eight_copies() -> Trials:
    """Eight correct samples of one strategy: $q."""
    found = scores.polychromic((1,) * 8, (0,) * 8)(tuple(range(8)))
    yield stated(found, f=found)


@claim(
    "tutorial-score-four",
    TUTORIAL,
    "Polychromic objective",
    Verdict.HOLDS,
    compares=("f", "=", 0.25),
    how="Four correct of four strategies, and four wrong ones under every labelling: the same "
    "strategies, new ones, degenerate.",
    truth="The text gives the diversity as $right/$members. With m new strategies among the "
    "wrong ones it is $formula, up to $largest.",
    tried="5 stated, 5 remark",
)
def four_of_eight() -> Trials:
    """A set of $members with $right correct of $right different strategies, and no further
    strategy: $q.
    """
    rewards = (1, 1, 1, 1, 0, 0, 0, 0)
    formula = Formula("(4 + m)/16")
    for new in range(5):
        strategies = (0, 1, 2, 3, *(4 + k if k < new else 0 for k in range(4)))
        found = scores.polychromic(rewards, strategies)(tuple(range(8)))
        yield remark(found == formula(m=new), new_strategies=new)
    yield shown(members=len(rewards), right=sum(rewards), formula=formula, largest=found)
    for strategy in (0, 1, 2, 3, scores.DEGENERATE):
        added = scores.polychromic(rewards, (0, 1, 2, 3, *[strategy] * 4))
        yield stated(added(tuple(range(8))), wrong_in=strategy)


@claim(
    "tutorial-best-set",
    TUTORIAL,
    "Polychromic objective",
    Verdict.HOLDS,
    compares=("⟦f = 1⟧", "exactly if", "all are correct and all differ"),
    how="Every set of up to four members: ⟦f = 1⟧ exactly if all are correct and all differ.",
    tried="4328 stated, 4328 remark",
    cases=product((2, 3, 4)),
)
def best_set(size: int) -> Trials:
    """$q; ⟦f ≤ 1⟧."""
    for rewards, strategies in product(
        product((0, 1), repeat=size), product(range(size), repeat=size)
    ):
        found = scores.polychromic(rewards, strategies)(tuple(range(size)))
        perfect = all(rewards) and len(set(strategies)) == size
        yield remark(found <= 1)
        yield stated(found == 1, perfect, r=rewards, strategies=strategies)


@claim(
    "tutorial-fifth-copy",
    TUTORIAL,
    "Polychromic objective, diminishing returns",
    Verdict.HOLDS,
    compares=("score with a first E", ">", "score with a fifth A"),
    how="A set of n with four correct members of A already, k correct and C strategies among "
    "the ⟦n − 1⟧ others: the score with a correct fifth A, and with an E that succeeds "
    "with chance s.",
    truth="Exactly if s > ⟦(C − k)/(C + 1)⟧. In sets of $worse it can be worth less.",
    tried="58 stated, 406 remark",
    cases=product(range(6, 13), (Fraction(1, 10), Fraction(1, 2))),
)
def fifth_copy(size: int, success: Fraction) -> Trials:
    """In sets of $n.most and smaller, $q, even if E succeeds less often."""
    for right, kinds in _fillings(size - 5):
        k, strategies = 4 + right, 1 + kinds
        copy = Fraction(k + 1, size) * Fraction(strategies, size)
        novel = (k + success) / size * Fraction(strategies + 1, size)
        worse = {"worse": size} if novel < copy else {}
        right_when = success > Fraction(strategies - k, strategies + 1)
        yield remark((novel > copy) == right_when, **worse)
        if size <= 8:
            yield stated(novel, copy, n=size, k=k, C=strategies, s=success, A=copy, E=novel)


def _fillings(num: int) -> Iterator[tuple[int, int]]:
    """Yield how many of `num` further members are correct, and their number of new strategies."""
    yield from product(range(num + 1), range(num + 1))


@claim(
    "tutorial-ninety-percent",
    TUTORIAL,
    "Decomposition, at 90 % accuracy",
    Verdict.HOLDS,
    compares=("GRPO's z-score; score of the set", "≈", ("−3.0", "0.75")),
    how="The z-score of one wrong sample at this accuracy, and the score of three correct "
    "samples of different strategies with a wrong one of a fourth.",
    tried="1 stated",
)
def ninety_percent() -> Trials:
    """At $accuracy accuracy, for a wrong sample, and for three correct samples of other strategies
    with a wrong one: $q.
    """
    z = standardised((*[1] * 9, 0))[9]
    value = scores.polychromic((1, 1, 1, 0))((0, 1, 2, 3))
    yield stated([z, value], z=z, f=value)
    yield shown(accuracy=percent(Fraction(9, 10)))


@claim(
    "tutorial-ninety-percent-credit",
    TUTORIAL,
    "Decomposition, at 90 % accuracy",
    Verdict.FAILS,
    compares=("A of the wrong sample", ">", 0),
    how="⟦N = 10⟧, nine correct samples in every partition into three or more strategies, ⟦n "
    "= 4⟧, all sets: u − U of the wrong one.",
    truth="Negative in $negative of the $partitions partitions, positive in the others, "
    "$positive, and where all correct samples share a strategy.",
    counterexample="N=10, n=4, right_by_strategy=(5, 3, 1), A=-1/210",
    tried="23 of 25 stated, 2 corrected",
    nearest="1/560",
)
def ninety_percent_credit() -> Trials:
    """A wrong sample of a new strategy gets credit for joining correct ones of different
    strategies.
    """
    several = [sizes for sizes in sorted(_partitions(9), key=len) if len(sizes) >= 3]
    found = {sizes: _wrong_beside(sizes) for sizes in several}
    for sizes, a in found.items():
        yield stated(a, N=10, n=4, right_by_strategy=sizes, A=a)
    positive = sorted(sizes for sizes, a in found.items() if a > 0)
    negative = sum(a < 0 for a in found.values())
    yield corrected(negative + len(positive) == len(found))
    yield corrected(_wrong_beside((9,)) > 0)
    yield shown(partitions=len(found), negative=negative, positive=positive)


def _wrong_beside(sizes: tuple[int, ...]) -> Fraction:
    """u − U, n = 4, of a wrong sample with its own strategy next to correct ones in strategies."""
    labels = [label for label, size in enumerate(sizes) for _ in range(size)]
    score = scores.polychromic((*[1] * len(labels), 0), (*labels, len(sizes)))
    sets = all_sets(len(labels) + 1, 4)
    with_wrong = average([score(s) for s in sets if len(labels) in s])
    return with_wrong - average([score(s) for s in sets])


def _partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of a number, parts descending."""
    if total == 0:
        yield ()
    for part in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - part, part):
            yield (part, *rest)


@claim(
    "tutorial-two-strategies",
    TUTORIAL,
    "Opening, why RL collapses",
    Verdict.HOLDS,
    compares=("A at $second", "<", "⟦0 < A⟧ at $first"),
    how="Standard RL on two strategies that succeed with chance $first and $second: signs of "
    "d log π/dα at every policy with denominator ≤ $π.denominator.",
    tried="127 stated, 127 remark",
    cases=product(policies(2, 20)),
)
def two_strategies(p: Policy) -> Trials:
    """Under standard RL, for strategies that work on $first and on $second: $q."""
    rewards = (Fraction(3, 5), Fraction(3, 10))
    found = advantages(scores.mean(rewards), p, 1)
    yield remark(found[0] > 0)
    yield stated(found[1], Fraction(0), π=p, A=found)
    yield shown(first=percent(rewards[0]), second=percent(rewards[1]))


@claim(
    "tutorial-same-advantage",
    TUTORIAL,
    "Opening, the root cause",
    Verdict.HOLDS,
    compares=("set advantage of B", ">", "set advantage of the fifth A"),
    how="Five correct A, one correct B and two wrong A: r − mean, and u − U of the "
    "polychromic objective for n = $n.",
    tried="6 stated, 6 remark",
    cases=product(range(2, 8)),
)
def same_advantage(size: int) -> Trials:
    """Standard RL gives a fifth correct A what it gives a first correct B; with a set
    objective, $q.
    """
    rewards, strategies = (1, 1, 1, 1, 1, 1, 0, 0), (0, 0, 0, 0, 0, 1, 0, 0)
    standard = deviation(scores.mean(rewards), 1)(tuple(range(8)))
    found = deviation(scores.polychromic(rewards, strategies), size)(tuple(range(8)))
    yield remark(standard[4] == standard[5])
    yield stated(found[5], found[4], n=size, A=found[4:6])


# k → pass@k in per cent, as printed
TABLE = {
    "base": {1: 15, 8: 44, 32: 72},
    "grpo": {1: 28, 8: 50, 32: 58},
    "poly_epo": {1: 27, 8: 60, 32: 82},
}


@claim(
    "tutorial-number-of-sets",
    TUTORIAL,
    "Set RL, step 2",
    Verdict.HOLDS,
    compares=(Formula("C(N, n)"), "=", 10518300),
    how="Integer arithmetic.",
    truth="$sets.",
    tried="1 stated",
)
def number_of_sets() -> Trials:
    """There are about $millions million sets of $size out of $samples ($q)."""
    samples, size = 32, 8
    sets = comb(samples, size)
    yield stated(N=samples, n=size)
    yield shown(samples=samples, size=size, sets=sets, millions=sets // 10**6)


@claim(
    "tutorial-pass-32",
    TUTORIAL,
    "Opening, the concrete example",
    Verdict.HOLDS,
    compares=("chance of success", ">", 0.999),
    how="⟦1 − (1 − rate)^samples⟧ in fractions.",
    truth="$found. By the same formula two strategies at $collapsed_rate fail with chance "
    "$collapsed: it does not show the loss of coverage.",
    tried="1 stated",
    nearest="0.0002077",
)
def pass_at_32() -> Trials:
    """With a success rate of $rate, one of $samples samples succeeds: $q."""
    rate, samples, collapsed = Fraction(1, 5), 32, Fraction(9, 20)
    found = 1 - (1 - rate) ** samples
    yield stated(found)
    yield shown(rate=percent(rate), samples=samples, found=rounded(found, 5))
    yield shown(collapsed_rate=percent(collapsed), collapsed=rounded((1 - collapsed) ** samples, 9))


UP_TO = 20  # "up to 20%" in the summary of the tutorial


@claim(
    "tutorial-up-to-20",
    TUTORIAL,
    "Summary, pass@k improvement, with the results table",
    Verdict.FAILS,
    word="inconsistent",
    compares=("points between them", "≤", UP_TO),
    how="The printed row for k = $k; as a control the row for k = $k_below.",
    truth="$points points in the table, $relative in relative terms.",
    counterexample="poly_epo=82, grpo=58, points=24",
    tried="1 of 1 stated, 1 corrected, 2 control",
    nearest="4",
)
def up_to_twenty() -> Trials:
    """Poly-EPO is up to $claimed better than GRPO at k = $k."""
    points = {k: TABLE["poly_epo"][k] - TABLE["grpo"][k] for k in (8, 32)}
    poly, grpo = TABLE["poly_epo"][32], TABLE["grpo"][32]
    yield stated(points[32], poly_epo=poly, grpo=grpo, points=points[32])
    for allowed in (points[8], UP_TO):
        yield control(allowed)
    yield corrected(points[32] > UP_TO)
    yield shown(k=32, k_below=8, claimed=percent(Fraction(UP_TO, 100)), points=points[32])
    yield shown(relative=percent(round(Fraction(points[32], grpo), 2)))


@claim(
    "tutorial-table-possible",
    TUTORIAL,
    "Results table",
    Verdict.HOLDS,
    compares=("number of success rates whose mixture has these numbers", ">", 0),
    how="For each row a mixture of problems with three success rates, multiples of $grid, and"
    " of problems that are never solved, whose pass@k for k = $k are the printed ones, in"
    " fractions. The same search finds none for the made-up row $made_up.",
    truth="The values themselves cannot be checked here.",
    tried="3 stated, 10 remark",
    nearest="3",
)
def table_is_possible() -> Trials:
    """Each row can be the pass@k of some distribution of success rates."""
    for name, row in TABLE.items():
        found = _mixture(row)
        rates = tuple(found or ())
        yield stated(len(rates), row=name, success_rates=rates)
        for k, value in row.items():
            solved = sum(share * (1 - (1 - rate) ** k) for rate, share in (found or {}).items())
            yield remark(solved == Fraction(value, 100), row=name, k=k)
    made_up = {1: 15, 8: 20, 32: 90}
    yield remark(_mixture(made_up) is None)
    yield shown(k=list(made_up), made_up=list(made_up.values()), grid=Fraction(1, STEPS))


STEPS = 20


def _mixture(row: dict[int, int]) -> dict[Fraction, Fraction] | None:
    """Return success rate → share of problems, such that pass@k is the row's; the rest fail."""
    wanted = [Fraction(value, 100) for value in row.values()]
    for rates in combinations([Fraction(step, STEPS) for step in range(1, STEPS + 1)], len(row)):
        shares = solve([[1 - (1 - rate) ** k for rate in rates] for k in row], wanted)
        if min(shares) >= 0 and sum(shares) <= 1:
            return dict(zip(rates, shares, strict=True))
    return None
