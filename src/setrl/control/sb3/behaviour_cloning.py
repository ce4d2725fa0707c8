"""Behaviour cloning of policies of Stable-Baselines3."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl.control.behaviour_cloning import (
    ENTROPY_COEF,
    LEARNING_RATE,
    Demonstrations,
    best_weights,
)
from setrl.control.sb3.advantages import flat_actions
from setrl.control.sb3.ppo import entropy_loss
from setrl.control.trajectories import select_steps

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

BATCH_SIZE = 256  # largest number of steps of an update


def clone(
    model: BaseAlgorithm, shown: Demonstrations, rng: np.random.Generator
) -> dict[str, float]:
    """Teach the model's policy the demonstrations; the policy ends with its best weights.

    Args:
        model: The model; its policy changes, its optimizer does not.
        shown: What to imitate.
        rng: Decides the held-out fifth and the batches.
    """
    policy = model.policy
    learnt, held_out = (
        np.flatnonzero(np.isin(shown.episodes, episodes)) for episodes in shown.split(rng)
    )
    optimizer = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)

    def learn() -> tuple[Any, float]:
        policy.set_training_mode(True)
        for batch in np.array_split(rng.permutation(learnt), -(-len(learnt) // BATCH_SIZE)):
            optimizer.zero_grad()
            _loss(policy, shown, batch).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
        policy.set_training_mode(False)
        with torch.no_grad():
            return copy.deepcopy(policy.state_dict()), float(_loss(policy, shown, held_out))

    weights, measured = best_weights(copy.deepcopy(policy.state_dict()), shown.epochs, learn)
    policy.load_state_dict(weights)
    return measured


def _loss(policy: Any, shown: Demonstrations, steps: np.ndarray) -> Any:
    observations, _ = policy.obs_to_tensor(select_steps(shown.observations, steps))
    actions = torch.as_tensor(flat_actions(shown.actions[steps]), device=policy.device)
    _, log_prob, entropy = policy.evaluate_actions(observations, actions)
    return -log_prob.mean() + ENTROPY_COEF * entropy_loss(entropy, log_prob)
