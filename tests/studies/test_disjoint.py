"""The naive estimator by enumeration: unbiased, and all sets are its mean over all splits."""

from itertools import permutations, product

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, objectives, set_advantages
from setrl.core.advantages import Method
from setrl.theory import ActionTable, TabularMethod
from studies.bandit import Disjoint

POLICY = np.array([0.2, 0.3, 0.5])
REWARDS, LABELS = np.array([1.0, 1.0, 0.0]), np.array([0, 1, 2])


def advantages(actions_BN, size, seed, baseline="leave_one_out", estimator=None):
    return set_advantages(
        REWARDS[actions_BN],
        objective=objectives.polychromic(),
        set_size=size,
        baseline=baseline,
        strategies=LABELS[actions_BN],
        estimator=estimator or Disjoint(),
        rng=seed,
    ).values_BN


def mean_update(actions_BN, advantages_BN):
    """E Σᵢ ∇log π(yᵢ)·Aᵢ over all ordered groups."""
    chance_B = POLICY[actions_BN].prod(axis=1)
    score_BNA = np.eye(3)[actions_BN] - POLICY
    return np.einsum("b,bn,bna->a", chance_B, advantages_BN, score_BNA)


@pytest.mark.parametrize(("num", "size"), [(4, 2), (5, 2), (6, 3)])
def test_its_mean_is_the_number_of_sets_times_the_gradient(num, size):
    groups = np.array(list(product(range(3), repeat=num)))
    weights = [2, 3, 5]
    score = scores.polychromic((1, 1, 0), (0, 1, 2))
    gradient = np.array(exact.logit_gradient(score, exact.policy(*weights), size), dtype=float)
    for seed in (0, 1):
        found = mean_update(groups, advantages(groups, size, seed))
        np.testing.assert_allclose(found, num // size * gradient, atol=1e-14)


def test_one_split_is_own_set_less_the_others():
    group = np.array([[0, 1, 2, 2, 0]])
    score = scores.polychromic((1, 1, 0), (0, 1, 2))
    splits = []
    for order in permutations(range(5)):
        pairs = order[:2], order[2:4]
        f = [float(score(tuple(sorted(group[0, i] for i in pair)))) for pair in pairs]
        credits = np.zeros(5)
        credits[list(pairs[0])], credits[list(pairs[1])] = f[0] - f[1], f[1] - f[0]
        splits.append(credits)
    for seed in range(4):
        found = advantages(group, 2, seed)[0]
        assert any(np.allclose(found, credits) for credits in splits)


def test_all_sets_are_its_mean_over_all_splits():
    """So u − v of all sets has no larger a variance."""
    rewards, strategies = np.array([[1.0, 0.7, 0.2, 0.0]]), np.array([[0, 1, 1, 2]])

    def credited(estimator, seed):
        method = Method("poly", objectives.polychromic(), 2, "leave_one_out", estimator=estimator)
        return method.advantages(rewards, strategies=strategies, rng=seed).values_BN[0]

    found = {tuple(credited(Disjoint(), seed).round(12)) for seed in range(40)}
    assert len(found) == 3
    whole = credited(credit.Exact(), 0)
    np.testing.assert_allclose(np.mean(list(found), axis=0), whole, atol=1e-11)


def test_sets_of_one_are_all_sets():
    group = np.array([[0, 1, 2, 2]])
    exact_one = advantages(group, 1, 0, estimator=credit.Exact())
    np.testing.assert_allclose(advantages(group, 1, 0), exact_one)


def test_a_split_is_not_enumerated_by_the_theory():
    """It sorts the samples of a group, which would put like samples in one set."""
    method = Method("naive", objectives.polychromic(), 2, estimator=Disjoint())
    tabular = TabularMethod(method, ActionTable(REWARDS, strategies=LABELS), 4)
    with pytest.raises(ValueError, match="samples its sets"):
        tabular.update(POLICY)


def test_too_few_samples_and_no_generator_are_named():
    group = np.array([[0, 1, 2]])
    with pytest.raises(ValueError, match="needs two sets: at least 4 samples for set_size=2"):
        advantages(group, 2, 0)
    with pytest.raises(ValueError, match=r"Disjoint\(\) needs rng"):
        advantages(np.array([[0, 1, 2, 2]]), 2, None)
