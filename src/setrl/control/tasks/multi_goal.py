"""Multi-goal: a MiniGrid room with five equal goals, one of them nearest.

Any goal gives reward 1 and ends the episode; only the discount prefers the nearest goal. A policy
that maximises the expected return goes only to that goal: set objectives change how many goals a
policy still reaches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Goal, Wall
from minigrid.minigrid_env import MiniGridEnv
from typing_extensions import override

from setrl.control import measures
from setrl.control.tasks.goals import GoalTask

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

    from setrl.control.trajectories import Trajectory

SIZE = 9
START, FACING_UP = (4, 4), 3
GOALS = ((6, 3), (1, 1), (7, 1), (1, 7), (7, 7))  # 4 actions away; the others 7 to 9
FORWARD_AND_TURNS = 3  # MiniGrid's first actions: left, right, forward


class MultiGoalEnv(MiniGridEnv):
    """A 9 × 9 room whose goals are all worth 1; the whole state is observed.

    Observations are one-hot column, row and direction of the agent: (9 + 9 + 4,) float32. `info`
    has the agent's `cell`, and `goal`, the index of the goal in that cell, or None.

    Args:
        blocked: Indices of goals that are replaced by walls.
        max_steps: Steps after which an episode is truncated.
        render_mode: The render mode of MiniGrid.
    """

    def __init__(
        self,
        blocked: Collection[int] = (),
        max_steps: int = 60,
        render_mode: str | None = None,
    ) -> None:
        self.blocked = frozenset(blocked)
        mission = MissionSpace(mission_func=_mission_text)
        super().__init__(
            mission, grid_size=SIZE, max_steps=max_steps, render_mode=render_mode, highlight=False
        )
        self.action_space = gym.spaces.Discrete(FORWARD_AND_TURNS)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2 * SIZE + 4,), np.float32)

    @override
    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        for index, cell in enumerate(GOALS):
            self.grid.set(*cell, Wall() if index in self.blocked else Goal())
        self.agent_pos, self.agent_dir = START, FACING_UP

    @override
    def _reward(self) -> float:
        return 1.0

    @override
    def gen_obs(self) -> np.ndarray:
        observation = np.zeros(2 * SIZE + 4, dtype=np.float32)
        observation[[self.agent_pos[0], SIZE + self.agent_pos[1], 2 * SIZE + self.agent_dir]] = 1.0
        return observation

    @override
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step as MiniGrid does, with `cell` and `goal` in the info."""
        observation, reward, terminated, truncated, info = super().step(action)
        cell = (int(self.agent_pos[0]), int(self.agent_pos[1]))
        info |= {"cell": cell, "goal": GOALS.index(cell) if terminated else None}
        return observation, float(reward), terminated, truncated, info


def _mission_text() -> str:
    return "reach any goal"


@dataclass(frozen=True)
class MultiGoal(GoalTask):
    """Reach one of the five goals; see `GoalTask`."""

    max_steps: int = 60

    name: ClassVar[str] = "multi_goal"
    num_goals: ClassVar[int] = len(GOALS)

    @override
    def make_env(self, blocked: Collection[int] = ()) -> gym.Env:
        """Make the room; `blocked` goals are walls."""
        return MultiGoalEnv(blocked, self.max_steps, render_mode="rgb_array")

    @override
    def more_metrics(
        self, model: BaseAlgorithm, rng: np.random.Generator, sampled: Sequence[Trajectory]
    ) -> dict[str, float]:
        """Measure `blocked_success`: the policy's most frequent goal is an unobserved wall."""
        favourite = max(range(len(GOALS)), key=[self.label(episode) for episode in sampled].count)
        blocked = measures.sample_episodes(
            model, lambda: self.make_env({favourite}), self.episodes // 2, rng
        )
        return {"blocked_success": self.success(blocked)}
