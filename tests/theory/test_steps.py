"""Steps against finite differences, and against Prop. 3.7 by enumeration of its two covariances."""

from itertools import product

import numpy as np
import pytest

from setrl import objectives
from setrl.theory import ActionTable, TabularObjective, entropy, shift_logits, softmax
from setrl.theory.policies import entropy_rate, log_rate

POLICY = np.array([0.5, 0.3, 0.15, 0.05])
TABLE = ActionTable([1, 0, 1, 0], strategies=[0, 1, 1, -1])


def poly(set_size):
    return TabularObjective(objectives.polychromic(), TABLE, set_size)


def central(function, velocity, step=1e-5):
    ahead, behind = (function(shift_logits(POLICY, sign * step * velocity)) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def test_gradient_of_the_value_by_finite_differences():
    """∂J/∂z = K·π·A: Lemma 3.3 has no K, so this fails without it."""
    for set_size in (2, 3, 4):
        tabular = poly(set_size)
        slopes = [central(tabular.value, direction) for direction in np.eye(4)]
        np.testing.assert_allclose(tabular.gradient(POLICY), slopes, atol=1e-10)


@pytest.mark.parametrize("natural", [False, True])
def test_rates_are_derivatives_along_the_velocity(natural):
    tabular = poly(3)
    velocity = tabular.natural_gradient(POLICY) if natural else tabular.gradient(POLICY)
    np.testing.assert_allclose(log_rate(POLICY, velocity), central(np.log, velocity), atol=1e-10)
    np.testing.assert_allclose(
        entropy_rate(POLICY, velocity), central(entropy, velocity), atol=1e-10
    )


def test_natural_gradient_is_the_gradient_in_the_fisher_metric():
    gradient = poly(3).gradient(POLICY)
    fisher = np.diag(POLICY) - np.outer(POLICY, POLICY)
    natural = poly(3).natural_gradient(POLICY)
    np.testing.assert_allclose(fisher @ natural, gradient, atol=1e-15)


def test_log_probability_of_a_wrong_action_rises_though_its_advantage_is_negative():
    """pass@2, π = (1/10 correct, 8/10 wrong, 1/10 wrong): A = −9/100, d log π/dt = 207/2500."""
    passing = TabularObjective(objectives.any_correct(), ActionTable([1, 0, 0]), set_size=2)
    policy = [0.1, 0.8, 0.1]
    np.testing.assert_allclose(passing.advantages(policy)[2], -9 / 100)
    np.testing.assert_allclose(log_rate(policy, passing.gradient(policy))[2], 207 / 2500)
    natural = passing.natural_gradient(policy)
    np.testing.assert_array_equal(log_rate(policy, natural) > 0, passing.advantages(policy) > 0)


@pytest.mark.parametrize("set_size", [2, 3])
def test_entropy_change_is_the_double_covariance_of_the_proposition(set_size):
    """−Cov_y((1/n) Σ log π(yᵢ), Cov_y'(f(y'), Σᵢⱼ 1{yᵢ = y'ⱼ})), over tuples."""
    tabular = poly(set_size)
    draws = np.array(list(product(range(4), repeat=set_size)))
    chance = POLICY[draws].prod(axis=1)
    score = tabular.objective(TABLE.samples.sets(draws))[0]
    meeting = (draws[:, None, :, None] == draws[None, :, None, :]).sum(axis=(2, 3))
    inner = meeting @ (chance * score) - (meeting @ chance) * (chance @ score)
    mean_log = np.log(POLICY)[draws].mean(axis=1)
    outer = chance @ (mean_log * inner) - (chance @ mean_log) * (chance @ inner)
    np.testing.assert_allclose(
        entropy_rate(POLICY, tabular.gradient(POLICY)), -outer, rtol=1e-12, atol=1e-15
    )


def test_a_finite_step_is_the_softmax_of_moved_logits():
    velocity = poly(3).gradient(POLICY)
    after = shift_logits(POLICY, 2.0 * velocity)
    np.testing.assert_allclose(after, softmax(np.log(POLICY) + 2 * velocity), rtol=1e-14)
    np.testing.assert_allclose(entropy(after), -(after * np.log(after)).sum(), atol=1e-15)


def test_actions_outside_the_support_stay_there():
    after = shift_logits([0.5, 0.5, 0.0], [1.0, 0.0, 1e4])
    assert after[2] == 0
    np.testing.assert_allclose(after[0], 1 / (1 + np.exp(-1)))
