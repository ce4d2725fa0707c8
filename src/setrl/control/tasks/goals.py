"""Equal goals, any of which will do: which one is reached is the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from setrl.control import measures
from setrl.control.credit import diversity

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.credit.trajectories import Trajectory

FROM_SCRATCH = MappingProxyType(
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


class GoalTask:
    """What tasks of equal goals share: label, score and metrics.

    Subclasses are frozen dataclasses with the fields below and a `make_env`, whose infos have the
    `goal` that was reached: 0 … num_goals − 1, or None.
    """

    episodes: int
    num_goals: int
    pretrain: None = None

    def make_env(self) -> gym.Env:
        """The environment; subclasses say which."""
        raise NotImplementedError

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Of PPO; the steps are learnt in a minute or so."""
        return FROM_SCRATCH

    @property
    def policy_kwargs(self) -> Mapping[str, Any]:
        """Stable-Baselines3's own: two layers of 64."""
        return MappingProxyType({})

    def label(self, trajectory: Trajectory) -> int | None:
        """The goal that was reached."""
        goal: int | None = diversity.final("goal")(trajectory)  # type: ignore[assignment]
        return goal

    def score(self, trajectory: Trajectory) -> float:
        """1 if a goal was reached."""
        return float(self.label(trajectory) is not None)

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Success, goals still reached, and what they are good for.

        `hidden_pass@k`: one of the goals, each as likely, is secretly the only one that counts;
        the chance that one of k episodes ends there.
        """
        sampled = measures.sample_episodes(model, self.make_env, self.episodes, rng)
        return {
            "success": self.success(sampled),
            **measures.goal_metrics([self.label(one) for one in sampled], self.num_goals),
            **self.more_metrics(model, rng, sampled),
            "path_length": measures.mean_length([one for one in sampled if self.score(one)]),
        }

    def more_metrics(
        self, model: BaseAlgorithm, rng: np.random.Generator, sampled: Sequence[Trajectory]
    ) -> dict[str, float]:
        """What a task measures besides."""
        return {}

    def success(self, sampled: Sequence[Trajectory]) -> float:
        """The share of episodes that reach a goal."""
        return float(np.mean([self.score(one) for one in sampled]))
