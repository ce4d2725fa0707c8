"""Objectives that users write: which fields their functions get."""

import numpy as np
import pytest

from setrl import objectives, set_advantages

REWARDS = np.array([[1.0, 0, 0, 5, -2]])
RIGHT = np.array([[1, 0, 0, 0, 0]])
LABELS = np.array([[0, 1, 1, 0, 2]])


def credit(objective):
    found = set_advantages(
        REWARDS, objective=objective, set_size=2, correct=RIGHT, strategies=LABELS
    )
    return found.values_BN[0]


def test_a_parameter_that_names_a_field_gets_the_field():
    """Rewards are no outcomes: a function of `correct` was given −2 and 5."""
    by_name = credit(objectives.from_function(lambda correct: correct.mean(-1)))
    by_reads = credit(objectives.from_function(lambda x: x.mean(-1), reads=("correct",)))
    assert by_name == pytest.approx(by_reads.tolist())
    assert by_name[3] == by_name[4] < by_name[0]


def test_several_parameters_are_read_in_their_order():
    def apart(strategies, rewards):
        return (strategies[..., 0] != strategies[..., 1]) * rewards.sum(-1)

    assert objectives.from_function(apart).reads == ("strategies", "rewards")
    assert np.isfinite(credit(objectives.from_function(apart))).all()


def test_several_parameters_that_name_no_field_are_asked_for():
    with pytest.raises(ValueError, match=r"takes a, b: say which fields these are, such as reads="):
        objectives.from_function(lambda a, b: a.sum(-1))


def test_one_parameter_of_another_name_gets_the_rewards():
    assert objectives.from_function(lambda r, power=2: (r**power).sum(-1)).reads == ("rewards",)
    assert objectives.from_function(np.max).reads == ("rewards",)
