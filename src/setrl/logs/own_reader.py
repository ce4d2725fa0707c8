"""A file of setrl's own → its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from setrl.logs.records import (
    COLUMN_OF,
    Record,
    checked,
    group_of,
    in_columns,
    problem_of,
    read_each,
    strategies_of,
)
from setrl.logs.settings import NAMES, count_settings
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE, read_label
from setrl.support.errors import DataError

ALL_OR_NONE = ("rewards", "proxy", "second", "families")  # columns that only some lines cannot have


class OwnReader:
    """Reads the groups of evaluations and rollouts, which have one form.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    list_path = None  # a row is the object

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._has_strategies = False
        self._keys: set[str] | None = None
        self.settings: dict[str, Counter[str]] = {}
        self.counted: Counter[str] = Counter()

    @property
    def columns(self) -> frozenset[str]:
        """What all samples have."""
        keys = self._keys or set()
        found = {key for key, name in COLUMN_OF.items() if name in keys and key != "text"}
        return frozenset(found - {"correct"} | ({"strategy"} if self._has_strategies else set()))

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the file does not hold → what the user can do."""
        if self._has_strategies:
            return {}
        return {"strategy": "this file has no strategies: `setrl judge` adds them"}

    def items(self, record: Record) -> list[Record]:
        """Return the record itself, in today's form: a row is a problem."""
        return [in_columns(record, str(self._path))]

    def look(self, rows: Sequence[int], objects: Sequence[Record]) -> list[str]:
        """Look at the lines before any samples are made of them; return the names of problems.

        Raises:
            DataError, ValueError: If a line is not of our form.
        """
        whole = [checked(one, self._where(row)) for row, one in zip(rows, objects, strict=True)]
        for record in whole:
            self._look(record)
        return [*map(problem_of, whole)]

    def _look(self, record: Record) -> None:
        """Look at the keys that all lines or none must have, and for strategies."""
        keys = record.keys() & set(COLUMN_OF.values()) - {"strategies"}
        self._keys = keys if self._keys is None else self._keys
        if some := (keys ^ self._keys) & set(ALL_OR_NONE):
            raise ValueError(f"only some lines have {min(some)!r}: all or none must")
        self._keys &= keys
        named = (key for key in NAMES if not (key == "split" and "source" in record))
        count_settings(self.settings, ((key, record[key]) for key in named if key in record))
        source = strategies_of(record)
        if source is not None and not self._has_strategies:
            labels = {*read_each(source, read_label, record[source])} - {None}
            # Until version 2, −1 was also written where nobody had read strategies.
            is_read = record["schema_version"] > 1 or "judged" in record or "read" in record
            self._has_strategies = bool(labels if is_read else labels - {DEGENERATE})

    def size(self, item: Record) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def groups(self, chunk: Sequence[Sequence[tuple[int, Record]]]) -> list[Group]:
        """Return the problems of some lines.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        return [self._group(*items[0]) for items in chunk]

    def _group(self, row: int, record: Record) -> Group:
        where = self._where(row)
        record = in_columns(record, where)
        texts = len(record.get("texts") or ())
        if "text" in self._needs and texts < record["n"]:
            raise DataError(f"{where}: holds the texts of {texts} of its {record['n']} samples:"
                            " give the log that it was made from")  # fmt: skip
        return group_of(record, where, self._has_strategies, (row,))

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []
