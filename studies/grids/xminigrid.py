"""Levels of XLand-MiniGrid (arXiv:2312.12044), MiniGrid in JAX, with the settings of `layouts`.

FourRooms is MiniGrid's. GoTo and Pickup are built from the goals of XLand: nine rooms with closed
doors, and one object among others is the goal, as in BabyAI's levels of these names. The agent sees
7 × 7 cells before it, also behind walls: in MiniGrid walls hide what is behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from typing_extensions import override
from xminigrid.core import actions, goals
from xminigrid.core.constants import NUM_COLORS, NUM_TILES, TILES_REGISTRY, Colors, Tiles
from xminigrid.core.grid import sample_coordinates, sample_direction
from xminigrid.core.observation import transparent_field_of_view
from xminigrid.envs.minigrid.fourrooms import FourRooms as XFourRooms
from xminigrid.envs.xland import generate_nine_rooms
from xminigrid.rendering.rgb_render import render
from xminigrid.types import AgentState

from setrl.support import names
from studies.grids.jax_layouts import JaxLayoutTask, Level
from studies.grids.paths import shortest

VIEW = 7
TILE_AT: Any = TILES_REGISTRY  # (kinds, colours, 2)
FORWARD, RIGHT, LEFT, PICK_UP, PUT_DOWN, TOGGLE = range(6)  # XLand-MiniGrid's actions
ACTIONS: tuple[Callable[..., Any], ...] = (
    actions.move_forward,
    actions.turn_clockwise,
    actions.turn_counterclockwise,
    actions.pick_up,
    actions.put_down,
    actions.toggle,
)
AHEAD = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
WALKABLE = (Tiles.FLOOR, Tiles.GOAL, Tiles.DOOR_OPEN)
KINDS = (Tiles.BALL, Tiles.SQUARE, Tiles.KEY)
COLOURS = (Colors.RED, Colors.GREEN, Colors.BLUE, Colors.PURPLE, Colors.YELLOW, Colors.GREY)

GridCell = tuple[int, int]  # row, column
Tile = tuple[int, int]  # kind, colour
Pose = tuple[int, int, int, bool]  # row, column, direction, whether a closed door ahead was opened
WON: Pose = (-1, -1, -1, False)


class Grid(NamedTuple):
    """A level's cells, its agent, and the tile that is the goal.

    Attributes:
        cells: (rows, columns, 2) uint8: kind and colour of each tile.
        agent: Position, direction, and the tile in its pocket.
        goal: (2,) uint8.
    """

    cells: jax.Array
    agent: AgentState
    goal: jax.Array


@dataclass(frozen=True)
class FourRooms:
    """Reach the goal; actions turn left, turn right, and go forward, as in MiniGrid.

    Observations have two numbers for each cell of the view, (98,): whether the cell is a wall or
    outside, and whether it is the goal.
    """

    side: ClassVar[int] = 19
    rooms: ClassVar[int] = 2
    actions: ClassVar[tuple[int, ...]] = (LEFT, RIGHT, FORWARD)
    reach: ClassVar[Any] = goals.AgentOnTileGoal

    @property
    def num_actions(self) -> int:
        """Number of actions."""
        return len(self.actions)

    @property
    def span(self) -> int:
        """Number of cells from one wall to the next."""
        return self.side // self.rooms

    def generate(self, key: jax.Array) -> Grid:
        """Return a layout with random doorways, goal and start."""
        level = XFourRooms()
        state = level.reset(level.default_params(height=self.side, width=self.side), key).state
        return Grid(state.grid, state.agent, TILE_AT[Tiles.GOAL, Colors.GREEN])

    def act(self, place: Grid, action: jax.Array) -> tuple[Grid, jax.Array]:
        """Take an action; return whether it reached the goal."""
        own = [partial(ACTIONS[one], place.cells, place.agent) for one in self.actions]
        cells, agent, changed = jax.lax.switch(action, own)
        taken = jnp.array(self.actions)[action]
        won = self.reach(tile=place.goal)(cells, agent, taken, changed)
        return Grid(cells, agent, place.goal), won

    def room(self, place: Grid) -> jax.Array:
        """Return the number of the agent's room, row after row."""
        row, column = place.agent.position // self.span
        return row * self.rooms + column

    def observe(self, place: Grid) -> jax.Array:
        """Return the view."""
        view = self._view(place)
        is_goal = (view == place.goal).all(axis=-1)
        return jnp.stack([_is_solid(view), is_goal], axis=-1).astype(jnp.float32).reshape(-1)

    def _view(self, place: Grid) -> jax.Array:
        return transparent_field_of_view(place.cells, place.agent, VIEW, VIEW).reshape(-1, 2)

    def moved(self, place: Grid, rng: np.random.Generator) -> Grid:
        """Place the agent on a random free cell of its room, in a random direction."""
        low = place.agent.position // self.span * self.span + 1
        inside = place.cells[low[0] : low[0] + self.span - 1, low[1] : low[1] + self.span - 1, 0]
        position = low + rng.choice(np.argwhere(inside == Tiles.FLOOR))
        agent = place.agent.replace(
            position=position.astype(low.dtype),
            direction=rng.integers(4, dtype=place.agent.direction.dtype),
        )
        return place._replace(agent=agent)

    def expert(self, place: Grid, rng: np.random.Generator) -> list[int] | None:
        """Find a shortest path by breadth-first search; doors are opened, nothing is moved."""
        cells = [[tuple(cell) for cell in row] for row in place.cells.tolist()]
        goal: Tile = tuple(place.goal.tolist())
        row, column = place.agent.position.tolist()
        start: Pose = (row, column, int(place.agent.direction), False)
        after = partial(self._after, cells, goal)
        return shortest(start, after, WON.__eq__, range(self.num_actions), rng)

    def _after(self, cells: list[list[Tile]], goal: Tile, pose: Pose, action: int) -> Pose:
        row, column, direction, opened = pose
        ahead = row + AHEAD[direction][0], column + AHEAD[direction][1]
        kind, taken = cells[ahead[0]][ahead[1]][0], self.actions[action]
        place = ahead if taken == FORWARD and (opened or kind in WALKABLE) else (row, column)
        if self.is_won(cells, goal, taken, place, ahead):
            return WON
        if taken == FORWARD:
            return pose if place != ahead else (*ahead, direction, False)
        if taken in (LEFT, RIGHT):
            # A shortest path does not turn away from a door that it has opened, nor comes back.
            return row, column, (direction + (1 if taken == RIGHT else -1)) % 4, False
        if taken == TOGGLE:
            return row, column, direction, kind == Tiles.DOOR_CLOSED and not opened
        return pose

    def is_won(
        self, cells: list[list[Tile]], goal: Tile, taken: int, place: GridCell, ahead: GridCell
    ) -> bool:
        """Return whether an action that led to a place, towards a cell, has reached the goal."""
        return taken == FORWARD and cells[place[0]][place[1]] == goal

    def render(self, place: Grid) -> np.ndarray:
        """Return XLand-MiniGrid's picture."""
        return render(np.asarray(place.cells), place.agent, VIEW)


@dataclass(frozen=True)
class GoTo(FourRooms):
    """Go next to an object of one kind and colour, by a step forward; XLand-MiniGrid's actions.

    The size is BabyAI's: nine rooms of 6 × 6 cells and 18 objects; the first object is the goal.
    Any object of its kind and colour counts.

    Observations are (256,): for each cell of the view kind/12, colour/11, and whether it is solid,
    the goal, or a closed door; then the goal's kind and colour, one-hot; kind/12 and colour/11 of
    what the agent carries.
    """

    num_objects: int = 18

    side: ClassVar[int] = 22
    rooms: ClassVar[int] = 3
    actions: ClassVar[tuple[int, ...]] = tuple(range(6))
    reach: ClassVar[Any] = goals.AgentNearGoal

    @override
    def generate(self, key: jax.Array) -> Grid:
        for_rooms, for_objects, for_cells, for_turn = jax.random.split(key, 4)
        known = TILE_AT[jnp.array(KINDS)[:, None], jnp.array(COLOURS)].reshape(-1, 2)
        objects = jax.random.choice(for_objects, known, (self.num_objects,))
        _, cells = generate_nine_rooms(for_rooms, self.side, self.side)
        where = sample_coordinates(for_cells, cells, self.num_objects + 1)
        cells = cells.at[where[1:, 0], where[1:, 1]].set(objects)
        agent = AgentState(position=where[0], direction=sample_direction(for_turn))
        return Grid(cells, agent, objects[0])

    @override
    def observe(self, place: Grid) -> jax.Array:
        view = self._view(place)
        flags = [
            _is_solid(view),
            (view == place.goal).all(axis=-1),
            view[:, 0] == Tiles.DOOR_CLOSED,
        ]
        codes = jnp.concatenate([_scaled(view), jnp.stack(flags, axis=-1)], axis=-1)
        mission = [
            place.goal[0] == jnp.array(KINDS),
            place.goal[1] == jnp.array(COLOURS),
            _scaled(place.agent.pocket),
        ]
        return jnp.concatenate([codes.reshape(-1), *mission]).astype(jnp.float32)

    @override
    def is_won(
        self, cells: list[list[Tile]], goal: Tile, taken: int, place: GridCell, ahead: GridCell
    ) -> bool:
        row, column = place
        return taken == FORWARD and any(cells[row + y][column + x] == goal for y, x in AHEAD)


@dataclass(frozen=True)
class Pickup(GoTo):
    """Pick up an object of one kind and colour. See `GoTo`."""

    reach: ClassVar[Any] = goals.AgentHoldGoal

    @override
    def is_won(
        self, cells: list[list[Tile]], goal: Tile, taken: int, place: GridCell, ahead: GridCell
    ) -> bool:
        return taken == PICK_UP and cells[ahead[0]][ahead[1]] == goal


def _is_solid(view: jax.Array) -> jax.Array:
    return (view[:, 0] == Tiles.WALL) | (view[:, 0] == Tiles.EMPTY)


def _scaled(tiles: jax.Array) -> jax.Array:
    return tiles / jnp.array([NUM_TILES - 1, NUM_COLORS - 1], dtype=jnp.float32)


LEVELS: dict[str, Any] = {"four_rooms": FourRooms(), "goto": GoTo(), "pickup": Pickup()}


@dataclass(frozen=True)
class XMiniGrid(JaxLayoutTask):
    """Succeed in a layout of XLand-MiniGrid; the demonstrations are shortest paths.

    Attributes:
        level: "four_rooms", "goto" or "pickup". See `JaxLayoutTask` for the other options.
    """

    level: Literal["four_rooms", "goto", "pickup"] = "four_rooms"

    name: ClassVar[str] = "xminigrid"

    def __post_init__(self) -> None:
        self.make_level()  # an unknown level shows here

    @override
    def make_level(self) -> Level:
        return names.look_up("level", self.level, LEVELS)
