"""Control tasks with several ways to succeed.

`by_name` is for configs: each name's factory takes the options of its task. MiniGrid and MuJoCo are
imported when one of their tasks is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from setrl import names
from setrl.control.tasks.base import ControlTask


def _factory(module: str, name: str) -> Callable[..., ControlTask]:
    """Return the factory in a module of this package; calling it imports the module."""
    return lambda **options: getattr(import_module(f"{__name__}.{module}"), name)(**options)


by_name: dict[str, Callable[..., ControlTask]] = {
    "multi_goal": _factory("multi_goal", "MultiGoal"),
    "triangles": _factory("triangles", "Triangles"),
    "four_rooms": _factory("four_rooms", "FourRoomsTask"),
    "babyai": _factory("babyai", "BabyAI"),
    "point_mass": _factory("point_mass", "PointMass"),
}
"""Name → factory that makes the task from its options."""


def from_config(config: str | Mapping[str, Any]) -> ControlTask:
    """Make the task of a config: a name, or {"name": "babyai", "level": "goto"}.

    Raises:
        ValueError: If the task or an option is unknown; the message names it.
    """
    return names.make("task", config, by_name)


__all__ = ["ControlTask", "by_name", "from_config"]
