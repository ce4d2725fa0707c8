"""Poly-EPO tutorial: its numbers and its results table."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from math import comb

from claims.claims import Trials, Verdict, claim, corrected, remark, stated
from claims.documents import TUTORIAL

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
    how="Integer arithmetic.",
    truth="10,518,300.",
)
def number_of_sets() -> Trials:
    """There are about 10 million sets of 8 out of 32."""
    yield stated(
        round(comb(32, 8) / 1e6) in (10, 11) and comb(32, 8) == 10_518_300, sets=comb(32, 8)
    )


@claim(
    "tutorial-pass-32",
    TUTORIAL,
    "Opening, the concrete example",
    Verdict.HOLDS,
    how="1 − (4/5)^32 in fractions.",
    truth="0.99921. By the same formula two strategies at 45 % reach 1 − 5·10⁻⁹: the formula does "
    "not show the loss of coverage, which is all in the factor that the text leaves open.",
)
def pass_at_32() -> Trials:
    """With a success rate of 20 %, one of 32 samples succeeds with high probability."""
    found = 1 - Fraction(4, 5) ** 32
    collapsed = 1 - Fraction(11, 20) ** 32
    yield stated(found > Fraction(999, 1000), pass_at_32=float(found))
    yield remark(round(float(found), 5) == 0.99921 and 0 < 1 - collapsed < 1e-8)


@claim(
    "tutorial-crossing",
    TUTORIAL,
    "Opening, with the results table",
    Verdict.FAILS,
    how="The printed rows for k = 8 and 32.",
    counterexample="k=8, base=44, grpo=50",
    truth="In the table GRPO still leads the base model at k = 8, 50 % to 44 %, and is behind at "
    "32.",
)
def crossing() -> Trials:
    """The GRPO model ties with the base model at k = 4 and loses at larger k."""
    for k in (8, 32):
        base, grpo = TABLE["base"][k], TABLE["grpo"][k]
        yield stated(grpo < base, k=k, base=base, grpo=grpo)
    yield corrected(TABLE["grpo"][8] > TABLE["base"][8] and TABLE["grpo"][32] < TABLE["base"][32])


@claim(
    "tutorial-up-to-20",
    TUTORIAL,
    "Summary, pass@k improvement, with the results table",
    Verdict.FAILS,
    how="The printed row for k = 32.",
    counterexample="poly_epo=82, grpo=58, points=24",
    truth="24 points in the table, 41 % in relative terms.",
)
def up_to_twenty() -> Trials:
    """Poly-EPO is up to 20 % better than GRPO at k = 32."""
    poly, grpo = TABLE["poly_epo"][32], TABLE["grpo"][32]
    yield stated(poly - grpo <= 20, poly_epo=poly, grpo=grpo, points=poly - grpo)
    yield corrected(poly - grpo == 24 and round(100 * (poly - grpo) / grpo) == 41)


@claim(
    "tutorial-table-possible",
    TUTORIAL,
    "Results table",
    Verdict.HOLDS,
    how="log of the failure rate is convex in k for any mixture of prompts, E(1−p)^k: slopes of "
    "each row between k = 1, 8, 32.",
    truth="A necessary condition only; the values themselves cannot be checked here.",
)
def table_is_possible() -> Trials:
    """Each row can be the pass@k of some distribution of success rates."""
    for name, row in TABLE.items():
        slopes = _failure_slopes(row)
        yield stated(slopes == sorted(slopes) and slopes[-1] < 0, row=name, slopes=tuple(slopes))
    impossible = _failure_slopes({1: 15, 8: 20, 32: 90})
    yield remark(impossible != sorted(impossible))


def _failure_slopes(row: dict[int, int]) -> list[float]:
    """Slopes of log(1 − pass@k) between neighbouring k."""
    points = [(k, math.log(1 - value / 100)) for k, value in row.items()]
    return [(b - a) / (j - i) for (i, a), (j, b) in pairwise(points)]
