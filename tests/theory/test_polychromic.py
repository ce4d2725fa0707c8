"""Definition 4.1 against covariances in fractions, over every policy of a grid."""

from fractions import Fraction

import numpy as np
import pytest

from claims import exact, scores
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective, policy_grid, polychromic_conditions

REWARDS, LABELS = (1, 0, 1), (0, 1, 1)
GRID = list(exact.policies(3, 7))
FLOATS = [[float(q) for q in p] for p in GRID]
PARTS = {
    "Poly-EPO's": (objectives.distinct_share(), scores.distinct_share(LABELS)),
    "from 0 to 1": (objectives.extra_share(), scores.extra_share(LABELS)),
    "pays copies": (
        objectives.from_function(lambda strategies: (np.ptp(strategies, axis=-1) == 0) * 1.0),
        lambda s: Fraction(int(len({LABELS[i] for i in s}) == 1)),
    ),
}


def conditions(diversity, size):
    table = ActionTable(REWARDS, strategies=LABELS)
    parts = (objectives.mean(), diversity)
    return polychromic_conditions(*(TabularObjective(p, table, size) for p in parts), FLOATS)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", PARTS)
def test_covariances_are_those_of_the_definition(name, size):
    diversity, score = PARTS[name]
    found = conditions(diversity, size)
    total = lambda s: Fraction(sum(REWARDS[a] for a in s))  # noqa: E731
    for at, p in enumerate(GRID):
        paid = exact.covariance(scores.mean(REWARDS), total, p, size)
        assert found.reward_covariance[at] == pytest.approx(float(paid), abs=1e-14)
        assert found.pays_reward[at] == (paid > 0)
        for y in range(3):
            count = exact.covariance(score, lambda s, y=y: Fraction(s.count(y)), p, size)
            assert found.count_covariances_A[at, y] == pytest.approx(float(count), abs=1e-14)
            assert found.pushes_down_A[at, y] == (count < 0)


def test_no_diversity_pushes_down_every_action():
    for diversity, _ in PARTS.values():
        found = conditions(diversity, 2)
        np.testing.assert_allclose(found.count_covariances_A.sum(axis=-1), 0, atol=1e-14)
        assert not found.pushes_down_A.all(axis=-1).any()


def test_ranges():
    assert conditions(PARTS["Poly-EPO's"][0], 2).diversity_range == (0.5, 1.0)
    assert not conditions(PARTS["Poly-EPO's"][0], 2).same_range
    assert conditions(PARTS["from 0 to 1"][0], 2).same_range


def test_a_grid_has_every_policy_once():
    found = {tuple(row) for row in policy_grid(3, 6).round(9)}
    assert len(found) == len(policy_grid(3, 6)) == 10
    assert all(sum(row) == pytest.approx(1) and min(row) > 0 for row in found)
    assert policy_grid(1, 1).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="denominator"):
        policy_grid(3, 2)


def test_other_sizes_are_refused():
    table = ActionTable(REWARDS, strategies=LABELS)
    parts = (
        TabularObjective(objectives.mean(), table, 2),
        TabularObjective(objectives.mean(), table, 3),
    )
    with pytest.raises(ValueError, match="one set size"):
        polychromic_conditions(*parts, FLOATS)
