"""The prompts of one arm and seed as the data set that TRL's trainer takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from datasets import Dataset
from pyarrow import ArrowException

from setrl.errors import DataError
from setrl.tasks import Problem, Task


def training_prompts(task: Task, problems: Sequence[Problem], *, is_chat: bool = False) -> Dataset:
    """Return the prompts of every step in order, so that the order does not depend on epochs.

    Args:
        task: The task.
        problems: Its problems, in the order in which they are trained on.
        is_chat: Whether the model gets messages.

    Raises:
        DataError: If a column of a file holds values that no column of a data set can hold.
    """
    names = dict.fromkeys(key for one in problems for key in one.columns)  # as they first appear
    columns = {key: [one.columns.get(key) for one in problems] for key in names}
    for key, values in columns.items():
        try:
            Dataset.from_dict({key: values})
        except (ArrowException, OverflowError):
            raise DataError(
                f"{task.name}: {_why_no_column(problems, key)}: write one kind in all rows, or "
                "leave the field out"
            ) from None
    prompts = [task.form.prompt(one.prompt, is_chat) for one in problems]
    return Dataset.from_dict({"prompt": prompts, **columns})


def _why_no_column(problems: Sequence[Problem], key: str) -> str:
    """Return where the values of a field are of two kinds, or that they are too large."""
    seen: dict[str, tuple[str, str]] = {}
    for problem in problems:
        for path, kind in _kinds(problem.columns.get(key), key):
            first, where = seen.setdefault(path, (kind, problem.where))
            if first != kind:
                return f"{path!r} is {first} in {where}, but {kind} in {problem.where}"
    return f"the field {key!r} holds a number of more than 64 bits"


def _kinds(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the kind of a value, and of all values in it."""
    if isinstance(value, Mapping):
        yield path, "an object"
        for key, inside in value.items():
            yield from _kinds(inside, f"{path}.{key}")
    elif isinstance(value, list):
        yield path, "a list"
        for inside in value:
            yield from _kinds(inside, f"{path}[]")
    elif value is not None:
        yield path, {str: "a string", bool: "true or false"}.get(type(value), "a number")
