"""Behaviour cloning of policies of Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.sb3 import behaviour_cloning
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
