"""Fixed layouts of levels that are pure functions of JAX, with the settings of `layouts`.

The paper's settings (arXiv:2509.25424) are there: fifty layouts, H = 100, reward 1 − ½·t/H on
success, and an episode that reaches H ends there instead of being cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from setrl.control.behaviour_cloning import Demonstrations
from setrl.control.tasks.base import on_jax
from studies.grids.paper import (
    HORIZON,
    PAPER_PPO,
    PROBES,
    SHOWN,
    TRAINED,
    UNSEEN,
    layout_metrics,
)

LevelState = Any  # a level's own state: a pytree of arrays


class LayoutState(NamedTuple):
    """A state of an episode in a layout.

    Attributes:
        place: State of the level.
        rooms: int32, the set of visited rooms: bit r is 1 if room r was visited.
        time: int32, steps since the episode began.
        success: bool, whether the last step succeeded.
    """

    place: LevelState
    rooms: jax.Array
    time: jax.Array
    success: jax.Array


class Level(Protocol):
    """A level as functions; it is hashable. All but the last three are compiled.

    Attributes:
        num_actions: Number of actions.
    """

    num_actions: int

    def generate(self, key: jax.Array) -> LevelState:
        """Return a new layout."""
        ...

    def act(self, place: LevelState, action: jax.Array) -> tuple[LevelState, jax.Array]:
        """Return what follows, and whether the action succeeded there."""
        ...

    def room(self, place: LevelState) -> jax.Array:
        """Return the number of the agent's room, 0 … 30."""
        ...

    def observe(self, place: LevelState) -> jax.Array:
        """Return what the agent sees: (D,) float32."""
        ...

    def moved(self, place: LevelState, rng: np.random.Generator) -> LevelState:
        """Return the place with the agent moved at random within its room."""
        ...

    def expert(self, place: LevelState, rng: np.random.Generator) -> list[int] | None:
        """Return the fewest actions to success; None if the expert finds none."""
        ...

    def render(self, place: LevelState) -> np.ndarray:
        """Return a picture, (height, width, 3) uint8."""
        ...


@dataclass(frozen=True)
class LayoutEnv:
    """A level in fixed layouts; resets draw one of them."""

    level: Level
    num_layouts: int = 50

    max_steps: ClassVar[int] = HORIZON

    @property
    def num_actions(self) -> int:
        """Number of actions of the level."""
        return self.level.num_actions

    def reset(self, key: jax.Array) -> LayoutState:
        """Start in any of the layouts for fine-tuning."""
        layout = jax.random.randint(key, (), 0, self.num_layouts)
        return jax.tree.map(lambda rows: jnp.asarray(rows)[layout], self._trained)

    @cached_property
    def _trained(self) -> LayoutState:
        return self.starts(TRAINED, np.arange(self.num_layouts))

    def starts(self, stream: int, layouts_B: np.ndarray) -> LayoutState:
        """Return the first states of numbered layouts of a stream, stacked, as NumPy arrays."""
        different, back_B = np.unique(layouts_B, return_inverse=True)
        found = [self._generate(np.int32(stream), np.int32(layout)) for layout in different]
        return jax.tree.map(lambda *rows: np.stack(rows)[back_B], *found)

    @cached_property
    def _generate(self) -> Any:
        """Compiled for one layout, and called for each: also while JAX traces `reset`."""

        def generate(stream: jax.Array, layout: jax.Array) -> LayoutState:
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), stream), layout)
            return self.start(self.level.generate(key))

        return jax.jit(generate).lower(np.int32(0), np.int32(0)).compile()

    def start(self, place: LevelState) -> LayoutState:
        """Return the first state of an episode that begins at a place."""
        return LayoutState(place, self._room(place), jnp.int32(0), jnp.bool_(False))

    def step(
        self, key: jax.Array, state: LayoutState, action: jax.Array
    ) -> tuple[LayoutState, jax.Array, jax.Array]:
        """Step the level, which has no noise; the episode ends at success or at H."""
        place, success = self.level.act(state.place, action)
        time = state.time + 1
        reward = jnp.where(success, 1.0 - 0.5 * time / HORIZON, 0.0)
        after = LayoutState(place, state.rooms | self._room(place), time, success)
        return after, reward, success | (time >= HORIZON)

    def observe(self, state: LayoutState) -> jax.Array:
        """Return what the agent sees: (D,) float32."""
        return self.level.observe(state.place)

    def _room(self, place: LevelState) -> jax.Array:
        return jnp.int32(1) << self.level.room(place).astype(jnp.int32)


@partial(jax.jit, static_argnums=0)
def _seen(env: LayoutEnv, starts: LayoutState, actions_ET: jax.Array) -> jax.Array:
    """Return the observation before each action, (E, T, D)."""
    step, key = jax.vmap(env.step, in_axes=(None, 0, 0)), jax.random.key(0)

    def replay(states: LayoutState, actions_E: jax.Array) -> tuple[LayoutState, jax.Array]:
        return step(key, states, actions_E)[0], jax.vmap(env.observe)(states)

    return jax.lax.scan(replay, starts, actions_ET.T)[1].swapaxes(0, 1)


@dataclass(frozen=True)
class JaxLayoutTask(ABC):
    """The task to succeed in one of fifty layouts; the set of visited rooms is the strategy.

    Attributes:
        num_layouts: Number of layouts for fine-tuning and evaluation.
        samples: Episodes per layout in an evaluation.
        demonstrations: Other layouts, in which an expert is cloned beforehand.
    """

    num_layouts: int = 50
    samples: int = 100
    demonstrations: int = 400

    name: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]] = on_jax(
        {**PAPER_PPO, "total_timesteps": 10_000_000}, 128
    )
    policy_kwargs: ClassVar[Mapping[str, Any]] = MappingProxyType({"net_arch": [128, 128]})

    @abstractmethod
    def make_level(self) -> Level:
        """Return the level."""

    @cached_property
    def env(self) -> LayoutEnv:
        """The level in its fixed layouts."""
        return LayoutEnv(self.make_level(), self.num_layouts)

    def label(self, state: LayoutState) -> jax.Array:
        """Return the set of visited rooms, after success or failure: the paper's strategy."""
        return state.rooms

    def render(self, state: LayoutState) -> np.ndarray:
        """Return a picture of a state: (height, width, 3) uint8."""
        return self.env.level.render(state.place)

    def demonstrate(self, rng: np.random.Generator) -> Demonstrations:
        """Return the successful episodes of the expert, each in another layout.

        The expert fails where an object blocks a door, or where no path has ≤ H steps.

        Raises:
            ValueError: If the expert fails in all of them.
        """
        starts = self.env.starts(SHOWN, np.arange(self.demonstrations))
        paths = [self._path(_row(starts, layout), rng) for layout in range(self.demonstrations)]
        solved = np.flatnonzero([len(path) for path in paths])
        if not len(solved):
            raise ValueError(
                f"the expert succeeds in none of {self.demonstrations} layouts: ask for more "
                "`demonstrations`, or for 0 to learn from scratch"
            )
        lengths_E = np.array([len(paths[layout]) for layout in solved])
        mask_ET = np.arange(lengths_E.max()) < lengths_E[:, None]
        actions_ET = np.zeros(mask_ET.shape, dtype=np.int32)
        actions_ET[mask_ET] = np.concatenate([paths[layout] for layout in solved])
        seen_ETD = np.asarray(_seen(self.env, _row(starts, solved), actions_ET))
        episodes = np.repeat(np.arange(len(solved)), lengths_E)
        return Demonstrations(seen_ETD[mask_ET], actions_ET[mask_ET], episodes)

    def _path(self, start: LayoutState, rng: np.random.Generator) -> list[int]:
        path = self.env.level.expert(start.place, rng) or []
        return path if len(path) <= HORIZON else []

    def evaluate(self, player: Any, rng: np.random.Generator) -> dict[str, float]:
        """Measure success on the trained layouts, from moved starts, and on unseen layouts.

        See `layout_metrics`: each layout is a problem with `samples` episodes.
        """
        # All calls have the same shape, so that the player is compiled once.
        calls = [self._play(player, rng) for _ in range(-(-self.samples // PROBES))]
        returns_PN, correct_PN, rooms_PN = (
            np.concatenate(parts, axis=1)[:, : self.samples] for parts in zip(*calls, strict=True)
        )
        _, moved_PN, _ = self._play(player, rng, moves=True)
        _, unseen_PN, _ = self._play(player, rng, stream=UNSEEN)
        return {
            **layout_metrics(returns_PN, correct_PN, rooms_PN),
            "perturbed_success": float(moved_PN.mean()),
            "unseen_success": float(unseen_PN.mean()),
        }

    def starts(
        self,
        stream: int,
        layouts_B: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> LayoutState:
        """Return the first states of layouts; rng, if given, moves the agents in their rooms."""
        starts = self.env.starts(stream, layouts_B)
        if rng is None:
            return starts
        level = self.env.level
        moved = [level.moved(_row(starts.place, index), rng) for index in range(len(layouts_B))]
        return starts._replace(place=jax.tree.map(lambda *rows: np.stack(rows), *moved))

    def _play(
        self, player: Any, rng: np.random.Generator, stream: int = TRAINED, moves: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return returns, successes and rooms of `PROBES` episodes in each layout."""
        layouts_B = np.repeat(np.arange(self.num_layouts), PROBES)
        starts = self.starts(stream, layouts_B, rng if moves else None)
        played = player.play(starts, int(rng.integers(2**31)))
        found = played.returns_B, played.ends.success, played.ends.rooms
        returns_PN, correct_PN, rooms_PN = (
            np.asarray(one).reshape(self.num_layouts, PROBES) for one in found
        )
        return returns_PN, correct_PN, rooms_PN


def _row(stacked: Any, index: Any) -> Any:
    return jax.tree.map(lambda rows: rows[index], stacked)
