"""Graders in TRL's interface."""

import json
import pickle
from pathlib import Path

import pytest

from setrl.logs.records import group_of
from setrl.rewards import ChoiceAnswer, ExactAnswer, MathAnswer, NumberAnswer
from setrl.rewards.answers import MathVerifier, why_wrong
from setrl.rewards.problem import Problem
from setrl.samples.types import Group, Sample
from setrl.support.errors import DataError


def test_it_speaks_the_language_of_trl(grader):
    samples = [r"\boxed{2}", [{"role": "assistant", "content": r"\boxed{x+1}"}], "2", r"\boxed{2}"]
    found = grader(
        prompts=["?"] * 4,
        completions=samples,
        completion_ids=[[0]] * 4,
        answer=["2", "1+x", "2", None],
        other=[1, 2, 3, 4],
    )
    assert found == [1.0, 1.0, 0.0, None]
    assert grader.__name__ == "math_answer"


def test_a_column_declares_the_types_of_golds():
    types = {"answer": ["3e-1", "3e-1"], "gold_type": ["number", None]}
    found = MathAnswer()(prompts=["?"] * 2, completions=[r"\boxed{0.3}"] * 2, **types)
    assert found == [1.0, 0.0]


@pytest.mark.parametrize(
    ("kind", "gold", "text"),
    [(NumberAnswer, "7", "so 7"), (ChoiceAnswer, "B", "(B)"), (ExactAnswer, "a", "A.")],
)
def test_each_grader_is_a_reward(kind, gold, text):
    reward = kind(gold="right")
    found = reward(prompts=["?"] * 3, completions=[text, "9", text], right=[gold, gold, None])
    assert found == [1.0, 0.0, None]


def test_the_column_of_golds_is_named_where_it_is_missing():
    with pytest.raises(ValueError, match="in the column 'gold', but the columns are: answer"):
        NumberAnswer("gold")(prompts=["?"], completions=["1"], answer=["1"])


def test_a_column_without_golds_is_missing():
    with pytest.raises(ValueError, match="in the column 'answer'"):
        MathAnswer()(prompts=["?"], completions=["1"], answer=None)


def test_there_is_one_gold_for_each_sample():
    with pytest.raises(ValueError, match="one gold for each of 1 samples, got 2"):
        MathAnswer()(prompts=["?"], completions=["1"], answer=["1", "2"])


def test_a_reward_is_a_value():
    again = pickle.loads(pickle.dumps(MathAnswer(gold="solution")))
    assert again == MathAnswer(gold="solution") != MathAnswer()


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


@pytest.mark.parametrize(
    ("text", "gold", "correct", "why"),
    [
        (r"So \boxed{(1,3)}", "(1,2)", False, "entry 2 differs: the number 3 is not 2"),
        (r"So \boxed{(1,2)}", "(1,2)", False, None),  # another reward decided
        (r"So \boxed{(1,3)}", "(1,2)", True, None),
        (r"So \boxed{(1,3)}", None, False, None),
        ("So 3", "(1,2)", False, None),
        ("", "(1,2)", False, None),
    ],
)
def test_it_says_why_only_where_the_grader_found_it(text, gold, correct, why):
    sample = Sample(text, correct)
    assert why_wrong(Group("1", "prompt", (sample,), gold), sample) == why


def test_a_rollout_keeps_its_gold():
    record = {"prompt": "p", "gold": "4", "n": 1, "texts": [r"\boxed{5}"], "correct": [0]}
    group = group_of(record, "file:1")
    assert why_wrong(group, group.samples[0]) == "the number 5 is not 4"
