"""Poly-EPO tutorial: the worked example with four samples, recomputed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from claims import scores
from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import TUTORIAL
from claims.exact import average
from claims.exact_credit import Design, all_sets, deviation, from_sets

# y₁…y₄ of "Solve x² + 3x + 2 = 0". The list is missing from the text. With y₃ wrong, as it says,
# its scores leave only this reading, but for the cluster of y₄: y₁'s (0), y₃'s (2) or its own (3).
REWARDS = (1, 1, 0, 1)
DESIGN: Design = ((0, 2), (1, 3), (0, 1))  # S₁, S₂, S₃
LAST_CLUSTERS = (0, 2, 3)
GROUP = (0, 1, 2, 3)


def example(last: int) -> tuple[int, ...]:
    """The clusters of y₁…y₄."""
    return (0, 1, 2, last)


def standardised(numbers: Sequence[Fraction | int], ddof: int = 0) -> list[float]:
    """Numbers less their mean over their standard deviation."""
    mean = sum(numbers) / Fraction(len(numbers))
    spread = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - ddof))
    return [float(x - mean) / spread for x in numbers]


def close(found: Fraction | float, said: float, digits: int = 3) -> bool:
    """Whether the printed number is the found one, up to one unit of its last digit."""
    return abs(float(found) - said) < 10.0**-digits


@claim(
    "tutorial-example-sets",
    TUTORIAL,
    "Set RL, worked example (N = 4, n = 2, K = 3)",
    Verdict.HOLDS,
    how="The three sets scored with fractions, for the three clusters that y₄ can have.",
    truth="5/6; −1/3, 1/6, 1/6.",
)
def example_sets() -> Trials:
    """The baseline is 0.833 and the set advantages are −0.333, +0.167 and +0.167."""
    for last in LAST_CLUSTERS:
        score = scores.polychromic(REWARDS, example(last))
        values = [score(s) for s in DESIGN]
        gaps = [value - average(values) for value in values]
        said = close(average(values), 0.833) and all(map(close, gaps, (-0.333, 0.167, 0.167)))
        yield stated(said, y4=last, baseline=average(values), A=gaps)


@claim(
    "tutorial-example-marginals",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    how="Sums of the set advantages by index.",
    truth="−1/6, 1/3, −1/3, 1/6; the printed −0.166 and +0.334 are sums of rounded numbers.",
)
def example_marginals() -> Trials:
    """The marginal advantages are −0.166, +0.334, −0.333 and +0.167."""
    for last in LAST_CLUSTERS:
        found = from_sets(scores.polychromic(REWARDS, example(last)), DESIGN)(GROUP)
        said = all(map(close, found, (-0.166, 0.334, -0.333, 0.167)))
        yield stated(said, y4=last, A=found)


@claim(
    "tutorial-example-zscore",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.HOLDS,
    how="Three rewards of 1 and one of 0, standardised.",
    truth="−√3, with the standard deviation of a population. GRPO trainers divide by that of a "
    "sample (ddof = 1), which gives −1.5.",
)
def example_zscore() -> Trials:
    """GRPO's z-score of y₃ is about −1.73."""
    found = standardised(REWARDS)[2]
    yield stated(close(found, -1.73, 2), z=found)
    yield remark(close(standardised(REWARDS, ddof=1)[2], -1.5))


@claim(
    "tutorial-example-milder",
    TUTORIAL,
    "Set RL, worked example",
    Verdict.FAILS,
    how="y₃'s advantage over all six sets, standardised as GRPO's is, for each cluster of y₄.",
    counterexample="y4=3, poly_epo=-1.732, grpo=-1.732",
    truth="−1/3 and −1.73 have different units. Standardised, Poly-EPO's is −√2, −1.698 or, "
    "with y₄ in a fourth cluster, −√3: the same as GRPO's. With the three sets of the text it is "
    "−1.265.",
)
def example_milder() -> Trials:
    """Poly-EPO's penalty for y₃, wrong but of a new strategy, is milder than GRPO's."""
    grpo = standardised(REWARDS)[2]
    for last, said in zip(
        (3, 0, 2), (-math.sqrt(3), -math.sqrt(2), -7 / math.sqrt(17)), strict=True
    ):
        score = scores.polychromic(REWARDS, example(last))
        found = standardised(list(deviation(score, 2)(GROUP)))[2]
        yield stated(found > grpo + 1e-12, y4=last, poly_epo=found, grpo=grpo)
        yield corrected(abs(found - said) < 1e-12 and found >= grpo - 1e-12)
        drawn = standardised(list(from_sets(score, DESIGN)(GROUP)))[2]
        yield corrected(close(drawn, -1.265))


@claim(
    "tutorial-example-artefact",
    TUTORIAL,
    "Set RL, worked example, with 'a random sample provides an unbiased estimate'",
    Verdict.HOLDS,
    how="All 20 collections of three of the six sets: their mean advantages are proportional to "
    "those of all sets, for each cluster of y₄.",
    truth="y₁, correct, gets −1/6 by the luck of the draw: over the 20 collections (y₄ in its "
    "cluster) it is positive in 7, negative in 7, zero in 6, and 0 with all sets.",
)
def example_artefact() -> Trials:
    """Scoring K random sets is unbiased for scoring all of them."""
    for last in LAST_CLUSTERS:
        score = scores.polychromic(REWARDS, example(last))
        every = from_sets(score, all_sets(4, 2))(GROUP)
        drawn = [from_sets(score, design)(GROUP) for design in combinations(all_sets(4, 2), 3)]
        mean = [average(column) for column in zip(*drawn, strict=True)]
        scale = Fraction(3 - 1, 6 - 1)
        yield stated(mean == [scale * a for a in every], y4=last, mean=mean, all_sets=every)
        if last == 0:
            first = [a[0] for a in drawn]
            counts = [
                sum(a > 0 for a in first),
                sum(a < 0 for a in first),
                first.count(Fraction(0)),
            ]
            yield remark(counts == [7, 7, 6] and every[0] == 0)
