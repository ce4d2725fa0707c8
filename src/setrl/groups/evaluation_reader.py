"""An evaluation file → its groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from setrl.groups.fields import label
from setrl.groups.records import (
    GRADED,
    checked,
    problem_of,
    strategies_of,
    strategy_names,
    texts_of,
)
from setrl.groups.types import Group, Sample
from setrl.support.errors import DataError


class EvaluationReader:
    """Reads the groups of an evaluation file.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._seen: set[int] = set()
        self._rows = 0
        self._has_strategies = False
        self._keys: set[str] = set()

    @property
    def list_path(self) -> str | None:
        """None: the row is the object."""
        return None

    @property
    def columns(self) -> frozenset[str]:
        """What samples have."""
        found = {"answer"} | ({"proxy"} & self._keys) | ({"reward"} if "rewards" in self._keys else
                                                         set())  # fmt: skip
        return frozenset(found | ({"strategy"} if self._has_strategies else set()))

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the file does not hold → what the user can do."""
        if self._has_strategies:
            return {}
        return {"strategy": "this evaluation file has no strategies: `setrl judge` adds them"}

    def items(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the record itself: a row is a problem."""
        return [record]

    def name(self, item: dict[str, Any], row: int) -> str:
        """Return what names the problem: the id, or the prompt if there is no id."""
        return problem_of(checked(item, self._where(row)))

    def check(self, item: dict[str, Any]) -> None:
        """Refuse a problem that comes again."""
        self._rows += 1
        self._keys.update(item.keys() & set(GRADED))
        self._seen.add(hash(problem_of(item)))
        if len(self._seen) < self._rows:
            again = f"row {self._rows} has the problem of an earlier one"
            raise DataError(f"{self._path}: {again}: repair the file")
        self._has_strategies |= any(one is not None for one in strategy_names(item))

    def size(self, item: dict[str, Any]) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def group(self, items: Sequence[tuple[int, dict[str, Any]]]) -> Group:
        """Return the samples of a problem.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        row, record = items[0]
        texts = texts_of(record)
        if "text" in self._needs and len(texts) < record["n"]:
            raise DataError(
                f"{self._where(row)}: holds the texts of {len(texts)} of its {record['n']} samples:"
                " give the log that it was made from"
            )
        strategies = strategies_of(record) if self._has_strategies else [None] * record["n"]
        rewards, proxies = record.get("rewards") or record["correct"], record.get("proxy")
        samples = tuple(
            Sample(
                texts[i] if i < len(texts) else "",
                bool(record["correct"][i]),
                None if rewards[i] is None else float(rewards[i]),
                strategies[i],
                label(record["answers"][i]),
                more={"proxy": proxies[i]} if proxies else None,
            )
            for i in range(record["n"])
        )
        return Group(problem_of(record), record["prompt"], samples, record.get("gold"),
                     record.get("step"), (row,))  # fmt: skip

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []
