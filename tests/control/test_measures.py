"""Sampling of episodes, and metrics of their labels."""

from __future__ import annotations

from itertools import combinations

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import PPO

from setrl.control import measures


class Countdown(gym.Env):
    """Ends after as many steps as its reset says; shows what is left."""

    observation_space = gym.spaces.Box(0.0, 20.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = (options or {}).get("steps") or int(self.np_random.integers(1, 9))
        return np.array([self.left], np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.array([self.left], np.float32), float(action), self.left == 0, False, {}


@pytest.fixture(scope="module")
def model():
    return PPO("MlpPolicy", Countdown(), n_steps=8, batch_size=8, seed=0, device="cpu")


def sample(model, episodes, seed=0, parallel=3):
    rng = np.random.default_rng(seed)
    return measures.sample_episodes(model, Countdown, episodes, rng, parallel)


def test_each_episode_is_whole_and_in_its_place(model):
    asked = [5, 1, 2, 7, 3, 1, 4]
    found = sample(model, [{"steps": steps} for steps in asked])
    assert [len(one) for one in found] == asked
    for one in found:
        assert one.terminated
        np.testing.assert_array_equal(one.observations[:, 0], range(len(one), -1, -1))
        np.testing.assert_array_equal(one.rewards_T, one.actions_T)
        assert len(one.infos) == len(one) + 1


def test_the_same_generator_gives_the_same_episodes(model):
    first, second, other = sample(model, 6), sample(model, 6), sample(model, 6, seed=1)
    assert [one.actions_T.tolist() for one in first] == [one.actions_T.tolist() for one in second]
    assert [one.actions_T.tolist() for one in first] != [one.actions_T.tolist() for one in other]


def test_short_episodes_are_not_preferred(model):
    lengths = [len(one) for one in sample(model, 300, parallel=8)]
    assert np.mean(lengths) == pytest.approx(4.5, abs=0.45)


def test_effective_labels_leave_degenerate_ones_out():
    assert measures.effective_labels([0, 1, 2, 3, -1, -1]) == pytest.approx(4.0)
    assert measures.effective_labels([-1, -1]) == 0.0


def test_hidden_goal_is_the_chance_over_goals_and_draws():
    goals, num_goals, k = [0, 0, 2, None, 1, 0], 4, 2
    draws = [set(draw) for draw in combinations(range(len(goals)), k)]
    hits = [
        any(goals[index] == goal for index in draw) for goal in range(num_goals) for draw in draws
    ]
    found = measures.goal_metrics(goals, num_goals, sizes=[k])
    assert found["hidden_pass@2"] == pytest.approx(np.mean(hits))
    assert found["goals"] == 3


def test_mean_length_of_nothing_is_unknown(model):
    assert np.isnan(measures.mean_length([]))
    assert measures.mean_length(sample(model, [{"steps": 2}, {"steps": 6}])) == 4.0
