"""The task that a config names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setrl import domains, names
from setrl.errors import ConfigError
from setrl.files import strict_yaml
from setrl.tasks.base import Task
from setrl.tasks.from_domain import DomainTask
from setrl.tasks.from_file import FileTask
from setrl.tasks.spec import TaskSpec


def from_config(
    domain: str | Mapping[str, Any] | None = None, task: Mapping[str, Any] | None = None
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
            "give domain (a synthetic task) or task (a file of problems), got "
            f"{'neither' if domain is None else 'both'}"
        )
    if task is not None:
        return FileTask(TaskSpec.of(task))
    assert domain is not None
    return DomainTask(names.make("domain", domain, domains.DOMAINS))


def read_config(path: Path) -> Task:
    """Return the task of a YAML file: a comparison, or a file with only the key `task`.

    Raises:
        ConfigError: If the file is neither, or one of its keys is wrong.
    """
    values, _ = strict_yaml.read(path)
    if not {"domain", "task"} & set(values):
        raise ConfigError(f"{path}: has neither the key 'task' nor 'domain'")
    task = values.get("task")
    if isinstance(task, Mapping) and values.get("max_new_tokens"):  # the config's comes first
        task = {**task, "max_new_tokens": values["max_new_tokens"]}
    try:
        return from_config(values.get("domain"), None if task is None else located(task, path))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def located(task: Any, path: str | Path) -> dict[str, Any]:
    """Return the keys of a task with the folder of the config's file, where its paths start.

    Raises:
        ConfigError: If the task is not a mapping.
    """
    if not isinstance(task, Mapping):
        raise ConfigError(f"task must be a mapping, such as {{data: problems.jsonl}}, got {task!r}")
    folder = Path(path).resolve().parent / str(task.get("folder") or ".")
    return {**task, "folder": str(folder)}
