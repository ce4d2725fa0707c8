"""A table of groups: which are shown, in which order, and what a row says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setrl.evaluate.by_task import estimates_by_task, task_rows
from setrl.evaluate.intervals import IntervalConfig
from setrl.evaluate.metrics import with_interval
from setrl.show.lab.view.index import ROW, FileIndex
from setrl.support.errors import ConfigError

ROWS_SHOWN = 100
HIDDEN = ("place", "id", "asked")
COLUMNS = (*(name for name in ROW.names or () if name not in HIDDEN), "pass1", "lost", "change")
SORTS = (*COLUMNS, "prompt")

SHOWN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all": lambda rows: np.ones(len(rows), dtype=bool),
    "surprising": lambda rows: rows["surprise"] > 0,
    "wrong_up": lambda rows: rows["wrong_up"] > 0,
    "mixed": lambda rows: (rows["correct"] > 0) & (rows["correct"] < rows["graded"]),
    "right": lambda rows: (rows["graded"] > 0) & (rows["correct"] == rows["graded"]),
    "wrong": lambda rows: (rows["graded"] > 0) & (rows["correct"] == 0),
    "unknown": lambda rows: rows["graded"] < rows["samples"],
    "alive": lambda rows: rows["dead"] == 0,
    "dead": lambda rows: rows["dead"] == 1,
}
"""What a table of groups can be narrowed to."""


def same_problems(groups: FileIndex, other: FileIndex) -> np.ndarray:
    """Return the number of each group's problem in another index, −1 where it is not there.

    Problems are matched by ids, or by prompts if no id is shared. Of several groups of one problem,
    the last one is taken.
    """
    for key in ("id", "asked"):
        numbers = {name: number for number, name in enumerate(other.rows[key].tolist())}
        names = groups.rows[key].tolist()
        places = np.array([numbers.get(name, -1) for name in names], dtype=np.int64)
        if (places >= 0).any():
            return places
    return np.full(len(groups.rows), -1, dtype=np.int64)


@dataclass(frozen=True)
class PageTable:
    """The groups of a log, and what they are compared with.

    Attributes:
        groups: The groups.
        values: Column → a value for each group; NaN where it is unknown.
    """

    groups: FileIndex
    values: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, groups: FileIndex, other: FileIndex | None = None) -> PageTable:
        """Return the table of some groups.

        Args:
            groups: The groups.
            other: What strategies may be lost to, and pass@1 is compared with.
        """
        rows = groups.rows
        values = {
            name: rows[name].astype(np.float64)
            for name in COLUMNS
            if name in (rows.dtype.names or ())
        }
        values["pass1"] = _pass_at_1(rows)
        values["lost"] = values["change"] = np.full(len(rows), np.nan)
        if other is not None:
            match = same_problems(groups, other)
            there = np.flatnonzero(match >= 0)
            values["lost"], values["change"] = values["lost"].copy(), values["change"].copy()
            values["change"][there] = (values["pass1"] - _pass_at_1(other.rows)[match])[there]
            if len(groups.right) and len(other.right):
                values["lost"][there] = [
                    len(other.right_of(int(match[i])) - groups.right_of(int(i))) for i in there
                ]
        return cls(groups, values)

    def chosen(
        self, show: str = "all", text: str = "", hits: set[tuple[int, int]] | None = None
    ) -> np.ndarray:
        """Return the numbers of the groups that are asked for.

        Args:
            show: A name in `SHOWN`.
            text: What the prompt contains; upper and lower case are one.
            hits: Steps and places of groups in whose samples it occurs.

        Raises:
            ConfigError: If there is no such choice.
        """
        if show not in SHOWN:
            raise ConfigError(f"groups can be {', '.join(SHOWN)}, not {show[:40]!r}")
        keep = SHOWN[show](self.groups.rows)
        if text:
            sought = text.lower()
            is_in = [sought in words.prompt.lower() for words in self.groups.words]
            keep &= np.array(is_in, dtype=bool) | self._is_hit(hits or set())
        return np.flatnonzero(keep)

    def _is_hit(self, hits: set[tuple[int, int]]) -> np.ndarray:
        rows = self.groups.rows
        places = zip(rows["step"].tolist(), rows["place"].tolist(), strict=True)
        return np.array([place in hits for place in places], dtype=bool)

    def ordered(self, chosen: np.ndarray, by: str, descending: bool) -> np.ndarray:
        """Return numbers of groups in an order; unknown values come last.

        Raises:
            ConfigError: If there is no such column.
        """
        if by not in SORTS:
            raise ConfigError(f"groups can be sorted by {', '.join(SORTS)}, not by {by[:40]!r}")
        if by == "prompt":
            words = self.groups.words
            order = sorted(chosen.tolist(), key=lambda i: words[i].prompt, reverse=descending)
            return np.array(order, dtype=np.int64)
        values = self.values[by][chosen]
        return chosen[np.argsort(-values if descending else values, kind="stable")]

    def by_task(self) -> dict[str, Any] | None:
        """Return pass@1 of each task as `setrl evaluate` writes it; None if there is one task."""
        tasks_P = [words.task for words in self.groups.words]
        of_all = {"pass@1": self.values["pass1"][None]}
        estimates = estimates_by_task(tasks_P, of_all, IntervalConfig())
        if estimates is None:
            return None
        titles, rows = task_rows(estimates, (), with_interval)
        shown = [[task, f"{problems:,}", *cells] for task, problems, cells in rows]
        return {"head": ["task", "problems", *titles], "rows": shown}

    def row(self, number: int) -> dict[str, Any]:
        """Return what the table shows of a group."""
        row = self.groups.rows[number]
        shown = {name: row[name].item() for name in ROW.names or () if name not in HIDDEN}
        shown |= {name: float(self.values[name][number]) for name in ("pass1", "lost", "change")}
        return {**shown, **self.groups.words[number]._asdict(), "place": int(row["place"])}


def _pass_at_1(rows: np.ndarray) -> np.ndarray:
    graded = np.where(rows["graded"] > 0, rows["graded"], np.nan)
    return np.asarray(rows["correct"] / graded, dtype=np.float64)
