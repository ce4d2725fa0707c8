"""The credit of a set critic: its mean is the set advantage, by enumeration in fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from setrl import methods, objectives
from setrl.core.advantages import Method
from setrl.theory import ActionTable, TabularObjective
from setrl.theory.trees import SetMDP
from studies.set_critic.outcomes import Outcome, Outcomes, SetCritic, credit, draw

# A state with two actions; each leads to other outcomes: two strategies and a failure.
POLICY_A = (Fraction(1, 4), Fraction(3, 4))
CHANCES_AV = (
    (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
    (Fraction(1, 5), Fraction(0), Fraction(4, 5)),
)
ENDS = (Outcome(1.0, "left"), Outcome(1.0, "right"), Outcome(0.0, None))
CHANCES_V = [sum(p * row[v] for p, row in zip(POLICY_A, CHANCES_AV, strict=True)) for v in range(3)]
Score = Callable[[Sequence[Outcome]], Fraction]


def polychromic(members: Sequence[Outcome]) -> Fraction:
    """Mean score × share of strategies."""
    strategies = {one.label for one in members} - {None}
    return Fraction(int(sum(one.score for one in members)) * len(strategies), len(members) ** 2)


def any_right(members: Sequence[Outcome]) -> Fraction:
    """1 if one is right."""
    return Fraction(any(one.score == 1 for one in members))


def mean(members: Sequence[Outcome]) -> Fraction:
    """Mean score."""
    return Fraction(int(sum(one.score for one in members)), len(members))


def advantage(action: int, set_size: int, score: Score) -> Fraction:
    """A♯(s, a), by all sets of outcomes in their order."""

    def expected(first_V: Sequence[Fraction]) -> Fraction:
        return sum(
            first_V[y] * prod(CHANCES_V[v] for v in others) * score([ENDS[v] for v in (y, *others)])
            for y, *others in product(range(3), repeat=set_size)
        )

    return expected(CHANCES_AV[action]) - expected(CHANCES_V)


def seen() -> Outcomes:
    """The outcomes of the state, in the order of `ENDS`."""
    outcomes = Outcomes()
    assert [outcomes.number(one) for one in ENDS] == [0, 1, 2]
    return outcomes


@pytest.mark.parametrize(
    ("method", "score", "factor"),
    [
        (Method("poly", objectives.polychromic(), 2, "leave_one_out"), polychromic, 1),
        (methods.poly_epo(3), polychromic, 1 - Fraction(3, 5)),
        (Method("pass", objectives.any_correct(), 3, "leave_one_out"), any_right, 1),
        (methods.rloo(), mean, 1),
    ],
)
def test_mean_credit_over_all_draws_is_the_set_advantage(
    method: Method, score: Score, factor: Fraction
) -> None:
    groups = np.array(list(product(range(3), repeat=5)))
    credit_R = credit(method, seen(), groups[:, 0], groups[:, 1:])
    for action, own_V in enumerate(CHANCES_AV):
        chances = [own_V[y] * prod(CHANCES_V[v] for v in others) for y, *others in groups.tolist()]
        found = sum(float(p) * value for p, value in zip(chances, credit_R, strict=True))
        wanted = factor * advantage(action, method.set_size, score)
        assert found == pytest.approx(float(wanted), abs=1e-14)


def test_set_values_of_outcomes_are_those_of_a_tree_that_branches_once() -> None:
    table = ActionTable([one.score for one in ENDS], strategies=[0, 1, -1])
    tree = SetMDP([[[1.0]] * 3], [TabularObjective(objectives.polychromic(), table, 3)], gamma=0.0)
    chances_XV = np.array([CHANCES_V], dtype=float)
    of_outcomes_V = (tree.action_values(chances_XV) - tree.values(chances_XV)[:, None])[0]
    for action, own_V in enumerate(CHANCES_AV):
        by_tree = np.array(own_V, dtype=float) @ of_outcomes_V
        assert by_tree == pytest.approx(float(advantage(action, 3, polychromic)), abs=1e-14)


def test_draws_have_the_chances_of_their_row() -> None:
    chances_RV = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.2, 0.2, 0.6]])
    drawn = draw(chances_RV, 4000, np.random.default_rng(0))
    share_RV = np.stack([np.bincount(row, minlength=3) for row in drawn]) / 4000
    assert np.array_equal(share_RV == 0, chances_RV == 0)
    assert np.abs(share_RV - chances_RV).max() < 0.03


def test_what_is_right_goes_with_the_outcome() -> None:
    outcomes = Outcomes()
    numbers = np.array([outcomes.number(Outcome(0.4, "a", right)) for right in (True, False)])
    assert outcomes.fields(numbers, ("strategies", "correct"))["correct"].tolist() == [1.0, 0.0]
    assert outcomes.fields(numbers, ("strategies",))["strategies"].tolist() == [0, 0]
    assert "correct" not in seen().fields(np.array([0]), ("correct",))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_draws": 0}, "num_draws must be a whole number ≥ 1, got 0"),
        ({"memory": 1.0}, r"memory must be in \[0, 1\), got 1.0"),
        ({"score_step": 0.0}, "score_step must be a number > 0"),
    ],
)
def test_wrong_options_of_a_set_critic_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        SetCritic(**options)
