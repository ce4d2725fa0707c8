"""An evaluation file → its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from setrl.logs.fields import text_of
from setrl.logs.records import GRADED, checked, problem_of
from setrl.logs.settings import NAMES, count_settings
from setrl.samples.types import Group, Sample
from setrl.samples.values import (
    DEGENERATE,
    Label,
    read_all,
    read_answer,
    read_count,
    read_label,
    read_outcome,
    read_score,
)
from setrl.support.errors import DataError
from setrl.support.wording import plural

UNGRADED = ("ungraded", "ungraded_are", "as_wrong")  # keys of samples without a grade


class EvaluationReader:
    """Reads the groups of an evaluation file.

    Args:
        path: The file.
        where: The file and line of a row, by its number.
        needs: What the command cannot do without.
    """

    def __init__(self, path: Path, where: Callable[[int], str], needs: Collection[str]):
        self._path, self._where, self._needs = path, where, needs
        self._has_strategies = False
        self._keys: set[str] | None = None
        self.settings: dict[str, Counter[str]] = {}
        self.counted: Counter[str] = Counter()

    @property
    def list_path(self) -> str | None:
        """None: the row is the object."""
        return None

    @property
    def columns(self) -> frozenset[str]:
        """What samples have."""
        keys = self._keys or set()
        has = {"proxy": "proxy" in keys, "reward": "rewards" in keys,
               "strategy": self._has_strategies}  # fmt: skip
        return frozenset({"answer"} | {name for name, is_there in has.items() if is_there})

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

    def look(self, rows: Sequence[int], objects: Sequence[dict[str, Any]]) -> list[str]:
        """Look at the lines before any samples are made of them; return the names of problems.

        Raises:
            DataError, ValueError: If a line is not of an evaluation file.
        """
        names = []
        for row, record in zip(rows, objects, strict=True):
            names.append(self.name(record, row))
            self.check(record)
        return names

    def check(self, item: dict[str, Any]) -> None:
        """Look at the keys that all lines or none must have, and for strategies.

        Raises:
            ValueError: If only some lines have rewards or a selector's scores.
        """
        keys = item.keys() & set(GRADED)
        self._keys = keys if self._keys is None else self._keys
        if keys != self._keys:
            some = min(keys ^ self._keys)
            raise ValueError(f"only some lines have {some!r}: all or none must")
        named = (key for key in NAMES if not (key == "split" and "source" in item))
        count_settings(self.settings, ((key, item[key]) for key in named if key in item))
        if not self._has_strategies:
            labels = {*_strategies(item)} - {None}
            # Until version 2, −1 was also written where nobody had read strategies.
            is_read = item["schema_version"] > 1 or "judged" in item
            self._has_strategies = bool(labels if is_read else labels - {DEGENERATE})

    def groups(self, chunk: Sequence[Sequence[tuple[int, dict[str, Any]]]]) -> list[Group]:
        """Return the problems of some lines."""
        return [*map(self.group, chunk)]

    def size(self, item: dict[str, Any]) -> int | None:
        """Return how many samples a problem has."""
        return int(item["n"])

    def group(self, items: Sequence[tuple[int, dict[str, Any]]]) -> Group:
        """Return the samples of a problem.

        Raises:
            DataError: If texts are needed, and the file has not kept all of them.
        """
        row, record = items[0]
        texts = [text for text in record.get("texts") or () if isinstance(text, str)]
        if "text" in self._needs and len(texts) < record["n"]:
            raise DataError(
                f"{self._where(row)}: holds the texts of {len(texts)} of its {record['n']} samples:"
                " give the log that it was made from"
            )
        try:
            strategies = _strategies(record) if self._has_strategies else [None] * record["n"]
            samples = _samples(record, texts, strategies)
            step = _read(record, "step", read_count) if "step" in record else None
        except ValueError as error:
            raise DataError(f"{self._where(row)}: {error}") from None
        return Group(
            problem_of(record),
            record["prompt"],
            samples,
            text_of(record.get("gold")),
            step,
            (row,),
            more={"texts": tuple(texts)}
            | {k: record[k] for k in (*UNGRADED, "task") if k in record},
        )

    def notes(self) -> list[str]:
        """Return nothing: the file says all that it holds."""
        return []


def _samples(
    record: Mapping[str, Any], texts: Sequence[str], strategies: Sequence[Label]
) -> tuple[Sample, ...]:
    correct = _each(record, "correct", read_outcome)
    columns = (
        [*texts, *[None] * (len(correct) - len(texts))],
        correct,
        _each(record, "rewards" if "rewards" in record else "correct", read_score),
        strategies,
        _each(record, "answers", read_answer),
    )
    samples = map(Sample, *columns)
    if "proxy" not in record:
        return tuple(samples)
    proxies = _each(record, "proxy", read_score)
    return tuple(s._replace(more={"proxy": p}) for s, p in zip(samples, proxies, strict=True))


def _strategies(record: Mapping[str, Any]) -> list[Label]:
    """Return the strategies of a record: the labels that `setrl judge` added, else its own."""
    judged = record.get("judged")
    key = plural(next(iter(judged), "strategy")) if isinstance(judged, dict) else "strategies"
    return _each(record, key if key in record else "strategies", read_label)


def _each(record: Mapping[str, Any], key: str, read: Callable[[Any], Any]) -> list[Any]:
    return _read(record, key, partial(read_all, read))


def _read(record: Mapping[str, Any], key: str, read: Callable[[Any], Any]) -> Any:
    try:
        return read(record[key])
    except ValueError as error:
        raise ValueError(f"{key} must be {error}") from None
