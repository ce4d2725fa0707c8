"""MiniGrid and BabyAI: grid, carried object, pose and instruction, in microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from typing_extensions import override

from setrl.control.envs.adapters import CONSTANTS, Adapter
from setrl.control.envs.generators import attributes_that_are_generators

_AS_IT_IS = {int, float, bool, str, bytes, type(None), np.int64, np.float64, np.bool_, np.int8}


@dataclass(frozen=True, slots=True)
class _Fixture:
    """Marks, in a saved state, an object that belongs to the environment that is set back."""

    name: str

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        return memo[self.name]


class MiniGridState(Adapter):
    """All attributes that change, cloned together, so that one object stays one object.

    An instruction of BabyAI knows objects of the grid by identity and holds the environment
    itself: identity is kept, and the reference leads to the environment that is set back. Walls,
    floors, goals and lava never change and are shared.
    """

    name: ClassVar[str] = "minigrid"
    made_for: ClassVar[str] = "minigrid.minigrid_env.MiniGridEnv"

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self._clone = _Cloner()

    @override
    def save(self) -> dict[str, Any]:
        """Return attribute → clone, with `_Fixture` for the environment and its generators."""
        fixtures = self._fixtures()
        memo: dict[Any, Any] = {id(each): _Fixture(name) for name, each in fixtures.items()}
        values = vars(self.env).items()
        state = {name: each for name, each in values if name not in _STAYS and name not in fixtures}
        return self._clone(state, memo)

    @override
    def load(self, state: dict[str, Any]) -> None:
        vars(self.env).update(self._clone(state, dict(self._fixtures())))

    def _fixtures(self) -> dict[str, Any]:
        return {"the environment": self.env} | attributes_that_are_generators(self.env)


_STAYS = CONSTANTS | {"actions", "screen_size", "render_size", "highlight", "tile_size"}


class _Cloner:
    """`copy.deepcopy` for MiniGrid's own classes, without what makes it slow."""

    def __init__(self) -> None:
        from minigrid.core.grid import Grid
        from minigrid.core.roomgrid import Room
        from minigrid.core.world_object import Floor, Goal, Lava, Wall, WorldObj
        from minigrid.envs.babyai.core.verifier import Instr, ObjDesc

        self._shared = _AS_IT_IS | {Wall, Floor, Goal, Lava}
        self._records = (WorldObj, Grid, Room, Instr, ObjDesc)

    def __call__(self, value: Any, memo: dict[Any, Any]) -> Any:
        """Clone a value; `memo` maps id → clone, and the name of a fixture → its object."""
        kind, shared = type(value), self._shared
        if kind in shared or id(value) in memo:
            return memo.get(id(value), value)
        if kind is tuple:  # mostly a position
            return value if shared.issuperset(map(type, value)) else tuple(self._all(value, memo))
        if kind is list:
            memo[id(value)] = clone = []
            clone += self._all(value, memo)
            return clone
        if kind is dict:
            clones: dict[Any, Any] = {}
            memo[id(value)] = clones
            clones.update(zip(value, self._all(value.values(), memo), strict=True))
            return clones
        if isinstance(value, self._records):
            memo[id(value)] = record = object.__new__(kind)
            attributes = vars(value)
            vars(record).update(zip(attributes, self._all(attributes.values(), memo), strict=True))
            return record
        return value if isinstance(value, gym.Space) else deepcopy(value, memo)

    def _all(self, values: Iterable[Any], memo: dict[Any, Any]) -> list[Any]:
        """Clone all values; the most common cases are decided here, without a call."""
        shared, get = self._shared, memo.get
        return [
            x
            if type(x) in shared or (type(x) is tuple and shared.issuperset(map(type, x)))
            else get(id(x)) or self(x, memo)
            for x in values
        ]
