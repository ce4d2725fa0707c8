"""Scaffold values against the covariance of Def. 3.1, tuple by tuple."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import exact, scores
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective
from studies.scaffold import scaffold_values

POLICY = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
PROBABILITIES = [float(p) for p in POLICY]
REWARDS, CLUSTERS = [1, 0, 1], [0, 1, 1]
SCORE = scores.polychromic(REWARDS, CLUSTERS)


def poly(set_size):
    table = ActionTable(REWARDS, clusters=CLUSTERS)
    return TabularObjective(objectives.polychromic(), table, set_size)


def meeting(first, second):
    """Σᵢⱼ 1{first[i] = second[j]}."""
    return Fraction(sum(a == b for a, b in product(first, second)))


def largest_meeting(members, others):
    return max(meeting(members, other) for other in others)


def by_definition(members, normaliser):
    draws = list(product(range(3), repeat=len(members)))
    different = [draw for draw in draws if sorted(draw) != sorted(members)]
    divide = {
        "pairs": largest_meeting(members, draws),
        "intersection": Fraction(len(members)),
        "other_set": largest_meeting(members, different),
        "one": Fraction(1),
    }[normaliser]
    return (
        exact.covariance(SCORE, lambda draw: meeting(members, draw), POLICY, len(members)) / divide
    )


@pytest.mark.parametrize("normaliser", ["pairs", "intersection", "other_set", "one"])
@pytest.mark.parametrize("members", [(0, 0, 0), (0, 1, 2), (0, 1, 1), (2, 2), (0, 2)])
def test_scaffold_value_is_the_covariance_of_the_definition(members, normaliser):
    found = scaffold_values(poly(len(members)), PROBABILITIES, [members], normaliser)
    np.testing.assert_allclose(found, [float(by_definition(members, normaliser))], atol=1e-15)


@pytest.mark.parametrize("set_size", [2, 3, 4])
def test_scaffold_of_copies_is_probability_times_advantage(set_size):
    """The note's identity, which holds with this normaliser; `intersection` makes it K times it."""
    tabular = poly(set_size)
    identity = PROBABILITIES * tabular.advantages(PROBABILITIES)
    np.testing.assert_allclose(scaffold_values(tabular, PROBABILITIES), identity, atol=1e-15)
    of_copies = scaffold_values(tabular, PROBABILITIES, normaliser="intersection")
    np.testing.assert_allclose(of_copies, set_size * identity, atol=1e-15)
    of_others = scaffold_values(tabular, PROBABILITIES, normaliser="other_set")
    np.testing.assert_allclose(of_others, identity * set_size / (set_size - 1), atol=1e-15)


@pytest.mark.parametrize(
    ("sets_SK", "normaliser", "message"),
    [
        ([[0, 1]], "pairs", r"integers of shape \(S, 3\), got \(1, 2\)"),
        ([[0, 1, 3]], "pairs", r"actions must be in \[0, 2\], got 3"),
        ([[0, 1, 2]], "pair", "did you mean 'pairs'"),
    ],
)
def test_bad_input_is_named(sets_SK, normaliser, message):
    with pytest.raises(ValueError, match=message):
        scaffold_values(poly(3), PROBABILITIES, sets_SK, normaliser)


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
