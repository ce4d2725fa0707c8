"""Behaviour cloning: a policy imitates demonstrations before it is trained.

    loss = −mean log π(a|s) − entropy_coef · mean H(π(·|s))

The policy is trained on four fifths of the demonstrated episodes; the loss on the other fifth
decides when to stop (arXiv:2509.25424, App. A). A policy with a memory is unrolled along whole
episodes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl.control.credit.trajectories import part
from setrl.control.sb3.buffer import gathered
from setrl.control.sb3.critic import flat
from setrl.control.sb3.recurrent import GRUPolicy
from setrl.control.sb3.update import entropy_loss

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

PATIENCE = 5  # epochs without a better loss on held-out episodes


@dataclass(frozen=True)
class Demonstrations:
    """Steps of an expert, episode after episode.

    Attributes:
        observations: (T, …), or a mapping of such arrays, as the environment gives them.
        actions: (T, …).
        episodes: (T,) the episode of each step, ascending; held-out steps belong to whole held-out
            episodes.
    """

    observations: Any
    actions: np.ndarray
    episodes: np.ndarray


def clone(
    model: BaseAlgorithm,
    demonstrations: Demonstrations,
    rng: np.random.Generator,
    *,
    entropy_coef: float = 0.01,
    learning_rate: float = 1e-3,
    batch_size: int = 256,
    epochs: int = 40,
) -> dict[str, float]:
    """Teach the model's policy the demonstrations; the policy ends with its best weights.

    Args:
        model: The model; its policy changes, its optimizer does not.
        demonstrations: What to imitate.
        rng: Decides the held-out fifth and the batches.
        entropy_coef: Weight of the entropy bonus; the paper has .01.
        learning_rate: Step size of Adam.
        batch_size: Steps of an update; slightly more for policies with a memory, whose episodes
            stay whole.
        epochs: Largest number of passes; it stops after 5 without a lower held-out loss.

    Returns:
        The best held-out loss, in nats, and the number of epochs.
    """
    policy, steps = model.policy, len(demonstrations.actions)
    held_out = _held_out(demonstrations.episodes, rng)
    learnt, kept = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    best_loss, best_epoch, best_weights = np.inf, 0, copy.deepcopy(policy.state_dict())
    for epoch in range(1, epochs + 1):
        policy.set_training_mode(True)
        for batch in _batches(policy, demonstrations, learnt, batch_size, rng):
            optimizer.zero_grad()
            _loss(policy, demonstrations, batch, entropy_coef).backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
        policy.set_training_mode(False)
        with torch.no_grad():
            loss = float(_loss(policy, demonstrations, kept, entropy_coef))
        if loss < best_loss:
            best_loss, best_epoch, best_weights = loss, epoch, copy.deepcopy(policy.state_dict())
        elif epoch - best_epoch >= PATIENCE:
            break
    policy.load_state_dict(best_weights)
    return {"steps": float(steps), "held_out_loss": best_loss, "epochs": float(best_epoch)}


def _held_out(episodes_T: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose the steps of a random fifth of the episodes, at least one episode."""
    names = np.unique(episodes_T)
    if len(names) < 2:
        raise ValueError(f"behaviour cloning needs at least 2 episodes, got {len(names)}")
    return np.isin(episodes_T, rng.permutation(names)[: max(len(names) // 5, 1)])


def _batches(
    policy: Any, shown: Demonstrations, steps: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield all steps in random order, or, for a policy with a memory, all episodes."""
    if not isinstance(policy, GRUPolicy):
        yield from np.array_split(rng.permutation(steps), -(-len(steps) // batch_size))
        return
    episodes = _by_episode(shown, steps)
    for batch in gathered(episodes, rng.permutation(len(episodes)), batch_size):
        yield np.concatenate(batch)


def _loss(policy: Any, shown: Demonstrations, steps: np.ndarray, entropy_coef: float) -> Any:
    observations, _ = policy.obs_to_tensor(part(shown.observations, steps))
    actions = torch.as_tensor(flat(shown.actions[steps]), device=policy.device)
    if isinstance(policy, GRUPolicy):
        lengths = [len(episode) for episode in _by_episode(shown, steps)]
        empty = torch.zeros(len(lengths), policy.hidden_size, device=policy.device)
        _, log_prob, entropy = policy.evaluate_pieces(observations, actions, empty, lengths)
    else:
        _, log_prob, entropy = policy.evaluate_actions(observations, actions)
    return -log_prob.mean() + entropy_coef * entropy_loss(entropy, log_prob)


def _by_episode(shown: Demonstrations, steps: np.ndarray) -> list[np.ndarray]:
    """Split steps of whole episodes into an array per episode."""
    return np.split(steps, np.flatnonzero(np.diff(shown.episodes[steps])) + 1)
