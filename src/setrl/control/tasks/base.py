"""The protocol of a control task: an environment, labels of strategies, a score, and metrics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory

PPO_FROM_SCRATCH = MappingProxyType(  # enough for small tasks in about a minute
    {
        "total_timesteps": 60_000,
        "n_envs": 8,
        "n_steps": 128,
        "batch_size": 256,
        "n_epochs": 4,
        "learning_rate": 1e-3,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "ent_coef": 0.0,
    }
)


def on_jax(ppo: Mapping[str, Any], num_trajectories: int) -> Mapping[str, Any]:
    """Return the same arguments of PPO for JAX, where an update has so many trajectories."""
    same = {name: value for name, value in ppo.items() if name not in ("n_envs", "n_steps")}
    return MappingProxyType({**same, "num_trajectories": num_trajectories})


JAX_FROM_SCRATCH = on_jax(PPO_FROM_SCRATCH, 192)


@runtime_checkable
class ControlTask(Protocol):
    """An environment with several ways to succeed, and functions that label and score them.

    A task is a frozen dataclass of its options, so that its `repr` determines it.

    Attributes:
        name: Name of the task in configs and figures.
        defaults: Arguments of PPO for the task, which a config may change; `n_envs` and
            `total_timesteps` are among them.
        policy_kwargs: Arguments of the policy, as Stable-Baselines3's PPO takes them.
        demonstrations: Number of an expert's episodes that every policy imitates before it is
            trained; 0 for a task that is learned from scratch. Otherwise the task also has
            `demonstrate(rng)`, which returns `behaviour_cloning.Demonstrations`.
    """

    name: str
    defaults: Mapping[str, Any]
    policy_kwargs: Mapping[str, Any]
    demonstrations: int

    def make_env(self) -> gym.Env:
        """Make a new environment, with its own time limit; seeded by its first `reset(seed=…)`."""
        ...

    def label(self, trajectory: Trajectory) -> Hashable:
        """Return the strategy of the trajectory; −1 for no strategy, None if it is unknown."""
        ...

    def score(self, trajectory: Trajectory) -> float:
        """Return how well the trajectory did, in [0, 1]: its reward in a set objective."""
        ...

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Measure the model's policy, sampled as in training: name → value, NaN if undefined."""
        ...
