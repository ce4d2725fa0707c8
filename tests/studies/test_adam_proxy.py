"""Training reaches what it trains for, and repeats."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from studies import adam_proxy
from studies.bandit import Bandit, max_gradient


def test_training_raises_the_objective_and_repeats():
    proxies, values = adam_proxy._train("l2o", 100, [0, 0])
    assert values[-1] > values[0] + 0.01
    assert len(proxies) == len(values) == 100 // adam_proxy.WINDOW
    assert adam_proxy._train("l2o", 100, [0, 0]) == (proxies, values)


def test_the_value_is_the_mean_of_maxima():
    rewards, features = np.array([[0.1, 0.9, 0.5] * 10]), torch.zeros(1, adam_proxy.FEATURES)
    policy = adam_proxy._policy(0)
    policy[2].bias.data += torch.linspace(0, 2, adam_proxy.ARMS)
    with torch.no_grad():
        chances = policy(features.double()).softmax(dim=-1).numpy()[0]
    rng = np.random.default_rng(0)
    draws = rng.choice(rewards[0], size=(100_000, adam_proxy.SET_SIZE), p=chances)
    found = adam_proxy._value(policy, features.double(), rewards)
    assert found == pytest.approx(draws.max(axis=1).mean(), abs=0.002)


@pytest.mark.parametrize("name", ["ei", "l2o"])
def test_one_update_follows_the_gradient(name):
    """Averaged over many draws, the network's gradient is the gradient of E max."""
    policy = adam_proxy._policy(1)
    rng, features = np.random.default_rng(0), torch.ones(1, adam_proxy.FEATURES).double()
    rewards = rng.random((1, adam_proxy.ARMS))
    with torch.no_grad():
        chances = policy(features).softmax(dim=-1).numpy()[0]
    truth = max_gradient(Bandit(rewards[0], chances), adam_proxy.SET_SIZE)
    frozen = torch.optim.Adam(policy.parameters(), lr=0.0)
    many = features.repeat(20_000, 1), rewards.repeat(20_000, axis=0)
    adam_proxy._update(policy, frozen, *many, name, rng)
    found = -policy[2].bias.grad.numpy()
    assert np.linalg.norm(found - truth) < 0.05 * np.linalg.norm(truth)
