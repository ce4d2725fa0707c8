"""The task that a config names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setrl.support import names
from setrl.support.errors import ConfigError
from setrl.support.files import strict_yaml
from setrl.support.files.loading import check_reference, load_function
from setrl.tasks import domains
from setrl.tasks.base import Task
from setrl.tasks.from_domain import DomainTask
from setrl.tasks.from_file import FileTask
from setrl.tasks.spec import TaskSpec

FUNCTION = "function"  # the key of module:function, which makes a domain; further keys go to it


DOMAIN = (
    "name", "vocabulary", "max_new_tokens", "problems", "corpus_problem", "write", "read",
)  # fmt: skip


def from_config(
    domain: str | Mapping[str, Any] | None = None, task: str | Mapping[str, Any] | None = None
) -> Task:
    """Return the task of the keys `domain` and `task`; exactly one of them must be given.

    >>> from_config("polynomial").splits
    ('train', 'test', 'shifted')

    Raises:
        ConfigError: If neither or both are given.
        ValueError: If one is wrong.
    """
    if (domain is None) == (task is None):
        raise ConfigError(
            "give domain (a synthetic task) or task (problems of your own), got "
            f"{'neither' if domain is None else 'both'}"
        )
    if domain is not None:
        return DomainTask(names.make("domain", domain, domains.DOMAINS))
    values = written_out(task)
    assert values is not None
    return _make_user_task(values) if FUNCTION in values else FileTask(TaskSpec.of(values, "task"))


def written_out(task: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the keys of a task with every default; a domain of a user keeps the given ones.

    Raises:
        ConfigError: For an unknown key or a wrong value.
    """
    if task is None:
        return None
    if isinstance(task, str):
        task = {FUNCTION: task}
    if FUNCTION not in task:
        return dict(vars(TaskSpec.of(task, "task")))
    check_reference(task[FUNCTION])
    return dict(task)


def is_of_files(task: Mapping[str, Any] | str | None) -> bool:
    """Return whether a task is a file or a data set, which no model from scratch can read."""
    if not isinstance(task, Mapping):
        return False
    return FUNCTION not in task


def _make_user_task(keys: Mapping[str, Any]) -> Task:
    """Return what a function of a user makes: a domain, or a whole task.

    Raises:
        ConfigError: If it refuses its settings, or returns something else.
    """
    options = {key: value for key, value in keys.items() if key not in (FUNCTION, "folder")}
    reference = keys[FUNCTION]
    loaded = load_function(reference, keys.get("folder", "."))
    try:
        task = loaded.value(**options)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"task {reference}: {error}") from error
    if Task in type(task).__mro__:
        whole_task: Task = task
        return whole_task
    if missing := [name for name in DOMAIN if not hasattr(task, name)]:
        raise ConfigError(
            f"task {reference} must return a domain (a subclass of setrl.tasks.domains.Domain), "
            f"but {type(task).__name__} has no {', '.join(missing)}"
        )
    return DomainTask(task)


def read_config(path: Path) -> Task:
    """Return the task of a YAML file: a comparison, or a file with only the key `task`.

    Raises:
        ConfigError: If the file is neither, or one of its keys is wrong.
    """
    values, _ = strict_yaml.read(path)
    if not {"domain", "task"} & set(values):
        raise ConfigError(f"{path}: has neither the key 'task' nor 'domain'")
    task = None if values.get("task") is None else with_folder(values["task"], path)
    if task is not None and FUNCTION not in task and values.get("max_new_tokens"):
        task["max_new_tokens"] = values["max_new_tokens"]  # the config's comes first
    try:
        return from_config(values.get("domain"), task)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def with_folder(task: Any, path: str | Path) -> dict[str, Any]:
    """Return the keys of a task with the folder of the config's file, where its paths start.

    Raises:
        ConfigError: If the task is neither a mapping nor module:function.
    """
    if isinstance(task, str):
        check_reference(task)
        task = {FUNCTION: task}
    if not isinstance(task, Mapping):
        raise ConfigError(
            "task must be a mapping, such as {data: problems.jsonl}, or module:function, got "
            f"{task!r}"
        )
    folder = Path(path).resolve().parent / str(task.get("folder") or ".")
    return {**task, "folder": str(folder)}
