"""The methods of the first release against the formulas and the golden values of their papers."""

import numpy as np
import pytest

from setrl import methods

GOLD = np.array([[0.1, 0.7, 0.2, 0.9, 0.4, 0.3]])  # K = 3, values of PKPO's published code


def test_grpo_is_the_z_score():
    rewards = np.random.default_rng(0).random((3, 8))
    z = (rewards - rewards.mean(1, keepdims=True)) / (rewards.std(1, ddof=1, keepdims=True) + 1e-4)
    np.testing.assert_allclose(methods.grpo().advantages(rewards).values_BN, z, rtol=1e-12)


def test_rloo_compares_with_the_others():
    rewards = np.random.default_rng(1).random((1, 5))
    others = [np.delete(rewards[0], i).mean() for i in range(5)]
    np.testing.assert_allclose(methods.rloo().advantages(rewards).values_BN[0], rewards[0] - others)


def test_maxpo_golden_values():
    want = [-0.11, 0.09, -0.11, 0.33, -0.09, -0.11]
    np.testing.assert_allclose(methods.maxpo(3).advantages(GOLD).values_BN[0], want, atol=1e-12)
    binary = np.array([[1.0, 1, 0, 0, 0, 0, 0, 0]])
    values = methods.maxpo(4).advantages(binary).values_BN[0]
    np.testing.assert_allclose(values[[0, 2]], [3 / 7, -1 / 7], atol=1e-12)


def test_pkpo_golden_values():
    loo_minus_one = [0, 0.11, 0, 0.21, 0.02, 0.005]
    values = methods.pkpo(3).advantages(GOLD).values_BN[0]
    np.testing.assert_allclose(values * 3 / 6, loo_minus_one, atol=1e-12)


def test_poly_epo_golden_values():
    """N = 8, n = 4, mean form; cluster 100 of the paper is degenerate."""
    rewards = np.array([[1.0, 0, 1, 0, 1, 0, 0, 1]])
    clusters = np.array([[1, 2, 1, 3, 2, -1, 1, 4]])
    adv = methods.poly_epo(4).advantages(rewards, clusters=clusters)
    want = [0.030357, -0.048214, 0.030357, -0.008929, 0.057143, -0.080357, -0.069643, 0.089286]
    np.testing.assert_allclose(adv.values_BN[0], want, atol=5e-7)
    assert adv.mean_B[0] == pytest.approx(0.3410714, abs=5e-8)


def test_a_wrong_sample_of_a_new_strategy_is_encouraged_where_all_others_agree():
    """Seven right samples of one strategy and a wrong one of another: the tutorial's example."""
    rewards, clusters = np.array([[1.0] * 7 + [0.0]]), np.array([[0] * 7 + [1]])
    poly = methods.poly_epo(4).advantages(rewards, clusters=clusters).values_BN[0]
    np.testing.assert_allclose(poly[[0, 7]], [-1 / 112, 1 / 16])
    assert methods.grpo().advantages(rewards).values_BN[0, 7] < -2


def test_grpo_div_adds_rarity():
    rewards, clusters = np.array([[1.0, 1, 0, 0]]), np.array([[0, 0, 1, -1]])
    rarity = np.array([1 / 3, 1 / 3, 1, 0])  # (4/2 − 1)/3, (4/1 − 1)/3, degenerate
    shaped = rewards[0] + 0.5 * rarity
    values = methods.grpo_div(0.5).advantages(rewards, clusters=clusters).values_BN[0]
    np.testing.assert_allclose(values, shaped - shaped.mean())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"method": "polyepo"}, "unknown method 'polyepo'; did you mean 'poly_epo'?"),
        ({"method": "maxpo", "setsize": 4}, "unknown argument of maxpo 'setsize'; did you mean"),
        ({"set_size": 4}, "needs the key 'method'"),
    ],
)
def test_a_config_is_checked(config, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        methods.from_config(config)


@pytest.mark.parametrize("name", sorted(set(methods.by_name) & {"grpo", "maxpo", "pkpo", "rloo"}))
def test_every_name_makes_the_method_of_that_name(name):
    assert methods.from_config({"method": name}).name == name
