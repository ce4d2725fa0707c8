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
    rounds_to,
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
    truth="5/6; −1/3, 1/6, 1/6.",
    tried="3 stated",
    cases=product(LAST_LABELS),
)
def example_sets(last: int) -> Trials:
    """The worked example: $q."""
    score = scores.polychromic(REWARDS, example(last))
    values = [score(s) for s in DESIGN]
    gaps = [value - average(values) for value in values]
    yield stated([average(values), *gaps], y4=last, baseline=average(values), A=gaps)


@claim(
    "tutorial-example-marginals",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("marginal advantages", "≈", ("−0.166", "+0.334", "−0.333", "+0.167")),
    how="Sums by index of the set advantages, rounded to three digits as the text does.",
    truth="−1/6, 1/3, −1/3, 1/6 if nothing is rounded before the sum.",
    tried="3 stated, 3 remark",
    cases=product(LAST_LABELS),
)
def example_marginals(last: int) -> Trials:
    """The worked example: $q."""
    score = scores.polychromic(REWARDS, example(last))
    mean = average(score(s) for s in DESIGN)
    gaps = [round(float(score(s) - mean), 3) for s in DESIGN]
    found = [sum(gap for s, gap in zip(DESIGN, gaps, strict=True) if i in s) for i in GROUP]
    yield stated(found, y4=last, A=found)
    sixths = [Fraction(n, 6) for n in (-1, 2, -2, 1)]
    yield remark(from_sets(score, DESIGN)(GROUP) == sixths)


@claim(
    "tutorial-example-zscore",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("GRPO's z-score of y₃", "≈", ("−1.73",)),
    how="Three rewards of 1 and one of 0, standardised.",
    truth="−√3, with the standard deviation of a population. GRPO trainers divide by the standard "
    "deviation of a sample (ddof = 1), which gives −1.5.",
    tried="1 stated, 1 remark",
)
def example_zscore() -> Trials:
    """$q."""
    found = standardised(REWARDS)[2]
    yield stated([found], z=found)
    yield remark(rounds_to(standardised(REWARDS, ddof=1)[2], -1.5, 3))


@claim(
    "tutorial-example-milder",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    compares=("standardised advantage", ">", "GRPO's"),
    how="y₃'s advantage with the three sets of the text and over all six sets, standardised as "
    "GRPO's is, for each strategy of y₄.",
    truth="y₃ brings a strategy to S₁: −1/3, and −1/2 if it shared that of y₁. "
    "Standardised −1.265 against −1.73; over all sets −√2, −1.698 or, with y₄ in a "
    "fourth strategy, −√3, as GRPO's.",
    tried="3 stated, 12 remark",
    cases=zip((3, 0, 2), (-math.sqrt(3), -math.sqrt(2), -7 / math.sqrt(17)), strict=True),
)
def example_milder(last: int, printed: float) -> Trials:
    """With the three sets of the text, Poly-EPO's penalty for y₃, wrong but of a new strategy, is
    milder than GRPO's.
    """
    grpo = standardised(REWARDS)[2]
    score = scores.polychromic(REWARDS, example(last))
    found = standardised(list(deviation(score, 2)(GROUP)))[2]
    yield remark(abs(found - printed) < 1e-12)
    yield remark(found >= grpo - 1e-12)
    drawn = from_sets(score, DESIGN)(GROUP)
    milder = standardised(list(drawn))[2]
    yield stated(milder, grpo + 1e-12, y4=last, poly_epo=milder, grpo=grpo)
    yield remark(rounds_to(milder, -1.265, 3))
    shared = from_sets(scores.polychromic(REWARDS, (0, 1, 0, last)), DESIGN)(GROUP)
    yield remark((drawn[2], shared[2]) == (Fraction(-1, 3), Fraction(-1, 2)))


@claim(
    "tutorial-example-artefact",
    TUTORIAL,
    "Set RL, worked example, with 'a random sample provides an unbiased estimate'",
    Verdict.HOLDS,
    compares=("mean over 20 collections", "=", "2/5 of the advantage with all sets"),
    how="All 20 collections of three of the six sets: their mean advantages are proportional to "
    "the advantages from all sets, for each strategy of y₄.",
    truth="y₁, correct, gets −1/6 by chance: over the 20 collections it is positive in 7, "
    "negative in 7, zero in 6, and 0 with all sets.",
    tried="3 stated, 2 remark",
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
    if last == 0:
        first = [a[0] for a in drawn]
        counts = [
            sum(a > 0 for a in first),
            sum(a < 0 for a in first),
            first.count(Fraction(0)),
        ]
        yield remark(counts == [7, 7, 6])
        yield remark(every[0] == 0)


@claim(
    "tutorial-flip",
    TUTORIAL,
    "Set RL, worked example, last sentence",
    Verdict.HOLDS,
    compares=("largest A over n", ">", 0),
    how="A wrong sample with its own strategy next to 3…7 correct samples of another, all sets, "
    "every n.",
    truth="For n ≥ 3 it is positive; for n = 2 it is 0.",
    tried="5 stated, 10 remark",
    nearest="1/36",
    cases=product(range(4, 9)),
)
def flips_positive(num: int) -> Trials:
    """In larger sets with more correct members a wrong, unique sample can have A > 0."""
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
    how="f of a set of three correct and y₈; U and u − U over all 70 sets of four.",
    truth="Baseline 5/16; A(y₈) = +1/16 and −1/112 for each correct one; −1/32 if y₈ is "
    "degenerate. Positive for n = 3…7, 0 for n = 2.",
    tried="1 stated, 7 remark",
    nearest="1/16",
)
def eight_samples() -> Trials:
    """Sets of y₈ and three correct samples score 0.375, which exceeds the baseline ($q)."""
    rewards, strategies = (*[1] * 7, 0), (*[0] * 7, 1)
    score = scores.polychromic(rewards, strategies)
    baseline = average([score(s) for s in all_sets(8, 4)])
    value, found = score((0, 1, 2, 7)), _lone_wrong(8, 4)
    yield remark(value == Fraction(3, 8) > baseline)
    yield stated(found[7], f=value, U=baseline, A=found[7])
    yield remark(baseline == Fraction(5, 16))
    yield remark(found[7] == Fraction(1, 16))
    yield remark(found[0] == Fraction(-1, 112))
    degenerate = scores.polychromic(rewards, (*[0] * 7, scores.DEGENERATE))
    yield remark(deviation(degenerate, 4)(tuple(range(8)))[7] == Fraction(-1, 32))
    signs = [_lone_wrong(8, n)[7] for n in range(2, 8)]
    yield remark(signs[0] == 0)
    yield remark(min(signs[1:]) > 0)


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
    truth="The text gives the diversity as 4/8. With m new strategies among the wrong ones "
    "it is (4 + m)/16, up to 0.5.",
    tried="5 stated, 5 remark",
)
def four_of_eight() -> Trials:
    """A set of 8 with 4 correct of 4 different strategies, and no fifth strategy: $q."""
    rewards = (1, 1, 1, 1, 0, 0, 0, 0)
    for new in range(5):
        strategies = (0, 1, 2, 3, *(4 + k if k < new else 0 for k in range(4)))
        found = scores.polychromic(rewards, strategies)(tuple(range(8)))
        yield remark(found == Fraction(4 + new, 16), new_strategies=new)
    for strategy in (0, 1, 2, 3, scores.DEGENERATE):
        added = scores.polychromic(rewards, (0, 1, 2, 3, *[strategy] * 4))
        yield stated(added(tuple(range(8))), wrong_in=strategy)


@claim(
    "tutorial-best-set",
    TUTORIAL,
    "Polychromic objective",
    Verdict.HOLDS,
    compares=("f = 1", "exactly if", "all are correct and all differ"),
    how="Every set of up to four members: f = 1 exactly if all are correct and all differ.",
    tried="4328 stated, 4328 remark",
    cases=product((2, 3, 4)),
)
def best_set(size: int) -> Trials:
    """$q; f ≤ 1."""
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
    how="A set of n with four correct members of A already, k correct and C strategies among the "
    "n − 1 others: the score with a correct fifth A, and with an E that succeeds with chance s.",
    truth="Exactly if s > (C − k)/(C + 1). From n = 9 on it can be worth less.",
    tried="58 stated, 406 remark",
    cases=product(range(6, 13), (Fraction(1, 10), Fraction(1, 2))),
)
def fifth_copy(size: int, success: Fraction) -> Trials:
    """In sets of 8 and smaller, $q, even if E succeeds less often."""
    for right, kinds in _fillings(size - 5):
        k, strategies = 4 + right, 1 + kinds
        copy = Fraction(k + 1, size) * Fraction(strategies, size)
        novel = (k + success) / size * Fraction(strategies + 1, size)
        yield remark((novel > copy) == (success > Fraction(strategies - k, strategies + 1)))
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
    how="(0 − 0.9)/√(0.9·0.1), and the score of three correct samples of different strategies "
    "with a wrong one of a fourth.",
    tried="1 stated, 1 remark",
)
def ninety_percent() -> Trials:
    """At 90 % accuracy, for a wrong sample, and for three correct samples of other strategies with
    a wrong one: $q.
    """
    z = standardised((*[1] * 9, 0))[9]
    value = scores.polychromic((1, 1, 1, 0))((0, 1, 2, 3))
    yield remark(abs(z + 3) < 1e-6)
    yield stated([z, value], z=z, f=value)


@claim(
    "tutorial-ninety-percent-credit",
    TUTORIAL,
    "Decomposition, at 90 % accuracy",
    Verdict.FAILS,
    compares=("A of the wrong sample", ">", 0),
    how="N = 10, nine correct samples in every partition into three or more strategies, n = 4, all "
    "sets: u − U of the wrong one.",
    truth="Negative in all but two of the 25 partitions, (7, 1, 1) and (6, 2, 1), and "
    "positive where all correct samples share a strategy.",
    counterexample="strategies=(5, 3, 1), A=-1/210",
    tried="23 of 25 stated, 4 corrected",
    nearest="1/560",
)
def ninety_percent_credit() -> Trials:
    """A wrong sample of a new strategy gets credit for joining correct ones of different
    strategies.
    """
    several = [sizes for sizes in sorted(_partitions(9), key=len) if len(sizes) >= 3]
    found = {sizes: _wrong_beside(sizes) for sizes in several}
    for sizes, a in found.items():
        yield stated(a, strategies=sizes, A=a)
    positive = sorted(sizes for sizes, a in found.items() if a > 0)
    yield corrected(len(found) == 25)
    yield corrected(positive == [(6, 2, 1), (7, 1, 1)])
    yield corrected(sum(a < 0 for a in found.values()) == 23)
    yield corrected(_wrong_beside((9,)) > 0)


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
    compares=("A at 30 %", "<", "0 < A at 60 %"),
    how="Standard RL on two strategies that succeed with chance 0.6 and 0.3: signs of d log π/dα "
    "at every policy with denominator ≤ 20.",
    tried="127 stated, 127 remark",
    cases=product(policies(2, 20)),
)
def two_strategies(p: Policy) -> Trials:
    """Under standard RL, for strategies that work on 60 % and on 30 %: $q."""
    rewards = (Fraction(3, 5), Fraction(3, 10))
    found = advantages(scores.mean(rewards), p, 1)
    yield remark(found[0] > 0)
    yield stated(found[1], Fraction(0), π=p, A=found)


@claim(
    "tutorial-same-advantage",
    TUTORIAL,
    "Opening, the root cause",
    Verdict.HOLDS,
    compares=("set advantage of B", ">", "set advantage of the fifth A"),
    how="Five correct A, one correct B and two wrong A: r − mean, and u − U of the polychromic "
    "objective for n = 2…7.",
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
    compares=("C(32, 8)", "=", 10518300),
    how="Integer arithmetic.",
    truth="10,518,300.",
    tried="1 stated, 1 remark",
)
def number_of_sets() -> Trials:
    """There are about 10 million sets of 8 out of 32 ($q)."""
    yield remark(comb(32, 8) // 10**6 == 10)
    yield stated(comb(32, 8), sets=comb(32, 8))


@claim(
    "tutorial-pass-32",
    TUTORIAL,
    "Opening, the concrete example",
    Verdict.HOLDS,
    compares=("chance of success", ">", 0.999),
    how="1 − (4/5)^32 in fractions.",
    truth="0.99921. By the same formula two strategies at 45 % reach 1 − 5·10⁻⁹: it does "
    "not show the loss of coverage.",
    tried="1 stated, 2 remark",
    nearest="0.0002077",
)
def pass_at_32() -> Trials:
    """With a success rate of 20 %, one of 32 samples succeeds: $q."""
    found = 1 - Fraction(4, 5) ** 32
    collapsed = 1 - Fraction(11, 20) ** 32
    yield stated(found, pass_at_32=float(found))
    yield remark(round(float(found), 5) == 0.99921)
    yield remark(round(float(1 - collapsed), 9) == 5e-9)


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
    how="For each row a mixture of problems with three success rates, multiples of 1/20, and of "
    "problems that are never solved, whose pass@1, @8 and @32 are the printed ones, in fractions. "
    "The same search finds none for the made-up row 15, 20, 90.",
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
    yield remark(_mixture({1: 15, 8: 20, 32: 90}) is None)


def _mixture(row: dict[int, int]) -> dict[Fraction, Fraction] | None:
    """Return success rate → share of problems, such that pass@k is the row's; the rest fail."""
    wanted = [Fraction(value, 100) for value in row.values()]
    for rates in combinations([Fraction(step, 20) for step in range(1, 21)], len(row)):
        shares = solve([[1 - (1 - rate) ** k for rate in rates] for k in row], wanted)
        if min(shares) >= 0 and sum(shares) <= 1:
            return dict(zip(rates, shares, strict=True))
    return None
