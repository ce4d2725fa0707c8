"""Trajectories: what one vine, or one episode, saw, did and got.

T is the number of steps here, where it is the number of tokens for a language model: a token is a
step of its sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

# Keys of a trajectory's extras.
TAKEN = "taken"  # actions before they were clipped to the action space
MEMORY = "memory"  # the memory of a recurrent policy before each step
SEEN = "seen"  # observations as the policy saw them, where they are normalised


@dataclass(frozen=True)
class Trajectory:
    """T steps from a state on, up to the end of the episode or the cut.

    Args:
        observations: (T+1, …), the first of the start and the last after the last step; a dict or
            tuple of such arrays where the environment's observations are one.
        actions_T: (T, …).
        rewards_T: (T,), NaN where the environment gave none: missing is not zero.
        infos: T+1 of them, as the observations.
        terminated: whether the environment ended the episode.
        truncated: whether it was cut, by the environment's time limit or by the pool's max_steps.
        extras: what the policy noted at each step (actions before clipping, memories, normalised
            observations), each (T, …).
        snapshots: T+1 states, as the observations, None where one was not kept; or none at all.
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

    @property
    def taken_T(self) -> np.ndarray:
        """The actions as the policy sampled them; the environment may have got them clipped."""
        return self.extras.get(TAKEN, self.actions_T)

    @property
    def seen_T(self) -> Any:
        """The observations that the policy acted on, as it saw them: (T, …)."""
        return self.extras[SEEN] if SEEN in self.extras else part(self.observations, slice(-1))

    @property
    def is_finite(self) -> bool:
        """Whether all rewards are finite."""
        return bool(np.isfinite(self.rewards_T).all())


class Growing:
    """A trajectory while its steps are taken.

    Args:
        observation: Of the start.
        info: Of the start.
    """

    def __init__(self, observation: Any, info: dict[str, Any]) -> None:
        self.observations, self.infos = [observation], [info]
        self.actions: list[Any] = []
        self.rewards: list[float] = []
        self.extras: list[dict[str, Any]] = []
        self.terminated = self.truncated = False

    @property
    def ended(self) -> bool:
        """Whether no step follows."""
        return self.terminated or self.truncated

    def step(self, env: gym.Env, action: Any, extras: dict[str, Any]) -> None:
        """Step the environment and record what it gives."""
        observation, reward, self.terminated, self.truncated, info = env.step(action)
        self.observations.append(observation)
        self.infos.append(info)
        self.actions.append(action)
        self.rewards.append(float(reward))
        self.extras.append(extras)

    def trajectory(self, snapshots: Sequence[Any] = ()) -> Trajectory:
        """The steps so far."""
        return Trajectory(
            observations=stack(self.observations),
            actions_T=stack(self.actions) if self.actions else np.empty(0),
            rewards_T=np.array(self.rewards, dtype=float),
            infos=tuple(self.infos),
            terminated=bool(self.terminated),
            truncated=bool(self.truncated),
            extras=stack(self.extras) if self.extras else {},
            snapshots=tuple(snapshots),
        )


def joined(trunk: Trajectory, time: int, vine: Trajectory) -> Trajectory:
    """The whole episode of a vine: the trunk's steps before `time`, then the vine's own."""
    # Either part may have no steps, and then its empty actions have no shape that could be joined.
    actions = [each for each in (trunk.actions_T[:time], vine.actions_T) if len(each)]
    return Trajectory(
        observations=on_arrays(
            lambda before, after: np.concatenate([before[:time], after]),
            trunk.observations,
            vine.observations,
        ),
        actions_T=np.concatenate(actions) if actions else trunk.actions_T[:0],
        rewards_T=np.concatenate([trunk.rewards_T[:time], vine.rewards_T]),
        infos=trunk.infos[:time] + vine.infos,
        terminated=vine.terminated,
        truncated=vine.truncated,
    )


def on_arrays(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of arrays; for dicts and tuples of arrays, the same of what they hold."""
    first = values[0]
    if isinstance(first, dict):
        return {key: on_arrays(function, *(each[key] for each in values)) for key in first}
    if isinstance(first, tuple):
        return tuple(on_arrays(function, *column) for column in zip(*values, strict=True))
    return function(*values)


def stack(items: Sequence[Any]) -> Any:
    """Observations → one batch: arrays gain a first axis, dicts and tuples are stacked inside.

    >>> stack([{"image": [0, 0], "direction": 3}, {"image": [1, 1], "direction": 2}])
    {'image': array([[0, 0],
           [1, 1]]), 'direction': array([3, 2])}
    """
    return on_arrays(lambda *arrays: np.stack([np.asarray(each) for each in arrays]), *items)


def concatenated(observations: Sequence[Any]) -> Any:
    """Stacked observations one after another."""
    return on_arrays(lambda *arrays: np.concatenate(arrays), *observations)


def part(observations: Any, where: Any) -> Any:
    """Some of stacked observations, by an index, a slice or an array of indices."""
    return on_arrays(lambda array: array[where], observations)
