"""Gold answers held against samples: published labels, and problems that cannot be graded."""

import json
from pathlib import Path

import pytest

from setrl.rewards.answers import MathVerifier
from setrl.rewards.problem import Problem
from setrl.support.errors import DataError

DATA = Path(__file__).parents[1] / "data" / "generations_math_20x8.jsonl"


@pytest.fixture(scope="module")
def verifier():
    return MathVerifier()


def test_the_published_labels_of_160_samples_but_one(verifier):
    """The one: 10000 is labelled wrong where the gold is 10{,}000."""
    differences, labels = [], 0
    for line in DATA.open(encoding="utf-8"):
        row = json.loads(line)
        readings = verifier(row["answer"], [sample["end"] for sample in row["samples"]])
        for sample, reading in zip(row["samples"], readings, strict=True):
            labels += 1
            if reading.correct != sample["correct"]:
                differences.append((row["answer"], reading.answer, reading.correct))
    assert labels == 160
    assert differences == [("10{,}000", "10000", True)]


def test_a_reading_says_why_a_sample_is_wrong(verifier):
    right, wrong, none = verifier("7", ["\\boxed{7}", "\\boxed{8}", "7"])
    assert (right.correct, right.answer, right.reason) == (True, "7", "")
    assert (wrong.correct, wrong.answer, wrong.reason) == (False, "8", "different")
    assert (none.correct, none.answer, none.reason) == (False, None, "no box")


def test_a_gold_that_cannot_be_graded_is_no_wrong_sample(verifier):
    with pytest.raises(DataError, match="gold ' ' cannot be used for grading"):
        verifier(" ", ["\\boxed{7}"])


@pytest.mark.parametrize(
    ("gold", "box", "correct"),
    [
        ("166", "166", True),
        ("166", "166\\text{ cm}^2", True),
        ("166", "166\\,\\mathrm{cm}^2", True),
        ("166", "166 cm^2", True),
        ("166", "167 cm^2", False),
        ("\\frac{600}{7}", "\\frac{600}{7}\\text{ km/h}", True),
        ("\\frac{600}{7}", "\\frac{600}{11}\\text{ km/h}", False),
    ],
)
def test_where_a_unit_is_named_it_may_be_given_or_left_out(verifier, gold, box, correct):
    (reading,) = verifier.read(Problem("", gold=gold, unit="cm^2"), [f"\\boxed{{{box}}}"])
    assert reading.correct == correct
    (strict,) = verifier(gold, [f"\\boxed{{{box}}}"])
    assert strict.correct == (correct and box == gold)


@pytest.mark.parametrize(
    ("box", "correct"),
    [
        ("4.3", True),
        ("4.1", True),
        ("\\frac{17}{4}", True),
        ("4.15\\%", True),
        ("4.31", False),
        ("4.1,4.2", False),
        ("4.1+0.1", False),
        ("x", False),
    ],
)
def test_where_an_error_is_allowed_numbers_within_it_are_right(verifier, box, correct):
    problem = Problem("", gold="4.2", unit="%", error=0.1)
    (reading,) = verifier.read(problem, [f"\\boxed{{{box}}}"])
    assert reading.correct == correct
    assert bool(reading.reason) != correct
    (strict,) = verifier("4.2", [f"\\boxed{{{box}}}"])
    assert not strict.correct
