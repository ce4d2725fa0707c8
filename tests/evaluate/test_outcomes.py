"""Outcomes of control runs: means over seeds, and the sentences about them."""

import math

import pytest

from setrl.evaluate.outcomes import outcome_table, over_seeds, unbeaten


def arms(**values):
    return {
        name: {seed: {"success": s, "effective_goals": g} for seed, (s, g) in enumerate(rows)}
        for name, rows in values.items()
    }


def test_the_mean_and_its_standard_error_are_over_known_seeds():
    found = over_seeds([1.0, math.nan, 2.0, 4.5])
    assert found.value == pytest.approx(2.5)
    assert found.stderr == pytest.approx(math.sqrt((2.25 + 0.25 + 4) / 2 / 3))
    assert found.low == pytest.approx(found.value - found.stderr)
    assert math.isnan(over_seeds([1.0]).stderr)
    assert math.isnan(over_seeds([]).value)


def test_the_sentences_name_the_best_and_those_that_no_arm_beats():
    found = outcome_table(
        arms(sure=[(1.0, 1.0)] * 5, varied=[(0.9, 4.0)] * 5, neither=[(0.8, 3.0)] * 5)
    )
    assert found["verdict"] == [
        "sure has the highest success: 1, with effective goals 1.",
        "varied has the highest effective goals: 4, with success 0.9.",
        "No other arm is at least as good as any of sure and varied in both success and effective "
        "goals.",
    ]


@pytest.mark.parametrize(("seeds", "words"), [(1, "one seed"), (3, "3 seeds"), (5, None)])
def test_few_seeds_are_said(seeds, words):
    rows = {name: [(0.5, 1.0 + i)] * seeds for i, name in enumerate("ab")}
    last = outcome_table(arms(**rows))["verdict"][-1]
    if words is None:
        assert "luck" not in last
    else:
        assert last == f"The means are over {words}: small differences may be luck."


def test_an_arm_without_a_value_beats_nobody_and_is_not_named():
    assert unbeaten({"a": (math.nan, 9.0), "b": (1.0, 1.0)}) == ["b"]
    assert unbeaten({"a": (1.0, 1.0), "b": (1.0, 1.0)}) == ["a", "b"]


def test_an_arm_without_evaluations_is_in_no_table():
    assert outcome_table({"arm": {0: {}}})["arms"] == []
