"""Control tasks with several ways to succeed.

`by_name` is for configs: a task's factory, which takes its options. MiniGrid and MuJoCo are
imported when their tasks are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from setrl import names
from setrl.control.tasks.base import ControlTask

_HOMES = {
    "multi_goal": ("multi_goal", "MultiGoal"),
    "triangles": ("triangles", "Triangles"),
    "four_rooms": ("four_rooms", "FourRoomsTask"),
    "babyai": ("babyai", "BabyAI"),
    "point_mass": ("point_mass", "PointMass"),
}


def _factory(name: str) -> Callable[..., ControlTask]:
    def make(**options: Any) -> ControlTask:
        module, factory = _HOMES[name]
        task: ControlTask = getattr(import_module(f"{__name__}.{module}"), factory)(**options)
        return task

    return make


by_name: dict[str, Callable[..., ControlTask]] = {name: _factory(name) for name in _HOMES}


def from_config(config: str | Mapping[str, Any]) -> ControlTask:
    """The task of a config: a name, or {"name": "babyai", "level": "goto"}.

    Raises:
        ValueError: Naming the unknown task or option.
    """
    options = {"name": config} if isinstance(config, str) else dict(config)
    name = options.pop("name", None)
    if name is None:
        raise ValueError(f"a task's config needs the key 'name', got {dict(options)!r}")
    make = names.look_up("task", name, by_name)
    try:
        return make(**options)
    except TypeError as error:
        raise ValueError(f"task {name}: {error}") from error


__all__ = ["ControlTask", "by_name", "from_config"]
