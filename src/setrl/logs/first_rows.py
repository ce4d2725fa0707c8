"""The first rows of a log as columns, by which fields are recognised."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from setrl.logs.field_values import all_are, plain_name
from setrl.logs.paths import Record
from setrl.samples.conversation import is_messages

Column = Mapping[int, Any]  # the place of an object among the first → its value
Test = Callable[[Any], bool]


class FirstRows:
    """The columns of some objects: path → column, of every field that is not an object itself.

    Args:
        objects: The objects.
        row_of: The row that holds each object.
    """

    def __init__(self, objects: Sequence[Record], row_of: Sequence[int]):
        self.row_of = row_of
        self.columns: dict[str, dict[int, Any]] = {}
        for place, record in enumerate(objects):
            for path, value in _leaf_values(record, ""):
                self.columns.setdefault(path, {})[place] = value

    def __len__(self) -> int:
        return len(self.row_of)

    def change(self, paths: Iterable[str], meant: Callable[[Any], Any]) -> None:
        """Put other values for those of some columns."""
        for path in paths:
            column = self.columns.get(path, {})
            self.columns[path] = {place: meant(value) for place, value in column.items()}

    @cached_property
    def _plain_names(self) -> dict[str, set[str]]:
        """Path → its name in plain letters, for a list also in the singular."""
        names = {}
        for path, column in self.columns.items():
            name = plain_name(path)
            has_list = any(isinstance(value, list) for value in column.values())
            names[path] = {name, name.removesuffix("s")} if has_list else {name}
        return names

    def named(self, names: Collection[str], fits: Test | None = None) -> list[str]:
        """Return the paths with one of the names, in their order, whose values pass a test."""
        of_name = (
            path for name in names for path in self.columns if name in self._plain_names[path]
        )
        paths = dict.fromkeys(of_name)
        return [path for path in paths if fits is None or all_are(self.columns[path], fits)]

    def example(self, path: str) -> Any:
        """Return the first value that is not null."""
        return next((value for value in self.columns[path].values() if value is not None), None)

    def is_list(self, path: str) -> bool:
        """Return whether a row has a list of values, one for each of its samples."""
        example = self.example(path)
        return isinstance(example, list) and not is_messages(example)

    def distinct(self, path: str) -> int:
        """Return how many different values a field has."""
        return len({json.dumps(value, default=str) for value in self.columns[path].values()})

    def differs(self, path: str, group: Sequence[str]) -> set[bool]:
        """Return the answers of all groups to: does the field differ within the group?"""
        first: dict[Any, Any] = {}
        answers = set()
        for place, value in self.columns[path].items():
            key = tuple(str(self.columns[p].get(place)) for p in group) or self.row_of[place]
            if key in first:
                answers.add(first[key] != value)
            first.setdefault(key, value)
        return answers

    def listed(self, path: str) -> list[tuple[int, Any]]:
        """Return the row and the value of each sample: a row may have a list of them."""
        return [
            (self.row_of[place], item)
            for place, value in self.columns[path].items()
            for item in (value if isinstance(value, list) else [value])
        ]


def _leaf_values(record: Record, before: str) -> Iterable[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _leaf_values(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
