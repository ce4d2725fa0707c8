"""Behaviour cloning of policies of Stable-Baselines3; a memory is unrolled along whole episodes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl.control.behaviour_cloning import (
    ENTROPY_COEF,
    LEARNING_RATE,
    Demonstrations,
    best_weights,
)
from setrl.control.sb3.advantages import flat
from setrl.control.sb3.buffer import gathered
from setrl.control.sb3.networks import GRUPolicy
from setrl.control.sb3.update import entropy_loss
from setrl.control.trajectories import part

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

# Steps of an update; slightly more for policies with a memory, whose episodes stay whole.
BATCH_SIZE = 256


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
    learnt, kept = (np.flatnonzero(np.isin(shown.episodes, one)) for one in shown.split(rng))
    optimizer = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)

    def learn() -> tuple[Any, float]:
        policy.set_training_mode(True)
        for batch in _batches(policy, shown, learnt, rng):
            optimizer.zero_grad()
            _loss(policy, shown, batch).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
        policy.set_training_mode(False)
        with torch.no_grad():
            return copy.deepcopy(policy.state_dict()), float(_loss(policy, shown, kept))

    weights, found = best_weights(copy.deepcopy(policy.state_dict()), shown.epochs, learn)
    policy.load_state_dict(weights)
    return found


def _batches(
    policy: Any, shown: Demonstrations, steps: np.ndarray, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield all steps in random order, or, for a policy with a memory, all episodes."""
    if not isinstance(policy, GRUPolicy):
        yield from np.array_split(rng.permutation(steps), -(-len(steps) // BATCH_SIZE))
        return
    episodes = _by_episode(shown, steps)
    for batch in gathered(episodes, rng.permutation(len(episodes)), BATCH_SIZE):
        yield np.concatenate(batch)


def _loss(policy: Any, shown: Demonstrations, steps: np.ndarray) -> Any:
    observations, _ = policy.obs_to_tensor(part(shown.observations, steps))
    actions = torch.as_tensor(flat(shown.actions[steps]), device=policy.device)
    if isinstance(policy, GRUPolicy):
        lengths = [len(episode) for episode in _by_episode(shown, steps)]
        empty = torch.zeros(len(lengths), policy.hidden_size, device=policy.device)
        _, log_prob, entropy = policy.evaluate_pieces(observations, actions, empty, lengths)
    else:
        _, log_prob, entropy = policy.evaluate_actions(observations, actions)
    return -log_prob.mean() + ENTROPY_COEF * entropy_loss(entropy, log_prob)


def _by_episode(shown: Demonstrations, steps: np.ndarray) -> list[np.ndarray]:
    """Split steps of whole episodes into an array per episode."""
    return np.split(steps, np.flatnonzero(np.diff(shown.episodes[steps])) + 1)
