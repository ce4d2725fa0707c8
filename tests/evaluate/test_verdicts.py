"""Words about two models follow from paired intervals and the band, and claim nothing else."""

import math

import numpy as np
import pytest

from setrl.evaluate.bands import Band
from setrl.evaluate.intervals import Difference, paired_difference
from setrl.evaluate.problems import ungraded_of
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.verdicts import place, runs, strategies_in_words
from setrl.samples.samples import Samples


def band(*signs, ks=None):
    ks = tuple(range(1, len(signs) + 1)) if ks is None else ks
    return Band(ks, signs, tuple(s - 0.5 for s in signs), tuple(s + 0.5 for s in signs), 2, 0.95)


def difference(value, second=2.0, missing=0, reach=0.1):
    ends = value - reach, value + reach
    return Difference(value, *ends, reach / 2, 0.5, 9, missing, second + value, second)


def words(wide, right, over_k, missing=0):
    gaps = {"effective_number": difference(wide), "correct_strategies@4": difference(9),
            "correct_strategies@32": difference(right, 2.27, missing)}  # fmt: skip
    return strategies_in_words("b", "a", gaps, over_k)


@pytest.mark.parametrize(
    ("over_k", "said"),
    [
        (band(1, 1, 0), "above a for k = 1 to 2"),
        (band(-1, -1), "below a at every k"),
        (band(1, 0, -1), "above a for k = 1 and below it for k = 3"),
        (band(0, 0), "not distinguishable from a at any k"),
        (band(math.nan), "not distinguishable from a at any k"),
        (None, "not distinguishable from a at any k"),
        (band(1, 1, 0, ks=(500, 512, 530)), "above a for k = 500 to 512"),
    ],
)
def test_where_a_curve_is_above_another_follows_the_band(over_k, said):
    assert place(over_k, "a") == said


def test_neighbours_are_those_that_were_computed():
    assert runs([1, 3]) == "k = 1, 3"
    assert runs([1, 3], of=[1, 3, 9]) == "k = 1 to 3"


def test_narrower_but_no_worse():
    assert words(-1.19, -0.5, band(1, 1, 0)) == (
        "b uses fewer strategies than a: effective number 0.81 against 2.00 (−1.19 [−1.29, −1.09]),"
        " right strategies in 32 samples 1.77 against 2.27 (−0.50 [−0.60, −0.40]); but it solves no"
        " fewer problems: its pass@k is above the pass@k of a for k = 1 to 2 (all k at once), and "
        "nowhere shown to be below."
    )


def test_fewer_and_more_need_an_interval_without_0():
    assert words(-1, 0, band(-1)).startswith("b uses fewer strategies than a")
    below = words(-1, 0, band(-1))
    assert (
        "; it solves fewer problems: its pass@k is below the pass@k of a at every k (all" in below
    )
    assert words(1, 0, band(1)).startswith("b uses more strategies than a")
    assert "; it solves no fewer problems" in words(1, 0, band(1))
    unclear = words(-0.05, 0, band(0))
    assert unclear.startswith("Whether b uses fewer strategies than a is not clear")
    where = "; its pass@k is not distinguishable from the pass@k of a at any k (all k at once)."
    assert unclear.endswith(where)
    assert words(-1, 0, band(0, 0)).count("problems") == 0  # no claim about them


def test_means_and_their_difference_are_on_the_same_problems():
    said = words(-1.19, -0.5, band(1), missing=3)
    assert "1.77 against 2.27 (−0.50 [−0.60, −0.40], on 9 of 12 problems)" in said
    values = [1.0, 2.0, 4.0], [1.0, 1.0, math.nan]
    found = paired_difference(*values)
    assert (found.first, found.second, found.value, found.missing) == (1.5, 1.0, 0.5, 1)
    assert (found.negated().first, found.negated().second) == (1.0, 1.5)


def test_nothing_is_said_where_strategies_are_not_known():
    assert strategies_in_words("b", "a", {}, band(1)) == ""


def test_the_bounds_enumerate_what_ungraded_samples_may_be():
    mask = np.array([[True, True, False], [True] * 3])
    correct = np.array([[1.0, 0, np.nan], [1, 1, 0]])
    samples = Samples(np.full((2, 3), np.nan), correct=correct, mask=mask, prompts="pq")
    one = Evaluation(samples, ungraded_P=np.array([2, 0]))
    found = ungraded_of([one])
    assert (found.samples, found.of_all) == (2, 7)
    assert found.if_wrong == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert found.if_right == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert ungraded_of([one.choose([1])]) is None
