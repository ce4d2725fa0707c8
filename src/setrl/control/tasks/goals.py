"""Equal goals; each ends the episode with reward 1: the reached goal is the strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np

from setrl.control import labels, measures
from setrl.control.tasks.base import PPO_FROM_SCRATCH
from setrl.samples.values import DEGENERATE

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory


@dataclass(frozen=True)
class GoalTask(ABC):
    """The task to reach a goal; the reached goal is the strategy.

    Subclasses set a default of `max_steps`, and a `make_env` whose infos have the reached `goal`: 0
    … num_goals − 1, or None.

    Attributes:
        max_steps: Steps after which an episode is truncated.
        episodes: Episodes of an evaluation.
    """

    max_steps: int
    episodes: int = 256

    name: ClassVar[str]
    num_goals: ClassVar[int]
    demonstrations: ClassVar[int] = 0
    defaults: ClassVar[Mapping[str, Any]] = PPO_FROM_SCRATCH
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # two layers of 64

    @abstractmethod
    def make_env(self) -> gym.Env:
        """Return a new environment."""

    def label(self, trajectory: Trajectory) -> int:
        """Return the goal that was reached, or −1."""
        goal: int = labels.final("goal")(trajectory)  # type: ignore[assignment]
        return goal

    def score(self, trajectory: Trajectory) -> float:
        """Return 1 if a goal was reached, else 0."""
        return float(self.label(trajectory) != DEGENERATE)

    def evaluate(self, model: BaseAlgorithm, rng: np.random.Generator) -> dict[str, float]:
        """Measure success, the goals still reached, and their worth with a hidden goal.

        `hidden_pass@k`: one of the goals, each equally probable, is secretly the only goal that
        counts; this is the probability that one of k episodes ends there.
        """
        sampled = measures.sample_episodes(model, self.make_env, self.episodes, rng)
        return {
            "success": self.success(sampled),
            **measures.goal_metrics([self.label(episode) for episode in sampled], self.num_goals),
            **self.more_metrics(model, rng, sampled),
            "path_length": measures.mean_length(
                [episode for episode in sampled if self.score(episode)]
            ),
        }

    def more_metrics(
        self, model: BaseAlgorithm, rng: np.random.Generator, sampled: Sequence[Trajectory]
    ) -> dict[str, float]:
        """Return further metrics of a task."""
        return {}

    def success(self, sampled: Sequence[Trajectory]) -> float:
        """Return the share of episodes that reach a goal."""
        return float(np.mean([self.score(episode) for episode in sampled]))
