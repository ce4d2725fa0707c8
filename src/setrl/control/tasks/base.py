"""What a control task is: an environment, what counts as a way to succeed, and what to measure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.credit.trajectories import Trajectory

Pretrain = Callable[["BaseAlgorithm", np.random.Generator], Mapping[str, float]]


@runtime_checkable
class ControlTask(Protocol):
    """An environment with many ways to succeed, and how to tell them apart.

    A task is a frozen dataclass of its options, so that its `repr` says all that decides it.

    Attributes:
        name: Its name in configs and figures.
        defaults: Arguments of PPO that the task is learnt with, unless a config says otherwise;
            `n_envs` and `total_timesteps` are among them.
        policy_kwargs: Arguments of the policy, as Stable-Baselines3's PPO takes them.
        pretrain: Teaches the policy of a model before it is trained, and returns what it measured;
            None for a task that is learnt from scratch. Call it through
            `warm_start`, which keeps the result on disk.
    """

    name: str
    defaults: Mapping[str, Any]
    policy_kwargs: Mapping[str, Any]
    pretrain: Pretrain | None

    def make_env(self) -> gym.Env:
        """A new environment, with its own time limit; seeded by its first `reset(seed=…)`."""
        ...

    def label(self, trajectory: Trajectory) -> Hashable | None:
        """Which way the trajectory took; None for degenerate, in no cluster.

        It reads the observations, the actions and the infos of the trajectory's own steps, and so
        works for a vine that begins in the middle of an episode too.
        """
        ...

    def score(self, trajectory: Trajectory) -> float:
        """How well the trajectory did, in [0, 1]: what a set objective takes as its reward."""
        ...

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Metrics of the model's policy, sampled as in training: name → value, NaN if undefined."""
        ...
