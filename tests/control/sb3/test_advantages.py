"""Trajectories → transitions: GAE against its definition, and set advantages in their places."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.policies import ActorCriticPolicy

from setrl.control.sb3.advantages import Critic, Segment
from setrl.control.sb3.ppo import CountBonus
from setrl.control.trajectories import TAKEN, Trajectory

GAMMA, LAMBDA = 0.9, 0.8
SPACE = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)


def policy(actions: gym.Space | None = None) -> ActorCriticPolicy:
    torch.manual_seed(0)
    return ActorCriticPolicy(SPACE, actions or gym.spaces.Discrete(2), lambda _: 1e-3)


def walk(steps: int, seed: int, *, terminated: bool = True, **changes: Any) -> Trajectory:
    rng = np.random.default_rng(seed)
    fields = {
        "observations": rng.uniform(-1, 1, (steps + 1, 3)).astype(np.float32),
        "actions_T": rng.integers(0, 2, steps),
        "rewards_T": rng.random(steps),
        "infos": ({},) * (steps + 1),
        "terminated": terminated,
        "truncated": not terminated,
    }
    return Trajectory(**{**fields, **changes})


def values_of(critic: Critic, trajectory: Trajectory) -> np.ndarray:
    with torch.no_grad():
        return critic.policy.predict_values(torch.as_tensor(trajectory.observations)).numpy()[:, 0]


def gae(critic: Critic, trajectory: Trajectory) -> np.ndarray:
    """Σₗ (γλ)ˡ δₜ₊ₗ, by the definition."""
    values, rewards, steps = values_of(critic, trajectory), trajectory.rewards_T, len(trajectory)
    if trajectory.terminated:
        values[-1] = 0.0
    deltas = rewards + GAMMA * values[1:] - values[:-1]
    discount = (GAMMA * LAMBDA) ** np.arange(steps)
    return np.array([np.sum(discount[: steps - t] * deltas[t:]) for t in range(steps)])


def test_the_critics_advantages_are_gae_within_each_trajectory() -> None:
    critic = Critic(policy(), GAMMA, LAMBDA)
    walks = [walk(4, 1), walk(3, 2, terminated=False), walk(1, 3)]
    found = critic.credit_steps([Segment(one) for one in walks])
    expected = np.concatenate([gae(critic, one) for one in walks])
    values = np.concatenate([values_of(critic, one)[:-1] for one in walks])
    np.testing.assert_allclose(found.advantages, expected, atol=1e-5)
    np.testing.assert_allclose(found.values, values, atol=1e-6)
    np.testing.assert_allclose(found.returns, expected + values, atol=1e-5)
    assert not found.from_sets.any()


def test_log_probabilities_are_those_of_the_actions_as_they_were_drawn() -> None:
    box = gym.spaces.Box(-0.1, 0.1, (1,), np.float32)
    drawn = np.array([[2.0], [-3.0]], np.float32)
    clipped = walk(2, 1, actions_T=drawn.clip(-0.1, 0.1), extras={TAKEN: drawn})
    net = policy(box)
    found = Critic(net, GAMMA, LAMBDA).credit_steps([Segment(clipped)])
    seen = torch.as_tensor(clipped.observations[:-1])
    with torch.no_grad():
        expected = net.get_distribution(seen).log_prob(torch.as_tensor(drawn))
    np.testing.assert_allclose(found.log_probs, expected.numpy(), rtol=1e-5)
    np.testing.assert_array_equal(found.actions, drawn)


def test_set_advantages_replace_the_critics_in_their_window_alone() -> None:
    critic = Critic(policy(), GAMMA, LAMBDA)
    first, second = walk(4, 1), walk(5, 2)
    found = critic.credit_steps(
        [
            Segment(first, np.array([0.3, 0.3, np.nan, np.nan])),
            Segment(second, np.array([np.nan, np.nan, np.nan, -0.4, -0.4])),
        ]
    )
    own = np.concatenate([gae(critic, first), gae(critic, second)])
    in_window = np.isin(np.arange(9), [0, 1, 7, 8])
    np.testing.assert_array_equal(found.from_sets, in_window)
    np.testing.assert_allclose(found.advantages[~in_window], own[~in_window], atol=1e-5)
    size = np.sqrt((2 * 0.3**2 + 2 * 0.4**2) / 4)
    np.testing.assert_allclose(
        found.advantages[in_window], np.array([0.3, 0.3, -0.4, -0.4]) / size, rtol=1e-6
    )
    critics = (found.returns - found.values)[in_window]
    np.testing.assert_allclose(critics, own[in_window], atol=1e-5)


def test_rounding_errors_are_not_divided_up_to_a_signal() -> None:
    noise = [Segment(walk(4, seed), 2.8e-17) for seed in (1, 2)]
    found = Critic(policy(), GAMMA, LAMBDA).credit_steps(noise)
    assert found.from_sets.all()
    assert np.abs(found.advantages).max() < 1e-6


def test_the_bonus_for_rare_actions_is_in_the_critics_advantages() -> None:
    critic, one = Critic(policy(), GAMMA, LAMBDA, CountBonus(0.7)), walk(3, 1)
    found = critic.credit_steps([Segment(one)])
    more = walk(3, 1, rewards_T=one.rewards_T + 0.7)
    np.testing.assert_allclose(found.advantages, gae(critic, more), atol=1e-5)


@pytest.mark.parametrize("lost", [np.nan, np.inf])
def test_a_trajectory_with_a_reward_that_is_not_finite_is_left_out(lost: float) -> None:
    critic, kept = Critic(policy(), GAMMA, LAMBDA), walk(3, 1)
    broken = walk(3, 2, rewards_T=np.array([0.0, lost, 1.0]))
    empty = walk(0, 3)
    found = critic.credit_steps([Segment(broken), Segment(kept), Segment(empty)])
    np.testing.assert_allclose(found.advantages, gae(critic, kept), atol=1e-5)
    with pytest.raises(
        ValueError, match="of 2 trajectories, none has steps with finite rewards only"
    ):
        critic.credit_steps([Segment(broken), Segment(empty)])
