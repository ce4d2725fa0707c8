"""Def. 4.1, Prop. 4.2 and 4.3 against covariances over tuples and hand-worked values."""

from fractions import Fraction

import numpy as np
import pytest

from claims import exact, scores
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective
from studies.scaffold import (
    heterogeneous_scaffold,
    homogeneous_scaffold,
    polychromic_conditions,
)

POLICY = [Fraction(11, 20), Fraction(3, 10), Fraction(3, 20)]
PROBABILITIES = [float(p) for p in POLICY]
REWARDS, CLUSTERS = [1, 0, 1], [0, 1, 1]


def poly(rewards, clusters, set_size):
    table = ActionTable(rewards, clusters=clusters)
    return TabularObjective(objectives.polychromic(), table, set_size)


@pytest.mark.parametrize("set_size", [2, 3])
def test_conditions_are_the_covariances_of_the_definition(set_size):
    table = ActionTable(REWARDS, clusters=CLUSTERS)
    found = polychromic_conditions(
        objectives.mean(), objectives.distinct(), table, PROBABILITIES, set_size
    )
    of_reward = exact.covariance(
        scores.mean(REWARDS), lambda d: Fraction(sum(REWARDS[a] for a in d)), POLICY, set_size
    )
    of_counts = [
        exact.covariance(
            scores.distinct(CLUSTERS), lambda d, y=y: Fraction(d.count(y)), POLICY, set_size
        )
        for y in range(3)
    ]
    np.testing.assert_allclose(found.reward_covariance, float(of_reward), rtol=1e-13)
    np.testing.assert_allclose(found.count_covariances_A, [float(c) for c in of_counts], rtol=1e-12)
    assert sum(of_counts) == 0
    assert found.discouraged_A.tolist() == [c < 0 for c in of_counts]


def test_ranges_are_those_of_sets_that_can_be_drawn():
    table = ActionTable([1, 0, 1], clusters=[0, 1, 2])
    share = objectives.distinct()
    possible = polychromic_conditions(objectives.mean(), share, table, [0.5, 0.5, 0], 3)
    assert possible.reward_range == (0, 1)
    assert possible.diversity_range == (1, 2)
    assert not possible.same_range
    same = polychromic_conditions(objectives.mean(), objectives.max(), table, [0.5, 0.5, 0], 3)
    assert same.same_range


@pytest.mark.parametrize(("set_size", "crossing"), [(3, 0.82), (4, 0.795), (5, 0.80)])
def test_homogeneous_scaffold_turns_negative_beside_one_wrong_action(set_size, crossing):
    """Prop. 4.2 where it holds. Λ at the crossing is 0 in rational arithmetic, to its digits."""
    found = homogeneous_scaffold(poly([1, 0], [0, 1], set_size), [0.5, 0.5], 0)
    assert found.turns_negative_at == pytest.approx(crossing, abs=0.005)
    at = Fraction(found.turns_negative_at)
    score = scores.polychromic([1, 0], [0, 1])
    advantage = exact.advantages(score, [at, 1 - at], set_size)[0]
    assert abs(advantage) < 1e-12
    assert found.slope_near_one < 0
    assert found.largest_over_bound < 0.5


def test_homogeneous_scaffold_stays_positive_where_the_proposition_fails():
    """K = 2 next to wrong actions, Λ = p(1−p)²/2; and any K if the rest shares the cluster."""
    for tabular in (poly([1, 0], [0, 1], 2), poly([1, 0, 0], [0, 1, 2], 2)):
        num_actions = tabular.table.num_actions
        found = homogeneous_scaffold(tabular, np.full(num_actions, 1 / num_actions), 0)
        p = found.probabilities_G
        np.testing.assert_allclose(found.scaffold_G, p * (1 - p) ** 2 / 2, atol=1e-15)
        assert found.slope_near_one == 0
        assert np.isnan(found.turns_negative_at)
        share_of_bound = (p * (1 - p) ** 2 / 2) / np.sqrt(p * (1 - p) / 2)
        np.testing.assert_allclose(found.largest_over_bound, share_of_bound.max(), rtol=1e-12)
    for set_size in (2, 3, 5):
        shared = homogeneous_scaffold(poly([1, 0], [0, 0], set_size), [0.5, 0.5], 0)
        degenerate = homogeneous_scaffold(poly([1, 0], [0, -1], set_size), [0.5, 0.5], 0)
        for found in (shared, degenerate):
            assert np.isnan(found.turns_negative_at)
            assert (found.scaffold_G > 0).all()


def test_slope_near_one_is_the_limit():
    tabular = poly([1, 0, 1], [0, 1, 2], 4)
    found = homogeneous_scaffold(tabular, [0.5, 0.3, 0.2], 0)
    close = 1e-6
    near = np.array([1 - close, 0.6 * close, 0.4 * close])
    np.testing.assert_allclose(found.slope_near_one, tabular.advantages(near)[0] / close, rtol=1e-4)


def test_heterogeneous_bound_fails_where_p_is_close_to_one_over_k():
    """K = 2, q = 1: Λ = p(1−p)(1−2p)/2, above the bound p²(1−p)/2 if and only if p < 1/3."""
    for p in (0.1, 0.3, 0.4, 0.49):
        tabular = poly([1, 0, 0], [0, 1, 2], 2)
        found = heterogeneous_scaffold(tabular, [p, p, 1 - 2 * p], [0, 1])
        assert found.value == pytest.approx(p * (1 - p) * (1 - 2 * p) / 2, abs=1e-15)
        assert found.bound == pytest.approx(p**2 * (1 - p) / 2, abs=1e-15)
        assert found.holds == (p < 1 / 3)


@pytest.mark.parametrize("set_size", [2, 3, 4, 5, 8])
def test_a_new_wrong_strategy_is_encouraged_beside_at_most_k_minus_two_correct_ones(set_size):
    """At accuracy 1: A(new wrong) > 0 ⇔ M < K − 1/(1 − (1−1/M)^(K−1)) ⇔ M ≤ K − 2."""
    for num_correct in range(1, 8):
        tabular = poly([1] * num_correct + [0], range(num_correct + 1), set_size)
        advantage = tabular.advantages([1 / num_correct] * num_correct + [0])[-1]
        missed = Fraction(num_correct - 1, num_correct) ** (set_size - 1)
        assert (num_correct < set_size - 1 / (1 - missed)) == (num_correct <= set_size - 2)
        assert (advantage > 1e-12) == (num_correct <= set_size - 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: heterogeneous_scaffold(poly([1, 0, 0], [0, 1, 2], 2), [0.5, 0.3, 0.2], [0, 1]),
            r"different and equally likely, got \[0, 1\]",
        ),
        (
            lambda: heterogeneous_scaffold(poly([1, 0, 1], [0, 1, 2], 2), [0.4, 0.4, 0.2], [0, 1]),
            "not members must have reward 0",
        ),
        (
            lambda: homogeneous_scaffold(poly([1, 0], [0, 1], 2), [1, 0], 0),
            "at least one action other than 0 must have positive probability",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
