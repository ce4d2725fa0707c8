"""Trajectories: what one vine, or one episode, saw, did and received.

Here T is the number of steps; for a language model it is the number of tokens: a token is a step of
its sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym
import numpy as np

TAKEN = "taken"  # key of a trajectory's extras: actions before they were clipped to their space


@dataclass(frozen=True)
class Trajectory:
    """T steps from a state, up to the end of the episode or the cut.

    Args:
        observations: (T+1, …), the first at the start and the last after the last step; a dict or
            tuple of such arrays if the environment's observations are dicts or tuples.
        actions_T: (T, …).
        rewards_T: (T,), NaN where the environment gave none: missing is not zero.
        infos: T+1 of them, one for each observation.
        terminated: Whether the environment ended the episode.
        truncated: Whether it was cut, by the environment's time limit or by the pool's max_steps.
        extras: What the policy recorded at each step, such as actions before clipping, each (T, …).
        origin: The state and the seed of noise from which a pool grew it, which repeat it.
    """

    observations: Any
    actions_T: np.ndarray
    rewards_T: np.ndarray
    infos: tuple[dict[str, Any], ...]
    terminated: bool
    truncated: bool
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    origin: tuple[Any, int] | None = None

    def __len__(self) -> int:
        return len(self.rewards_T)

    @property
    def total_reward(self) -> float:
        """Σₜ rewards_T[t]; NaN (unknown) if a reward is missing; 0 without steps."""
        return float(self.rewards_T.sum())

    @property
    def taken_T(self) -> np.ndarray:
        """The actions as the policy sampled them; the environment may have got clipped ones."""
        return self.extras.get(TAKEN, self.actions_T)

    @property
    def seen_T(self) -> Any:
        """The observations before each step: (T, …)."""
        return select_steps(self.observations, slice(-1))

    @property
    def is_finite(self) -> bool:
        """Whether all rewards are finite."""
        return bool(np.isfinite(self.rewards_T).all())


class Growing:
    """A trajectory that still grows.

    Args:
        observation: Observation of the start.
        info: Info of the start.
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

    def trajectory(self, origin: tuple[Any, int] | None = None) -> Trajectory:
        """Return the trajectory of the steps so far."""
        return Trajectory(
            observations=stack(self.observations),
            actions_T=stack(self.actions) if self.actions else np.empty(0),
            rewards_T=np.array(self.rewards, dtype=float),
            infos=tuple(self.infos),
            terminated=bool(self.terminated),
            truncated=bool(self.truncated),
            extras=stack(self.extras) if self.extras else {},
            origin=origin,
        )


def join_trunk_and_vine(trunk: Trajectory, time: int, vine: Trajectory) -> Trajectory:
    """Return a vine's whole episode: the trunk's steps before `time`, then the vine's steps."""
    # A part without steps has empty actions, whose shape could not be joined.
    actions = [part for part in (trunk.actions_T[:time], vine.actions_T) if len(part)]
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


def rest_of_trunk(trunk: Trajectory, time: int) -> Trajectory:
    """Return what is left of a trajectory after `time` steps."""
    return replace(
        trunk,
        observations=select_steps(trunk.observations, slice(time, None)),
        actions_T=trunk.actions_T[time:],
        rewards_T=trunk.rewards_T[time:],
        infos=trunk.infos[time:],
        extras={name: select_steps(part, slice(time, None)) for name, part in trunk.extras.items()},
        origin=None,
    )


def on_arrays(function: Callable[..., Any], *values: Any) -> Any:
    """Apply `function` to arrays; for dicts and tuples of arrays, to each array inside."""
    first = values[0]
    if isinstance(first, dict):
        return {key: on_arrays(function, *(value[key] for value in values)) for key in first}
    if isinstance(first, tuple):
        return tuple(on_arrays(function, *column) for column in zip(*values, strict=True))
    return function(*values)


def stack(items: Sequence[Any]) -> Any:
    """Stack observations to one batch: arrays gain a first axis, dicts and tuples inside too.

    >>> stack([{"image": [0, 0], "direction": 3}, {"image": [1, 1], "direction": 2}])
    {'image': array([[0, 0],
           [1, 1]]), 'direction': array([3, 2])}
    """
    return on_arrays(lambda *arrays: np.stack([np.asarray(array) for array in arrays]), *items)


def concatenated(observations: Sequence[Any]) -> Any:
    """Join stacked observations one after another."""
    return on_arrays(lambda *arrays: np.concatenate(arrays), *observations)


def select_steps(observations: Any, where: Any) -> Any:
    """Select some of the stacked observations, by an index, a slice or an array of indices."""
    return on_arrays(lambda array: array[where], observations)
