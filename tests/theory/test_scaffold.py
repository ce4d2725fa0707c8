"""Scaffold values against the covariance of Def. 3.1, tuple by tuple; specular sets by search."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact, note_specular, scores
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective, diminish, scaffold_values, specular_sets

POLICY = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
PROBABILITIES = [float(p) for p in POLICY]
REWARDS, LABELS = [1, 0, 1], [0, 1, 1]
SCORE = scores.polychromic(REWARDS, LABELS)


def poly(set_size):
    table = ActionTable(REWARDS, strategies=LABELS)
    return TabularObjective(objectives.polychromic(), table, set_size)


def meeting(first, second):
    """Σᵢⱼ 1{first[i] = second[j]}."""
    return Fraction(sum(a == b for a, b in product(first, second)))


def by_definition(members):
    draws = list(product(range(3), repeat=len(members)))
    largest = max(meeting(members, other) for other in draws)
    overlap = lambda draw: meeting(members, draw) / largest  # noqa: E731
    return exact.covariance(SCORE, overlap, POLICY, len(members))


@pytest.mark.parametrize("members", [(0, 0, 0), (0, 1, 2), (0, 1, 1), (2, 2), (0, 2)])
def test_scaffold_value_is_the_covariance_of_the_definition(members):
    found = scaffold_values(poly(len(members)), PROBABILITIES, [members])
    np.testing.assert_allclose(found, [float(by_definition(members))], atol=1e-15)


@pytest.mark.parametrize("set_size", [2, 3, 4])
def test_scaffold_of_copies_is_probability_times_advantage(set_size):
    tabular = poly(set_size)
    identity = PROBABILITIES * tabular.advantages(PROBABILITIES)
    np.testing.assert_allclose(scaffold_values(tabular, PROBABILITIES), identity, atol=1e-15)


def test_diminishing_and_specular_sets_are_those_of_the_ledgers_fractions():
    """Two objectives, every policy over four actions denominators ≤ 8, all supported actions."""
    table = ActionTable([1, 0, 1, 0], strategies=range(4))
    pairs = {
        objectives.differ(): scores.differ(),
        objectives.polychromic(): scores.polychromic((1, 0, 1, 0)),
    }
    tried = 0
    for (objective, score), p in product(pairs.items(), exact.policies(4, 8)):
        tabular, floats = TabularObjective(objective, table, 2), [float(q) for q in p]
        removed = [float(q) for q in note_specular.diminish(p, (1, 3))]
        np.testing.assert_allclose(diminish(floats, [1, 3]), removed, atol=1e-15)
        for y in range(4):
            if note_specular.scaffold(score, p, 2, y) > 0:
                wanted = list(note_specular.speculars(score, p, 2, y))
                found = specular_sets(tabular, floats, y)
                assert sorted(found) == sorted(tuple(sorted(one)) for one in wanted)
                assert [len(one) for one in found] == sorted(map(len, found))
                tried += len(found)
    assert tried > 20


def test_actions_that_the_policy_never_takes_gain_nothing_and_are_in_no_specular_set():
    np.testing.assert_allclose(diminish([0.5, 0.3, 0.2, 0.0], [0]), [0, 0.55, 0.45, 0], atol=1e-15)
    differ = TabularObjective(objectives.differ(), ActionTable([1] * 4, strategies=range(4)), 2)
    assert specular_sets(differ, [0.6, 0.3, 0.1, 0.0], action=1) == [(0,)]
    assert specular_sets(poly(2), [0.9, 0.1, 0.0], action=0) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scaffold_values(poly(3), PROBABILITIES, [[0, 1]]), r"\(S, 3\), got \(1, 2\)"),
        (lambda: scaffold_values(poly(3), PROBABILITIES, [[0, 1, 3]]), r"in \[0, 2\], got 3"),
        (lambda: scaffold_values(poly(3), [PROBABILITIES]), r"shape \(3,\), got \(1, 3\)"),
        (lambda: diminish([0.5, 0.5], [2]), r"integer in \[0, 1\], got 2"),
        (lambda: diminish([0.5, 0.5, 0.0], [0, 1]), "an action of the support must be left"),
        (lambda: diminish([[0.5, 0.5]], [0]), r"shape \(2,\), got \(1, 2\)"),
        (lambda: specular_sets(poly(2), PROBABILITIES, 5), r"integer in \[0, 2\], got 5"),
        (lambda: specular_sets(poly(2), PROBABILITIES, 1), "action 1 needs a positive scaffold"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("set_size", [2, 3, 4, 5, 8])
def test_a_new_wrong_strategy_is_encouraged_beside_at_most_k_minus_two_correct_ones(set_size):
    """At accuracy 1: A(new wrong) > 0 ⇔ M < K − 1/(1 − (1−1/M)^(K−1)) ⇔ M ≤ K − 2."""
    for num_correct in range(1, 8):
        tabular = TabularObjective(
            objectives.polychromic(),
            ActionTable([1] * num_correct + [0], range(num_correct + 1)),
            set_size,
        )
        advantage = tabular.advantages([1 / num_correct] * num_correct + [0])[-1]
        missed = Fraction(num_correct - 1, num_correct) ** (set_size - 1)
        assert (num_correct < set_size - 1 / (1 - missed)) == (num_correct <= set_size - 2)
        assert (advantage > 1e-12) == (num_correct <= set_size - 2)
