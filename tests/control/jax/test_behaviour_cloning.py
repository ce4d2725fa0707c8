"""Behaviour cloning on JAX."""

import jax
import numpy as np
import pytest

from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.jax import behaviour_cloning as on_jax
from setrl.control.jax.networks import ActorCritic


def test_a_policy_of_jax_learns_the_shares_of_actions_in_padded_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of episodes of different lengths, only real steps count."""
    for name, value in (("ENTROPY_COEF", 0.0), ("LEARNING_RATE", 0.03)):
        monkeypatch.setattr(on_jax, name, value)
    episodes = np.repeat(np.arange(32), [1, 3] * 16)  # padding has action 0
    steps = len(episodes)
    actions = np.where(np.arange(steps) % 4 == 0, 1, 2)
    data = Demonstrations(np.ones((steps, 2), np.float32), actions, episodes)
    policy = ActorCritic(3, (8,))
    params = policy.init(jax.random.key(0), 2)
    params, found = on_jax.clone(policy, params, data, np.random.default_rng(0))
    logits = policy(params, policy.memories(1), np.ones((1, 2), np.float32))[1]
    np.testing.assert_allclose(jax.nn.softmax(logits)[0], [0, 0.25, 0.75], atol=0.1)
    assert found["held_out_loss"] < 0.8
