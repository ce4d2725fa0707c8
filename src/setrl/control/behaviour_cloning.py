"""Behaviour cloning: a policy imitates demonstrations before it is trained.

    loss = −mean log π(a|s) − entropy_coef · mean H(π(·|s))

The policy learns from four fifths of the demonstrated episodes; the loss on the other fifth decides
when to stop (arXiv:2509.25424, App. A). `sb3` and `jax` each have the loss and its steps: `clone`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

PATIENCE = 5  # epochs without a better loss on held-out episodes
ENTROPY_COEF, LEARNING_RATE = 0.01, 1e-3  # the paper's weight of the entropy; step size of Adam
Weights = TypeVar("Weights")


@dataclass(frozen=True)
class Demonstrations:
    """Steps of an expert, episode after episode.

    Attributes:
        observations: (T, …), or a mapping of such arrays, as the environment gives them.
        actions: (T, …).
        episodes: (T,) the episode of each step, ascending.
        epochs: Largest number of passes over them.
    """

    observations: Any
    actions: np.ndarray
    episodes: np.ndarray
    epochs: int = 40

    def split(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the episodes to learn from, and a random fifth to hold out, at least one."""
        names = np.unique(self.episodes)
        if len(names) < 2:
            raise ValueError(f"behaviour cloning needs at least 2 episodes, got {len(names)}")
        order, held_out = rng.permutation(names), max(len(names) // 5, 1)
        return order[held_out:], order[:held_out]


def best_weights(
    first: Weights, epochs: int, learn: Callable[[], tuple[Weights, float]]
) -> tuple[Weights, dict[str, float]]:
    """Learn until the held-out loss no longer falls; return the best weights, and how good.

    Args:
        first: The weights before the first epoch.
        epochs: Largest number of epochs.
        learn: Passes once over the demonstrations; returns the weights and the held-out loss, in
            nats.
    """
    best, best_loss, best_epoch = first, np.inf, 0
    for epoch in range(1, epochs + 1):
        weights, loss = learn()
        if loss < best_loss:
            best, best_loss, best_epoch = weights, loss, epoch
        elif epoch - best_epoch >= PATIENCE:
            break
    return best, {"held_out_loss": best_loss, "epochs": float(best_epoch)}
