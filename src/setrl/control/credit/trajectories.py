"""A trajectory: what one vine, or one episode, saw, did and got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Trajectory:
    """T steps from a state on, up to the end of the episode or the cut.

    Args:
        observations: (T+1, …), the first of the start and the last after the last step; a dict or
            tuple of such arrays where the environment's observations are one.
        actions_T: (T, …).
        rewards_T: (T,), NaN where the environment gave none: missing is not zero.
        infos: T+1 of them, as the observations.
        terminated: the environment said that the episode is over.
        truncated: it was cut, by the environment's time limit or by the pool's max_steps.
        extras: what the policy said of each step (log-probabilities, values, hidden states),
            each (T, …).
        snapshots: T+1 states, as the observations, where they were asked for.
    """

    observations: Any
    actions_T: np.ndarray
    rewards_T: np.ndarray
    infos: tuple[dict[str, Any], ...]
    terminated: bool
    truncated: bool
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    snapshots: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.rewards_T)

    @property
    def total_reward(self) -> float:
        """Σₜ rewards_T[t]; NaN, that is unknown, if a reward is missing; 0 for no steps."""
        return float(self.rewards_T.sum())


def stack(items: Sequence[Any]) -> Any:
    """Observations → one batch: arrays gain a first axis, dicts and tuples are stacked inside.

    >>> stack([{"image": [0, 0], "direction": 3}, {"image": [1, 1], "direction": 2}])
    {'image': array([[0, 0],
           [1, 1]]), 'direction': array([3, 2])}
    """
    first = items[0]
    if isinstance(first, dict):
        return {key: stack([item[key] for item in items]) for key in first}
    if isinstance(first, tuple):
        return tuple(stack(column) for column in zip(*items, strict=True))
    return np.stack([np.asarray(item) for item in items])
