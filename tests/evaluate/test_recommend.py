"""Which row of the decision table holds, and what the groups show."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from setrl.core import methods
from setrl.evaluate.recommend import (
    FEWEST,
    alike,
    in_python,
    recommendation_text,
    row_of,
    shown,
)
from setrl.support.errors import DataError
from setrl.train import method_config
from tests.logs.reading import evaluation_from

CHOOSING = Path(__file__).parents[2] / "docs" / "choosing.md"
ROWS = [
    ("ab", [1, 0, 1, 1], ["x", "x", "y", None]),
    ("cd", [0, 0, 1, 0], ["y", "z", "x", "x"]),
    ("ef", [1, 1, 0, 1], ["x", -1, "y", "y"]),
    ("gh", [0, 1, 1, 1], ["z", "y", "x", "x"]),
    ("ij", [1, 0, 0, 1], ["x", "x", "x", "y"]),
]


def evaluation(rows=ROWS, answers=None):
    answers = answers or [[None] * len(right) for _, right, _ in rows]
    return evaluation_from([(*row, of) for row, of in zip(rows, answers, strict=True)])


def right_in(hundredths, strategies=("x", "y")):
    """Five prompts of 100 samples, with this share of right ones."""
    right = [1] * hundredths + [0] * (100 - hundredths)
    labels = [strategies[i % len(strategies)] for i in range(100)]
    return evaluation([(name, right, labels) for name in "abcde"])


CASES = [  # share of right samples, goal, labels → row, methods
    (4, "pass@1", "xy", 1, []),
    (5, "pass@1", "xy", 2, ["grpo"]),
    (30, "pass@k", "xy", 3, ["maxpo"]),
    (34, "pass@k", "xy", 6, ["concave_counts", "poly_epo"]),
    (90, "strategies", [None], 5, ["grpo"]),
    (49, "mostly-pass@1", "xy", 6, ["concave_counts", "poly_epo"]),
    (50, "mostly-pass@1", "xy", 8, ["poly_epo"]),
    (50, "strategies", "xy", 9, ["concave_counts"]),
]


@pytest.mark.parametrize(("share", "goal", "labels", "number", "names"), CASES)
def test_the_first_row_that_holds_in_the_words_of_the_page(share, goal, labels, number, names):
    found = shown(right_in(share, labels), 16)
    row = row_of(found, goal)
    assert (row.number, [one["method"] for one in row.methods]) == (number, names)
    for config in row.methods:
        method = method_config.from_config(config)
        method.check_samples(16)
        assert eval(in_python(config), {"methods": methods}) == method
    plain = re.sub(r"\*\*|\[([^\]]*)\]\([^)]*\)", r"\1", CHOOSING.read_text("utf-8"))
    assert f"| {number} | {row.holds} | {row.do}" in plain
    assert recommendation_text(found, row, "setrl credit …").startswith(
        f"row {number} of the table"
    )


def test_labels_that_are_answers():
    labels = [of for _, _, of in ROWS]
    assert shown(evaluation(answers=labels), 4).are_answers
    assert row_of(shown(evaluation(answers=labels), 4)).number == 5
    other = [["1", "1", "1", None], *labels[1:]]
    assert not shown(evaluation(answers=other), 4).are_answers
    one_answer = [["1"] * 4] * 5  # each prompt has one strategy, too: this says nothing
    alone = [(name, right, ["x"] * 4) for name, right, _ in ROWS]
    assert not shown(evaluation(alone, one_answer), 4).are_answers


def test_the_figures_are_those_of_the_definition():
    found = shown(evaluation(), 3)
    shares = []
    for _, right, _ in ROWS:
        drawn = list(combinations(right, 3))
        shares.append(np.mean([len(set(group)) == 1 for group in drawn]))
    assert found.alike == pytest.approx(np.mean(shares))
    assert found.success.value == pytest.approx(12 / 20)
    assert found.degenerate == pytest.approx(1 / 19)  # a null is unknown, and no −1
    assert found.right_strategies == {1: 1, 2: 3}  # the right samples of one prompt have no label
    assert found.top_share.value == pytest.approx(np.mean([2 / 3, 2 / 4, 2 / 4, 2 / 4, 3 / 4]))
    assert np.isnan(shown(evaluation(), 9).alike)  # no prompt has so many


def test_right_samples_without_a_label_are_not_samples_without_a_strategy():
    unlabelled = [(name, right, [None] * 4) for name, right, _ in ROWS[:3]]
    found = shown(evaluation([*unlabelled, *ROWS[3:]]), 4)
    assert found.right_strategies == {2: 2}
    said = recommendation_text(found, row_of(found), "")
    assert "right strategies that a prompt shows: 2 in 2 of 2 prompts" in said


def test_prompts_with_too_few_samples_do_not_count_as_alike():
    """Groups of 4 cannot be drawn from 2 samples, although these are all right."""
    found = shown(evaluation([*ROWS, ("kl", [1, 1], ["x", "y"])]), 4)
    assert (found.prompts, found.alike_prompts, found.samples) == (6, 5, (2, 4))
    assert found.alike == 0
    assert "of the 5 prompts with at least 4 samples" in recommendation_text(
        found, row_of(found), ""
    )
    assert alike(np.array([1, 4]), np.array([4, 4]), 2).tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("rate", "size", "wanted"), [(30, 16, 2), (10, 32, 9), (10, 8, 3), (5, 4, 1)]
)
def test_the_set_size_of_pass_k_is_nearly_the_one_with_least_noise(rate, size, wanted):
    from studies.noise import quietest_set_size, relative_variance

    chosen = shown(right_in(rate), size).quiet_set_size
    assert chosen == wanted
    least = relative_variance(rate / 100, size, quietest_set_size(rate / 100, size))
    assert relative_variance(rate / 100, size, chosen) < 1.3 * least


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[: FEWEST - 1], "too few prompts to say something about others: 4"),
        ([(p, [1], ["x"]) for p in "abcdef"], "every prompt has one sample"),
        ([(p, [0, 0], ["x", "y"]) for p in "abcdef"], "all 12 samples are wrong.*easier problems"),
        ([(p, [1, 1], ["x", "y"]) for p in "abcdef"], "all 12 samples are right"),
    ],
)
def test_groups_that_say_nothing_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        shown(evaluation(rows), 4)
