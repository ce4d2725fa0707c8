"""MiniGrid's FourRooms with the settings of "Polychromic Objectives" (arXiv:2509.25424)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from minigrid.core.constants import DIR_TO_VEC
from minigrid.envs.fourrooms import FourRoomsEnv
from typing_extensions import override

from studies.grids.layouts import FixedLayouts, LayoutTask, Shown
from studies.grids.paper import HORIZON, PAPER_PPO, SHOWN
from studies.grids.paths import shortest

LEFT, RIGHT, FORWARD = range(3)
LARGEST_CODE = 10.0  # largest code of MiniGrid's objects; observations are divided by it
VIEW = 7 * 7 * 3

Pose = tuple[int, int, int]  # column, row, direction


class FourRooms(FixedLayouts, FourRoomsEnv):
    """FourRooms in fixed layouts: the agent's view, flattened, and three actions.

    Observations are MiniGrid's 7 × 7 × 3 view divided by 10: (147,) float32.
    """

    room_span = 9

    def __init__(self, num_layouts: int = 50, render_mode: str | None = None) -> None:
        self.num_layouts = num_layouts
        super().__init__(max_steps=HORIZON, render_mode=render_mode)
        self.action_space = gym.spaces.Discrete(3)
        self.observation_space = gym.spaces.Box(0.0, 1.1, (VIEW,), np.float32)

    @override
    def gen_obs(self) -> np.ndarray:
        image = super().gen_obs()["image"]
        return image.astype(np.float32).reshape(-1) / LARGEST_CODE


def shortest_actions(env: FourRooms, rng: np.random.Generator) -> list[int]:
    """Find a shortest path to the goal by breadth-first search; rng decides between equal paths."""

    def is_goal(pose: Pose) -> bool:
        cell = env.grid.get(*pose[:2])
        return cell is not None and cell.type == "goal"

    start: Pose = (int(env.agent_pos[0]), int(env.agent_pos[1]), int(env.agent_dir))
    actions = shortest(start, partial(_after, env), is_goal, range(3), rng)
    if actions is None:
        raise ValueError("the goal cannot be reached")
    return actions


def _after(env: FourRooms, pose: Pose, action: int) -> Pose:
    x, y, direction = pose
    if action != FORWARD:
        return x, y, (direction + (1 if action == RIGHT else -1)) % 4
    step = DIR_TO_VEC[direction]
    ahead = (x + int(step[0]), y + int(step[1]))
    cell = env.grid.get(*ahead)
    return pose if cell is not None and not cell.can_overlap() else (*ahead, direction)


@dataclass(frozen=True)
class FourRoomsTask(LayoutTask):
    """Reach the goal of a layout; the demonstrations are shortest paths. See `LayoutTask`."""

    name: ClassVar[str] = "four_rooms"
    defaults: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {**PAPER_PPO, "total_timesteps": 150_000}
    )

    @override
    def make_env(self) -> FourRooms:
        return FourRooms(self.num_layouts, render_mode="rgb_array")

    @override
    def demonstrated(self, env: Any, layout: int, rng: np.random.Generator) -> list[Shown]:
        """Return the steps of a shortest path."""
        seen, _ = env.reset(options={"layout": layout, "stream": SHOWN})
        steps = []
        for action in shortest_actions(env, rng):
            steps.append((seen, action))
            seen, *_ = env.step(action)
        return steps
