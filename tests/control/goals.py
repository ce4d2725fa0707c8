"""A grid with four equal goals, small enough to learn in seconds: what the trainer is tested on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from setrl.control.trajectories import Trajectory
from setrl.samples.values import DEGENERATE

MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))


class Goals(gym.Env):
    """A square grid that is left from its middle; reward 1 at any corner, and the end."""

    def __init__(self, size: int = 5, limit: int = 20):
        self.size, self.limit = size, limit
        self.observation_space = gym.spaces.Box(0.0, 1.0, (size * size,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = (self.size // 2, self.size // 2), 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        move, last = MOVES[int(action)], self.size - 1
        x, y = (min(max(at + by, 0), last) for at, by in zip(self.place, move, strict=True))
        self.place, self.steps = (x, y), self.steps + 1
        reached = x in (0, last) and y in (0, last)
        info = {"goal": (x, y)} if reached else {}
        return self._seen(), float(reached), reached, self.steps >= self.limit and not reached, info

    def _seen(self) -> np.ndarray:
        seen = np.zeros(self.size * self.size, np.float32)
        seen[self.place[0] * self.size + self.place[1]] = 1.0
        return seen


def goal(trajectory: Trajectory) -> tuple[int, int] | int:
    """Which corner was reached."""
    found: tuple[int, int] | None = trajectory.infos[-1].get("goal")
    return DEGENERATE if found is None else found


@dataclass(frozen=True)
class GoalsTask:
    """The grid as a task of a control run."""

    limit: int = 20
    name: str = field(default="goals", init=False)
    demonstrations: int = field(default=0, init=False)
    policy_kwargs: Mapping[str, Any] = field(default_factory=lambda: {"net_arch": [16]}, init=False)

    @property
    def defaults(self) -> dict[str, Any]:
        """Small."""
        return {
            "total_timesteps": 600,
            "n_envs": 2,
            "n_steps": 32,
            "batch_size": 32,
            "n_epochs": 2,
        }

    def make_env(self) -> gym.Env:
        """The grid."""
        return Goals(limit=self.limit)

    def label(self, trajectory: Trajectory) -> tuple[int, int] | int:
        """Which corner was reached."""
        return goal(trajectory)

    def score(self, trajectory: Trajectory) -> float:
        """1 if one was."""
        return float(goal(trajectory) != DEGENERATE)

    def evaluate(self, model: Any, rng: np.random.Generator) -> dict[str, float]:
        """Which of the first moves are drawn."""
        seen, _ = self.make_env().reset(seed=int(rng.integers(100)))
        moves = [int(model.predict(seen)[0]) for _ in range(20)]
        return {"success": 1.0, "moves": float(len(set(moves))), "unknown": float("nan")}
