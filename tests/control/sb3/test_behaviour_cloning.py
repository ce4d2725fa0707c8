"""Behaviour cloning, with and without a memory."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.sb3 import behaviour_cloning
from setrl.control.sb3.recurrent import GRUPolicy, RecurrentPolyPPO
from setrl.control.sb3.vines import Vines
from tests.control.cloned import new_model, triangles


@pytest.fixture
def task():
    return triangles()


@pytest.fixture
def options(monkeypatch):
    """A function that changes constants of behaviour cloning."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setattr(behaviour_cloning, name, value)

    return change


def shares(model, observations):
    seen, _ = model.policy.obs_to_tensor(observations)
    with torch.no_grad():
        return model.policy.get_distribution(seen).distribution.probs.numpy()


def test_it_learns_the_shares_of_the_demonstrated_actions(task, options):
    options(ENTROPY_COEF=0.0, LEARNING_RATE=0.01, BATCH_SIZE=40)
    model = new_model(task)
    observations = np.zeros((100, 24), np.float32)
    actions = np.array([0, 0, 0, 5] * 25)
    shown = Demonstrations(observations, actions, np.arange(100))
    rng = np.random.default_rng(0)
    behaviour_cloning.clone(model, shown, rng)
    learnt = shares(model, observations[:1])[0]
    assert learnt[0] == pytest.approx(0.75, abs=0.08)
    assert learnt[5] == pytest.approx(0.25, abs=0.08)


def test_the_entropy_bonus_keeps_it_from_certainty(task, options):
    shown = Demonstrations(np.zeros((40, 24), np.float32), np.zeros(40, int), np.arange(40))
    found = []
    for entropy_coef in (0.0, 1.0):
        model = new_model(task)
        options(ENTROPY_COEF=entropy_coef, BATCH_SIZE=8)
        behaviour_cloning.clone(model, shown, np.random.default_rng(0))
        found.append(shares(model, shown.observations[:1])[0, 0])
    assert found[0] > found[1] + 0.1


class Recall(gym.Env):
    """Five steps; only the first shows the action that all of them want."""

    observation_space, action_space = gym.spaces.Box(-1, 1, (1,)), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.ones(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), 0.0, True, False, {}


def recalled(num_episodes):
    """Episodes of 3 or 5 steps: ±1 is seen at first, then nothing; the action is its sign."""
    rng, seen, actions, episodes = np.random.default_rng(1), [], [], []
    for episode in range(num_episodes):
        sign, length = rng.integers(2), int(rng.choice([3, 5]))
        seen += [2 * sign - 1.0, *[0.0] * (length - 1)]
        actions += [sign] * length
        episodes += [episode] * length
    return Demonstrations(
        np.array(seen, np.float32)[:, None], np.array(actions), np.array(episodes)
    )


def test_a_policy_with_a_memory_learns_what_it_must_remember(options):
    vines = Vines(Recall, num_vines=0)
    model = RecurrentPolyPPO(
        GRUPolicy, Recall(), None, vines, seed=0, device="cpu",
        policy_kwargs={"hidden_size": 8, "net_arch": [8]},
    )  # fmt: skip
    shown, rng = recalled(60), np.random.default_rng(0)
    options(ENTROPY_COEF=0.0, LEARNING_RATE=0.02, BATCH_SIZE=64)
    found = behaviour_cloning.clone(model, shown, rng)
    assert found["held_out_loss"] < 0.1  # without a memory it is at least log 2 · 3/4
    for sign in (0, 1):
        state, drawn = None, []
        for seen in (2 * sign - 1, 0, 0):
            action, state = model.predict(np.full((1, 1), seen, np.float32), state)
            drawn.append(int(action[0]))
        assert drawn == [sign] * 3


def test_the_loss_of_an_episode_does_not_depend_on_those_beside_it():
    vines = Vines(Recall, num_vines=0)
    model = RecurrentPolyPPO(GRUPolicy, Recall(), None, vines, seed=0, device="cpu")
    shown = recalled(6)
    steps = [np.flatnonzero(shown.episodes == episode) for episode in range(6)]
    together = behaviour_cloning._loss(model.policy, shown, np.concatenate(steps)).item()
    alone = [behaviour_cloning._loss(model.policy, shown, own).item() for own in steps]
    assert together == pytest.approx(np.average(alone, weights=[len(own) for own in steps]))
