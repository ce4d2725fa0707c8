"""Equal final answers: what is read as the answer, and what stays unchanged."""

import json
from collections import Counter
from pathlib import Path

import pytest

from setrl.judges import Group
from setrl.judges.exact import ExactJudge, final_answer

DATA = Path(__file__).parents[1] / "data"
SVAMP = DATA / "generations_svamp_2x30.jsonl"
MATH = DATA / "generations_math_20x8.jsonl"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("so \\boxed{3}.\n Then \\boxed{ 4 }.", "4"),
        (r"\boxed{x=1} or \boxed{x=2}", "x=1, x=2"),
        (r"\boxed{\frac{\sqrt{2}}{3}}", r"\frac{\sqrt{2}}{3}"),
        (r"\boxed {\{1, 2\}} is the set", r"\{1, 2\}"),
        (r"\fbox{x}", "x"),
        (r"\boxed{1} but wait, \boxed{2", None),  # cut off inside its last box
        (r"\boxed{}", None),
        ("step 1\n\n  THE answer: $12$.  \n \n", "the answer: $12"),
        ("４２", "42"),
        ("  \n ", None),
        ("", None),
    ],
)
def test_the_answer_is_the_last_box_or_the_last_line(text, answer):
    assert final_answer(text) == answer


def test_many_braces_are_read_once():
    deep = "\\boxed{" + "{" * 50_000 + "7" + "}" * 50_000 + "}"
    assert final_answer(deep) == "{" * 50_000 + "7" + "}" * 50_000
    assert final_answer("\\boxed{" + "{" * 100_000) is None


def test_labels_are_equal_keys_in_order_of_appearance():
    group = Group.of_texts("", ("b", "a", " B.", "", "c", "a"))
    (judgement,) = ExactJudge().judge([group])
    assert judgement.labels_N == (0, 1, 0, -1, 2, 1)
    assert judgement.names_N == ("b", "a", "b", None, "c", "a")
    assert judgement.reason is None


def test_a_key_of_one_s_own_may_be_anything_hashable():
    judge = ExactJudge(key=lambda text: len(text) if text else None)
    judgements = judge.judge([Group.of_texts("", ("aa", "bb", "c", "")), Group.of_texts("", ())])
    assert [one.labels_N for one in judgements] == [(0, 0, 1, -1), ()]


def test_finals_that_were_published_are_sorted_as_they_are_counted():
    lines = SVAMP.read_text().split("\n")
    for record in map(json.loads, filter(None, lines)):
        finals = tuple(final or "" for final in record["finals"])
        (judgement,) = ExactJudge().judge([Group.of_texts(record["problem"], finals)])
        sizes = Counter(judgement.labels_N)
        assert sorted(sizes.values()) == sorted(Counter(finals).values())


def test_full_solutions_are_together_when_they_are_equally_right():
    for record in map(json.loads, filter(None, MATH.read_text().split("\n"))):
        ends = tuple(sample["end"] for sample in record["samples"])
        (judgement,) = ExactJudge().judge([Group.of_texts("", ends)])
        assert -1 not in judgement.labels_N
        right = [sample["correct"] for sample in record["samples"]]
        labels_of_right = {n for n, ok in zip(judgement.labels_N, right, strict=True) if ok}
        labels_of_wrong = {n for n, ok in zip(judgement.labels_N, right, strict=True) if not ok}
        assert len(labels_of_right) <= 1
        assert not labels_of_right & labels_of_wrong
