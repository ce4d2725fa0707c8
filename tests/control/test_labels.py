"""Labels of trajectories."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest
import torch

from setrl import DEGENERATE
from setrl.control import labels
from setrl.control.trajectories import Trajectory


def trajectory(*infos):
    """A trajectory that only its infos tell from others."""
    steps = len(infos) - 1
    return Trajectory(
        np.zeros((steps + 1, 1)), np.zeros(steps), np.zeros(steps), infos, True, False
    )


def test_visited_is_the_set_of_places_with_the_start():
    label = labels.visited("room")
    there = trajectory({"room": 0}, {"room": 1}, {"room": 0})
    back = trajectory({"room": 1}, {"room": 1}, {"room": 0})
    assert label(there) == label(back) == frozenset({0, 1})
    assert label(trajectory({"room": 0}, {"room": 0})) != label(there)
    assert label(trajectory({}, {})) == DEGENERATE


def test_final_looks_at_the_last_step_alone():
    assert labels.final("goal")(trajectory({"goal": 3}, {"goal": None})) == DEGENERATE
    assert labels.final("goal")(trajectory({}, {"goal": 0})) == 0


def test_equal_labels_have_one_number():
    found = labels.numbers_of([frozenset({1, 2}), -1, frozenset({2, 1}), "other", None])
    np.testing.assert_array_equal(found, [0, DEGENERATE, 0, 1, np.nan])


@pytest.mark.parametrize("wrong", [[1], b"1", 1j, datetime.date(2026, 1, 1), torch.tensor([1, 2])])
def test_what_is_no_label_anywhere_is_none_here(wrong):
    with pytest.raises(ValueError, match="labels must be tuples, frozensets, names or integers"):
        labels.numbers_of([wrong, 1])


def test_a_decimal_is_the_label_of_its_number():
    np.testing.assert_array_equal(labels.numbers_of([Decimal(1), 1, "1", (1,)]), [0, 0, 0, 1])


def test_vines_with_equal_first_actions_have_one_number():
    def acting(*actions):
        taken = np.array(actions)
        return Trajectory(np.zeros(1), taken, np.zeros(len(taken)), (), True, False)

    row = [acting([1.0, 2.0], [0.0, 0.0]), acting([1.0, 3.0]), acting(), acting([1.0, 2.0])]
    np.testing.assert_array_equal(labels.first_actions([row, row]), [[0, 1, -1, 0]] * 2)
