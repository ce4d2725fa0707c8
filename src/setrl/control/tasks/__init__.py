"""Control tasks with several ways to succeed.

`by_name` is for configs: each name's factory takes the options of its task. MiniGrid and JAX are
imported when one of their tasks is made. Tasks that only results use are in `studies`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from typing_extensions import get_protocol_members

from setrl.control.tasks.base import ControlTask
from setrl.support import names
from setrl.support.files.loading import is_reference, load


def _make_factory(module: str, name: str) -> Callable[..., ControlTask]:
    """Return the factory in a module of this package; calling it imports the module."""
    path = f"{__name__}.{module}"
    return lambda **options: names.call(name, getattr(import_module(path), name), options)


by_name: dict[str, Callable[..., ControlTask]] = {
    "multi_goal": _make_factory("multi_goal", "MultiGoal"),
    "gymnasium": _make_factory("registered", "registered"),
    "jax_goals": _make_factory("jax_goals", "JaxGoals"),
}
"""Name → factory that makes the task from its options."""


# What `setrl control` uses of a `JaxTask`, which is not imported here: it needs JAX.
OF_JAX = (
    *("env", "label", "evaluate"),
    *("name", "defaults", "policy_kwargs", "demonstrations"),
)


def is_of_jax(task: Any) -> bool:
    """Return whether a task is one of `JaxTask`: it has an environment of pure functions."""
    return not isinstance(task, ControlTask) and all(hasattr(task, name) for name in OF_JAX)


def from_config(config: str | Mapping[str, Any]) -> ControlTask:
    """Make the task of a config: a name, or {"name": "multi_goal", "max_steps": 40}.

    The name may be `module:name`, a task of the user or a function that returns one.

    Raises:
        ValueError: If the task or an option is unknown; the message names it.

    """
    options = {"name": config} if isinstance(config, str) else dict(config)
    if is_reference(options.get("name")):
        return _make_user_task(options.pop("name"), options)
    return names.make("task", options, by_name)


def _make_user_task(reference: str, options: dict[str, Any]) -> ControlTask:
    task = load(reference, options.pop("folder", ".")).value
    if callable(task) and (
        isinstance(task, type) or not (isinstance(task, ControlTask) or is_of_jax(task))
    ):
        task = names.make("task", {"name": reference, **options}, {reference: task})
    if not isinstance(task, ControlTask) and not is_of_jax(task):
        raise ValueError(
            f"{reference} must be a control task, or a function that returns one: see "
            f"setrl.control.ControlTask, or setrl.control.jax.JaxTask; {task!r:.80} has no "
            + _missing_members(task)
        )
    return task


def _missing_members(task: Any) -> str:
    """Name what an object lacks to be a task, on JAX if it has an `env`."""
    members = OF_JAX if hasattr(task, "env") else sorted(get_protocol_members(ControlTask))
    return ", ".join(name for name in members if not hasattr(task, name))


def with_folder(config: Any, folder: str) -> Any:
    """Return the task of a config's file, with the folder in which its modules are."""
    if is_reference(config):
        config = {"name": config}
    if not isinstance(config, Mapping):
        return config
    has_modules = is_reference(config.get("name")) or "id" in config  # functions of the user
    return {"folder": folder, **config} if has_modules else config


__all__ = ["ControlTask", "by_name", "from_config"]
