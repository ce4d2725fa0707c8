"""Logged groups, one in memory at a time, and an index that tells which groups deserve a look.

A log is a file for each step. The index of a file has one row for each group: the place where the
group is, and what a table of groups shows. A million samples in groups of 16 are 62,500 rows, about
70 bytes each; texts are read again when somebody looks at a group.
"""

from __future__ import annotations

import math
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from setrl.core.samples import DEGENERATE
from setrl.files import json_lines
from setrl.groups.importers.importing import LogReader, merged
from setrl.groups.options import LogOptions
from setrl.groups.outcomes import against, with_outcomes
from setrl.groups.rollouts import group_of_rollout
from setrl.groups.types import Group

PROMPT_KEPT = 160  # letters of a prompt that a table shows
FILES_KEPT = 2  # of other tools' logs, whose files are read as a whole

ROW = np.dtype(
    [
        ("step", np.int64),
        ("place", np.int64),
        ("samples", np.int32),
        ("correct", np.float32),
        ("strategies", np.float32),
        ("dead", np.float32),
        ("largest", np.float64),
        ("surprise", np.float64),
        ("wrong_up", np.float64),
    ]
)
"""A group: its step and place; numbers of samples, of correct ones and of strategies; whether all
advantages are 0; the largest |A|; the largest |A| against correctness; the largest |A| against it
of wrong samples only. NaN where it is unknown."""


class GroupLog(Protocol):
    """Where the groups of one training run are."""

    @property
    def files(self) -> Mapping[int, Path]:
        """Step → file."""

    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step."""

    def group(self, step: int, place: int) -> Group:
        """Return the group at a place of a step's file.

        Raises:
            LookupError: If no group begins there.
        """


@dataclass(frozen=True)
class Rollouts:
    """The rollouts of setrl's own training runs; a group's place is the byte at which it begins."""

    files: Mapping[int, Path]

    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step; a line that is still written is passed over.

        Raises:
            DataError: If the file is damaged.
        """
        for number, start, record in json_lines.read(self.files[step], "leave_out"):
            yield start, group_of_rollout(record, step, f"{self.files[step]}:{number}")

    def group(self, step: int, place: int) -> Group:
        """Return the group that begins at a byte.

        Raises:
            LookupError: If no group begins there.
        """
        path = self.files[step]
        with path.open("rb") as file:
            file.seek(max(place - 1, 0))
            if place < 0 or (place and file.read(1) != b"\n"):
                raise LookupError(place)
            line = file.readline()
        try:
            record = json_lines.parse(line)
        except ValueError:
            raise LookupError(place) from None
        return group_of_rollout(record, step, str(path))


@dataclass(frozen=True)
class ToolLog:
    """The log of another tool, a file for each step; a group's place is its number in the file.

    Attributes:
        files: Step → file.
        reader: How the tool's files are read.
        options: Which of their columns are meant.
    """

    files: Mapping[int, Path]
    reader: LogReader
    options: LogOptions
    _read: OrderedDict[int, list[Group]] = field(default_factory=OrderedDict, compare=False)
    _lock: Any = field(default_factory=Lock, compare=False)

    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step.

        Raises:
            ConfigError: If an option must say which column is meant.
            DataError: If the file is not of the tool's form.
        """
        yield from enumerate(self._of_step(step))

    def group(self, step: int, place: int) -> Group:
        """Return the group with a number."""
        if place < 0:
            raise LookupError(place)
        return self._of_step(step)[place]

    def _of_step(self, step: int) -> list[Group]:
        with self._lock:
            if step not in self._read:
                self._read[step] = self._loaded(step)
                while len(self._read) > FILES_KEPT:
                    self._read.popitem(last=False)
            return self._read[step]

    def _loaded(self, step: int) -> list[Group]:
        notes: list[str] = []
        parts = list(self.reader.groups(self.files[step], self.options, notes))
        notes += self.reader.notice(parts)
        said = tuple(f"{note[:1].upper()}{note[1:]}." for note in notes)
        above = self.options.correct_above
        return [
            replace(group, step=step, samples=with_outcomes(group.samples, above), notes=said)
            for group in merged(parts)
        ]


def summary(place: int, group: Group) -> tuple[Any, ...]:
    """Return the row of a group in the index."""
    samples = group.samples
    advantages = [abs(s.advantage) for s in samples if s.advantage is not None]
    odd = [
        (against(s), s.correct)
        for s in samples
        if s.advantage is not None and s.correct is not None
    ]
    clusters = {s.strategy for s in samples if s.strategy is not None}
    outcomes = [s.correct for s in samples if s.correct is not None]
    return (
        group.step,
        place,
        len(samples),
        sum(outcomes) if outcomes else math.nan,
        len(clusters - {DEGENERATE}) if clusters else math.nan,
        not any(advantages) if advantages else math.nan,
        max(advantages, default=math.nan),
        max((size for size, _ in odd), default=math.nan),
        max((size for size, right in odd if not right), default=0.0 if odd else math.nan),
    )


@dataclass(frozen=True)
class FileIndex:
    """The groups of one file.

    Attributes:
        rows: A `ROW` for each group.
        prompts: The beginning of each group's prompt.
    """

    rows: np.ndarray
    prompts: tuple[str, ...]


class Index:
    """The groups of a training run, indexed file by file when they are first asked for.

    A file that has changed since is indexed again.
    """

    def __init__(self, log: GroupLog) -> None:
        self.log = log
        self._known: dict[int, tuple[tuple[int, int], FileIndex]] = {}
        self._lock = Lock()

    def of_step(self, step: int) -> FileIndex:
        """Return the groups of a step."""
        about = self.log.files[step].stat()
        state = (about.st_size, about.st_mtime_ns)
        with self._lock:
            known = self._known.get(step)
            if known is None or known[0] != state:
                known = self._known[step] = (state, self._indexed(step))
        return known[1]

    def of_all(self) -> FileIndex:
        """Return the groups of all steps."""
        found = [self.of_step(step) for step in self.log.files]
        rows = np.concatenate([one.rows for one in found]) if found else np.empty(0, ROW)
        return FileIndex(rows, tuple(prompt for one in found for prompt in one.prompts))

    def _indexed(self, step: int) -> FileIndex:
        rows, prompts = [], []
        for place, group in self.log.groups(step):
            rows.append(summary(place, group))
            prompts.append(sys.intern(group.prompt[:PROMPT_KEPT]))  # prompts come again
        return FileIndex(np.array(rows, dtype=ROW), tuple(prompts))
