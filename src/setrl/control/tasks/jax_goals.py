"""A room with equal goals on JAX: `multi_goal` with any number of goals, for exact comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control import measures
from setrl.control.jax.poly_ppo import Player
from setrl.control.tasks.base import JAX_FROM_SCRATCH

FIVE = ((6, 3), (1, 1), (7, 1), (1, 7), (7, 7))  # multi_goal's: one is nearer than the others
RIGHT_DOWN_LEFT_UP = ((1, 0), (0, 1), (-1, 0), (0, -1))
UP, FORWARD = 3, 2
TILE = 16  # pixels of a cell in pictures
COLOURS = {"floor": (40, 40, 40), "wall": (110, 110, 110), "goal": (60, 170, 90)}


class GoalState(NamedTuple):
    """Where the agent is, which way it faces, and the goal that it has reached, or −1."""

    x: jax.Array
    y: jax.Array
    direction: jax.Array
    goal: jax.Array


@dataclass(frozen=True)
class GoalRoom:
    """A square room with walls around it; any goal gives reward 1 and ends the episode.

    Actions are left, right, forward; observations are one-hot column, row and direction, as in
    `multi_goal`, whose room this is with its five goals.

    Attributes:
        size: Cells of a side, walls included; the agent starts in the middle, facing up.
        goals: Column and row of each goal.
        max_steps: Steps after which an episode is cut.
    """

    size: int
    goals: tuple[tuple[int, int], ...]
    max_steps: int
    num_actions: int = 3

    @cached_property
    def _goal_at(self) -> np.ndarray:
        goal_at = np.full((self.size, self.size), -1, np.int32)
        for index, (x, y) in enumerate(self.goals):
            goal_at[x, y] = index
        return goal_at

    def reset(self, key: jax.Array) -> GoalState:
        """Return the middle of the room."""
        middle = jnp.int32(self.size // 2)
        return GoalState(middle, middle, jnp.int32(UP), jnp.int32(-1))

    def step(
        self, key: jax.Array, state: GoalState, action: jax.Array
    ) -> tuple[GoalState, jax.Array, jax.Array]:
        """Turn, or go forward unless a wall is there."""
        turn = jnp.where(action == 0, -1, jnp.where(action == 1, 1, 0))
        direction = (state.direction + turn) % 4
        ahead = jnp.array(RIGHT_DOWN_LEFT_UP)[direction] * (action == FORWARD)
        x, y = state.x + ahead[0], state.y + ahead[1]
        is_free = (x > 0) & (y > 0) & (x < self.size - 1) & (y < self.size - 1)
        x, y = jnp.where(is_free, x, state.x), jnp.where(is_free, y, state.y)
        goal = jnp.asarray(self._goal_at)[x, y]
        return GoalState(x, y, direction, goal), (goal >= 0).astype(jnp.float32), goal >= 0

    def observe(self, state: GoalState) -> jax.Array:
        """Return the agent's pose, one-hot: (2·size + 4,)."""
        parts = ((state.x, self.size), (state.y, self.size), (state.direction, 4))
        return jnp.concatenate([jax.nn.one_hot(value, count) for value, count in parts])


def ring(size: int, count: int) -> tuple[tuple[int, int], ...]:
    """Return `count` cells along the walls of a room, evenly spaced.

    With a goal in every cell, the four corners cannot be reached: their neighbours end the episode.

    >>> ring(5, 4)
    ((1, 1), (3, 1), (3, 3), (1, 3))
    """
    last = size - 2
    around = [(x, 1) for x in range(1, last)] + [(last, y) for y in range(1, last)]
    around += [(x, last) for x in range(last, 1, -1)] + [(1, y) for y in range(last, 1, -1)]
    if not 1 <= count <= len(around):
        raise ValueError(
            f"goals must be between 1 and {len(around)}, the cells along the walls of a room of "
            f"size {size}, got {count}"
        )
    return tuple(around[index * len(around) // count] for index in range(count))


@dataclass(frozen=True)
class JaxGoals:
    """Reach one of the goals; the reached goal is the strategy.

    Attributes:
        goals: Number of goals, evenly spaced along the walls; None: `multi_goal`'s five.
        size: Cells of a side of the room.
        max_steps: Steps after which an episode is cut.
        episodes: Episodes of an evaluation.
    """

    goals: int | None = None
    size: int = 9
    max_steps: int = 60
    episodes: int = 1024

    name: ClassVar[str] = "jax_goals"
    demonstrations: ClassVar[int] = 0
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({"net_arch": [64, 64]})
    defaults: ClassVar[Mapping[str, Any]] = JAX_FROM_SCRATCH

    def __post_init__(self) -> None:
        _ = self.env  # too many goals show here

    @cached_property
    def env(self) -> GoalRoom:
        """The room."""
        cells = FIVE if self.goals is None else ring(self.size, self.goals)
        return GoalRoom(self.size, cells, self.max_steps)

    def label(self, state: GoalState) -> jax.Array:
        """Return the reached goal, or −1."""
        return state.goal

    def evaluate(self, player: Player, rng: np.random.Generator) -> dict[str, float]:
        """Measure success and the goals still reached, as `GoalTask` does."""
        played = player.play_resets(self.episodes, int(rng.integers(2**31)))
        goals = [None if goal < 0 else int(goal) for goal in np.asarray(played.ends.goal)]
        won = np.array([goal is not None for goal in goals])
        return {
            "success": float(won.mean()),
            **measures.goal_metrics(goals, len(self.env.goals)),
            "path_length": float(played.lengths_B[won].mean()) if won.any() else float("nan"),
        }

    def render(self, state: GoalState) -> np.ndarray:
        """Draw the room; the agent is a square that is darker where it faces."""
        size = self.env.size
        cells = np.full((size, size, 3), COLOURS["floor"], np.uint8)
        cells[[0, -1]] = cells[:, [0, -1]] = COLOURS["wall"]
        for x, y in self.env.goals:
            cells[y, x] = COLOURS["goal"]
        picture = cells.repeat(TILE, axis=0).repeat(TILE, axis=1)
        x, y = int(state.x) * TILE, int(state.y) * TILE
        picture[y + 3 : y + TILE - 3, x + 3 : x + TILE - 3] = (220, 60, 60)
        ahead = RIGHT_DOWN_LEFT_UP[int(state.direction)]
        cx, cy = x + TILE // 2 + 4 * ahead[0], y + TILE // 2 + 4 * ahead[1]
        picture[cy - 2 : cy + 2, cx - 2 : cx + 2] = (120, 20, 20)
        return picture
