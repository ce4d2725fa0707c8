"""Point mass: a MuJoCo body that forces push over a plane to one of several goals around it.

Forces are continuous, and a Gaussian policy starts in the middle of the goals: to keep several
goals, it must leave the first pushes to chance, and then continue in their direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.envs.mujoco.mujoco_env import MujocoEnv
from typing_extensions import override

from setrl.control.tasks.goals import GoalTask
from studies import pictures

MODEL = Path(__file__).with_name("point_mass.xml")
FRAME_SKIP = 5
NEAREST, FARTHEST, NUM_GOALS = 0.4, 0.5, 6  # metres from the start; each radius is a little larger
GOAL_RADIUS = 0.1


def goal_places() -> np.ndarray:
    """Return the places of the goals, (goals, 2): all around, each a little farther away."""
    angles = 2 * np.pi * np.arange(NUM_GOALS) / NUM_GOALS
    radii = np.linspace(NEAREST, FARTHEST, NUM_GOALS)
    return radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


class PointMassEnv(MujocoEnv):
    """Forces along two axes; reward 1 on reaching any goal, which ends the episode.

    Observations are position and velocity, (4,) float64. `info` has `goal`, the index of the
    reached goal, or None, and the `place`.
    """

    metadata = {  # noqa: RUF012 - an instance variable in Gymnasium
        "render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"],
        "render_fps": 20,
    }

    def __init__(self, max_steps: int = 40, render_mode: str | None = None) -> None:
        space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float64)
        super().__init__(
            str(MODEL), FRAME_SKIP, space, render_mode=render_mode, width=256, height=256
        )
        self.goals = goal_places()
        self.max_steps = max_steps
        self.steps = 0

    @override
    def reset_model(self) -> np.ndarray:
        self.steps = 0
        self.set_state(self.init_qpos, self.init_qvel)
        return self.seen()

    @override
    def step(  # type: ignore[override]
        self, action: Any
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Push for 5 frames."""
        self.do_simulation(np.clip(action, -1.0, 1.0), self.frame_skip)
        self.steps += 1
        place = self.data.qpos.copy()
        apart = np.linalg.norm(self.goals - place, axis=-1)
        reached = bool(apart.min() < GOAL_RADIUS)
        goal = int(apart.argmin()) if reached else None
        info = {"goal": goal, "place": place}
        return self.seen(), float(reached), reached, self.steps >= self.max_steps, info

    @override
    def render(self) -> np.ndarray:
        """Draw the plane from above; MuJoCo's own pictures need OpenGL."""
        return pictures.plane(self.goals, GOAL_RADIUS, self.data.qpos, reach=0.75)

    def seen(self) -> np.ndarray:
        """Return position and velocity."""
        return np.concatenate([self.data.qpos, self.data.qvel])


@dataclass(frozen=True)
class PointMass(GoalTask):
    """Reach one of the six goals; see `GoalTask`."""

    max_steps: int = 40

    name: ClassVar[str] = "point_mass"
    num_goals: ClassVar[int] = NUM_GOALS

    @override
    def make_env(self) -> gym.Env:
        return PointMassEnv(self.max_steps, render_mode="rgb_array")
