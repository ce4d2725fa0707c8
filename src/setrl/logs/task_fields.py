"""Fields such as task and split, which tell problems with one id apart and name their task."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from setrl.logs.field_values import text_of
from setrl.logs.paths import Record, column
from setrl.logs.settings import OF_A_TASK, setting_of

Hashes = NDArray[np.int64]
LEAST = 2  # problems of a task on average; fewer, and the field describes each problem


def task_paths(paths: Iterable[str]) -> list[str]:
    """Return the fields that name the task of a problem, the coarser ones first.

    >>> task_paths(["score", "meta.split", "task_name"])
    ['task_name', 'meta.split']
    """
    named = [(setting, path) for path in paths if (setting := setting_of(path)) in OF_A_TASK]
    return [path for _, path in sorted(named, key=lambda pair: OF_A_TASK.index(str(pair[0])))]


def task_texts(objects: Sequence[Record], path: str) -> list[str]:
    """Return what a field says of each object; nothing is an empty text."""
    return [
        (text_of(value) or "") if isinstance(value, str | int | float) else ""
        for value in column(objects, path)
    ]


def task_of(item: Record, paths: Sequence[str]) -> str:
    """Return the task of an object: what its fields say, with slashes between.

    >>> task_of({"task": "gsm8k", "split": None}, ["task", "split"])
    'gsm8k'
    """
    return "/".join(text for path in paths for text in task_texts([item], path) if text)


class TaskFields:
    """What such fields say of every object of a file, as one number each.

    Args:
        paths: The fields, the coarser ones first.
    """

    def __init__(self, paths: Sequence[str]):
        self.paths = tuple(paths)
        self._hashes = [array("q") for _ in paths]

    def add(self, objects: Sequence[Record]) -> None:
        """Take the next objects into account."""
        for path, hashes in zip(self.paths, self._hashes, strict=True):
            hashes.extend(map(hash, task_texts(objects, path)))

    def apart(self, name_I: Hashes) -> tuple[list[str], Hashes]:
        """Return the fields that tell objects with one name apart, and numbers of all names."""
        return self._split_by_fields(name_I, self.paths)

    def several(self, name_I: Hashes) -> list[str]:
        """Return the fields that say of which of several tasks a problem is."""
        of_all = np.zeros(len(name_I), np.int64)
        chosen, task_I = self._split_by_fields(of_all, self.paths)
        return chosen if LEAST * _count_distinct(task_I) <= _count_distinct(name_I) else []

    def _split_by_fields(self, name_I: Hashes, paths: Sequence[str]) -> tuple[list[str], Hashes]:
        chosen, number = [], _count_distinct(name_I)
        for path in paths:
            of_path = np.frombuffer(self._hashes[self.paths.index(path)], np.int64)
            finer_I = numbers_of_pairs(name_I, of_path)
            if (distinct := _count_distinct(finer_I)) > number:
                name_I, number = finer_I, distinct
                chosen.append(path)
        return chosen, name_I


def numbers_of_pairs(first_I: Hashes, second_I: Hashes) -> Hashes:
    """Return a number for each pair of numbers."""
    return first_I * np.int64(1_000_003) ^ second_I


def _count_distinct(numbers: Hashes) -> int:
    return len(np.unique(numbers))
