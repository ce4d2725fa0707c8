"""Eq. 15 for a policy and for logged groups, against enumeration in rational arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from claims import exact, scores
from setrl import methods, objectives, set_advantages
from setrl.theory import ActionTable
from setrl.theory.decomposition import decompose_group, decompose_policy

POLICY = [Fraction(1, 2), Fraction(3, 10), Fraction(3, 20), Fraction(1, 20)]
PROBABILITIES = [float(p) for p in POLICY]
REWARDS, LABELS = [1, 0, 1, 0], [0, 1, 1, -1]
TABLE = ActionTable(REWARDS, strategies=LABELS)
CLOSE = {"rtol": 1e-13, "atol": 1e-15}


@pytest.mark.parametrize("set_size", [2, 3, 4])
def test_parts_of_a_policy_are_those_of_equation_15(set_size):
    reward, diversity = scores.mean(REWARDS), scores.distinct_share(LABELS)
    found = decompose_policy(PROBABILITIES, TABLE, set_size)
    cov = exact.covariance(reward, diversity, POLICY, set_size)
    means = exact.expected(reward, POLICY, set_size) * exact.expected(diversity, POLICY, set_size)
    for y in range(4):
        first, second = (
            lambda rest, score=score, y=y: score((y, *rest)) for score in (reward, diversity)
        )
        of_r, of_d = (exact.expected(score, POLICY, set_size - 1) for score in (first, second))
        # The note writes the mean reward of y's sets out: r(y)/n + (n−1)/n · E r.
        mean_reward = exact.dot(POLICY, REWARDS)
        assert of_r == (REWARDS[y] + (set_size - 1) * mean_reward) / set_size
        cov_with = exact.covariance(first, second, POLICY, set_size - 1)
        np.testing.assert_allclose(found.means_part[y], float(of_r * of_d - means), **CLOSE)
        np.testing.assert_allclose(found.covariance_part[y], float(cov_with - cov), **CLOSE)
    wanted = exact.advantages(scores.polychromic(REWARDS, LABELS), POLICY, set_size)
    np.testing.assert_allclose(found.advantages, [float(a) for a in wanted], **CLOSE)


def test_the_last_covariance_is_that_of_one_samples_reward():
    """Eq. 15 has Cov(r(Y₁), d) where this has Cov(mean reward, d): equal, as d is symmetric."""
    found = decompose_policy(PROBABILITIES, TABLE, 3)
    share, draws = scores.distinct_share(LABELS), list(exact.ordered_draws(POLICY, 3))
    joint = sum(chance * REWARDS[draw[0]] * share(draw) for draw, chance in draws)
    mean_reward = exact.expected(scores.mean(REWARDS), POLICY, 1)
    one = joint - mean_reward * exact.expected(share, POLICY, 3)
    np.testing.assert_allclose(found.covariance, [float(one)], **CLOSE)


def test_any_two_factors_decompose():
    found = decompose_policy(
        PROBABILITIES, TABLE, 3, reward=objectives.max(), diversity=objectives.mean()
    )

    score = scores.product(scores.maximum(REWARDS), scores.mean(REWARDS))
    wanted = exact.advantages(score, POLICY, 3)
    np.testing.assert_allclose(found.advantages, [float(a) for a in wanted], **CLOSE)


def moments(sets, reward, diversity):
    first, second, joint = (
        exact.average(map(score, sets))
        for score in (reward, diversity, lambda s: reward(s) * diversity(s))
    )
    return first, second, joint - first * second


@pytest.mark.parametrize("set_size", [1, 2, 3, 5])
def test_parts_of_a_group_are_those_of_its_sets(set_size):
    rewards, strategies = [1, 0, 1, 1, 0, Fraction(1, 4)], [0, 0, 1, 2, 3, -1]
    reward, diversity = scores.mean(rewards), scores.distinct_share(strategies)
    sets = list(combinations(range(6), set_size))
    found = decompose_group(
        np.array([[float(r) for r in rewards]]),
        strategies=np.array([strategies]),
        set_size=set_size,
    )
    of_all = moments(sets, reward, diversity)
    for i in range(6):
        of_i = moments([s for s in sets if i in s], reward, diversity)
        means = of_i[0] * of_i[1] - of_all[0] * of_all[1]
        np.testing.assert_allclose(found.means_part[0, i], float(means), **CLOSE)
        np.testing.assert_allclose(found.covariance_part[0, i], float(of_i[2] - of_all[2]), **CLOSE)


def test_parts_of_logged_groups_add_up_to_the_advantage_of_poly_epo():
    rng = np.random.default_rng(0)
    rewards = rng.integers(0, 2, (5, 32)).astype(float)
    rewards[0, 3] = np.nan
    strategies = rng.integers(-1, 6, (5, 32)).astype(float)
    strategies[1, 7] = np.nan
    found = decompose_group(rewards, strategies=strategies, set_size=8)
    expected = methods.poly_epo(set_size=8).advantages(rewards, strategies=strategies)
    usable = expected.usable_BN
    np.testing.assert_allclose(found.advantages[usable], expected.values_BN[usable], atol=1e-15)
    assert np.isnan(found.covariance_part[~usable]).all()
    assert (~usable).sum() == 2


def test_a_sample_of_unknown_strategy_leaves_the_rewards_of_the_sets_too():
    rewards, strategies = np.array([[1.0, 0, 1, 1, 0]]), np.array([[0.0, 1, np.nan, 2, 2]])
    left = [0, 1, 3, 4]
    found = decompose_group(rewards, strategies=strategies, set_size=2)
    smaller = decompose_group(rewards[:, left], strategies=strategies[:, left], set_size=2)
    np.testing.assert_allclose(found.reward, smaller.reward)
    np.testing.assert_allclose(found.means_part[:, left], smaller.means_part, **CLOSE)
    np.testing.assert_allclose(found.covariance_part[:, left], smaller.covariance_part, **CLOSE)


def test_any_two_factors_of_a_group_decompose():
    rng = np.random.default_rng(1)
    rewards, strategies = rng.random((2, 7)), rng.integers(0, 3, (2, 7))
    found = decompose_group(
        rewards,
        set_size=3,
        reward=objectives.max(),
        diversity=objectives.differ(),
        strategies=strategies,
    )
    expected = set_advantages(
        rewards, objective=objectives.max() * objectives.differ(), set_size=3, strategies=strategies
    )
    np.testing.assert_allclose(found.advantages, expected.values_BN, atol=1e-15)
