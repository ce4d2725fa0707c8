"""An index of logged groups, made in the background: which of them deserve a look.

A group is a row of about 130 bytes and the beginning of its prompt; texts are read again when
somebody looks at a group.
"""

from __future__ import annotations

import math
import sys
import time
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np

from setrl.samples.types import Group, Sample, against
from setrl.samples.values import DEGENERATE
from setrl.show.lab.view.logs import GroupLog
from setrl.support.errors import ConfigError, DataError, explain

PROMPT_KEPT = 160  # letters of a prompt that a table shows
PART = 2_000  # rows that are put into an array at once

ROW = np.dtype(
    [
        ("step", np.int64),
        ("place", np.int64),
        ("samples", np.int32),
        ("graded", np.int32),
        ("correct", np.float32),
        ("strategies", np.float32),
        ("disagreement", np.float32),
        ("dead", np.float32),
        ("largest", np.float64),
        ("surprise", np.float64),
        ("wrong_up", np.float64),
        ("id", np.int64),
        ("asked", np.int64),
    ]
)
"""A group: its step and place; numbers of samples, of graded and correct ones, and of strategies;
the share of pairs of samples that disagree; whether all advantages are 0; the largest |A|; the
largest |A| against correctness; the largest |A| against it of wrong samples only; hashes of what
names the problem and of its prompt. NaN where it is unknown."""


def summary(place: int, group: Group) -> tuple[Any, ...]:
    """Return the row of a group in the index."""
    samples = group.samples
    advantages = [abs(s.advantage) for s in samples if s.advantage is not None]
    odd = [
        (against(s), s.correct)
        for s in samples
        if s.advantage is not None and s.correct is not None
    ]
    strategies = {s.strategy for s in samples if s.strategy is not None}
    outcomes = [s.correct for s in samples if s.correct is not None]
    return (
        group.step,
        place,
        len(samples),
        len(outcomes),
        sum(outcomes) if outcomes else math.nan,
        len(strategies - {DEGENERATE}) if strategies else math.nan,
        disagreement(samples),
        not any(advantages) if advantages else math.nan,
        max(advantages, default=math.nan),
        max((size for size, _ in odd), default=math.nan),
        max((size for size, right in odd if not right), default=0.0 if odd else math.nan),
        hash(group.id),
        hash(group.prompt),
    )


def disagreement(samples: Sequence[Sample]) -> float:
    """Return the share of pairs of samples whose answers differ; NaN if fewer than two are known.

    Where the log has no answers, two samples disagree if one is correct and the other is wrong.

    >>> disagreement([Sample(answer=answer) for answer in "1123"])
    0.8333333333333334
    """
    outcomes: list[object] = [s.answer for s in samples if s.answer is not None]
    outcomes = outcomes or [s.correct for s in samples if s.correct is not None]
    pairs = len(outcomes) * (len(outcomes) - 1)
    equal = sum(size * (size - 1) for size in Counter(outcomes).values())
    return 1 - equal / pairs if pairs else math.nan


OUTCOME = {True: "+", False: "-", None: "?"}


def strip(samples: Sequence[Sample]) -> str:
    """Return two signs for each sample: its strategy, and whether it is right.

    A is the commonest strategy, as on the page of a group; - is none, and ? is unknown.

    >>> strip([Sample(strategy=s, correct=s != "z") for s in ("x", "z", "z", -1, None)])
    'A-A-B+-+?+'
    """
    counts = Counter(s.strategy for s in samples if s.strategy not in (None, DEGENERATE))
    signs: dict[Any, str] = {DEGENERATE: "-", None: "?"}
    signs |= {name: chr(ord("A") + rank) for rank, (name, _) in enumerate(counts.most_common())}
    pairs = [signs[sample.strategy] + OUTCOME[sample.correct] for sample in samples]
    return "".join(sorted(pairs, key=lambda pair: (pair[0] in "-?", pair)))


def right_strategies(group: Group) -> set[int]:
    """Return hashes of the names of strategies of correct samples; numbers are not names."""
    names = {name_of(s) for s in group.samples if s.correct and not _is_numbered_strategy(s)}
    return {hash(name) for name in names - {None}}


def name_of(sample: Sample) -> str | None:
    """Return what people call the strategy of a sample; None without one, or if it is unknown."""
    read_name, label = sample.value("read"), sample.strategy
    if isinstance(read_name, str):
        return read_name
    if label is None or label == DEGENERATE:
        return None
    return f"strategy {label}" if isinstance(label, int) else label


def _is_numbered_strategy(sample: Sample) -> bool:
    return isinstance(sample.strategy, int) and not isinstance(sample.value("read"), str)


class Words(NamedTuple):
    """What an index says of a group in words.

    Attributes:
        prompt: The beginning of its prompt.
        strip: Its samples, as `strip` writes them.
        task: The task that it is of; "" where a log has only one.
    """

    prompt: str
    strip: str
    task: str

    @classmethod
    def of(cls, group: Group) -> Words:
        """Return the words of a group; equal ones of several groups are held once."""
        prompt, task = group.prompt[:PROMPT_KEPT], str(group.more.get("task") or "")
        return cls(*map(sys.intern, (prompt, strip(group.samples), task)))


@dataclass(frozen=True)
class FileIndex:
    """Some groups of a log.

    Attributes:
        rows: A `ROW` for each group.
        words: What is said of each group in words.
        right: Hashes of each group's right strategies, one group after another.
        ends: Where each group's right strategies end.
    """

    rows: np.ndarray
    words: tuple[Words, ...]
    right: np.ndarray
    ends: np.ndarray

    def right_of(self, number: int) -> set[int]:
        """Return the right strategies of a group, as hashes."""
        start = int(self.ends[number - 1]) if number else 0
        return set(self.right[start : int(self.ends[number])].tolist())

    def from_group(self, number: int) -> FileIndex:
        """Return the groups from a number on."""
        start = int(self.ends[number - 1]) if number else 0
        ends = self.ends[number:] - start
        return FileIndex(self.rows[number:], self.words[number:], self.right[start:], ends)


class _GrowingIndex:
    """Groups that are summed up, one after another, while others look at them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._parts: list[FileIndex] = []
        self._rows: list[tuple[Any, ...]] = []
        self._words: list[Words] = []
        self._right, self._ends = array("q"), array("q")

    def fill(self, groups: Iterator[tuple[int, Group]]) -> None:
        """Sum up all groups, given with their places."""
        for place, group in groups:
            row, right = summary(place, group), right_strategies(group)
            with self._lock:
                self._rows.append(row)
                self._words.append(Words.of(group))
                self._right.extend(right)
                self._ends.append(len(self._right))
                if len(self._rows) >= PART:
                    self._pack_rows()

    def so_far(self) -> FileIndex:
        """Return the groups that are there."""
        with self._lock:
            self._pack_rows()
            self._parts = [joined(self._parts)]
            return self._parts[0]

    def _pack_rows(self) -> None:
        """Put the last rows into arrays, which take a tenth of the memory."""
        self._parts.append(FileIndex(
            np.array(self._rows, dtype=ROW), tuple(self._words),
            np.array(self._right, np.int64), np.array(self._ends, np.int64),
        ))  # fmt: skip
        self._rows, self._words = [], []
        self._right, self._ends = array("q"), array("q")


def joined(parts: Sequence[FileIndex]) -> FileIndex:
    """Return the groups of several parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.right) for part in parts)])
    ends = [part.ends + start for part, start in zip(parts, starts, strict=False)]
    whole = np.empty(0, np.int64)
    return FileIndex(
        np.concatenate([np.empty(0, ROW), *(part.rows for part in parts)]),
        tuple(words for part in parts for words in part.words),
        np.concatenate([whole, *(part.right for part in parts)]),
        np.concatenate([whole, *ends]),
    )


@dataclass(frozen=True)
class Progress:
    """How far an index is.

    Attributes:
        share: How much of the log is read, from 0 to 1.
        seconds_left: An estimate; None at the beginning.
    """

    share: float
    seconds_left: float | None


class LogIndex:
    """The groups of a log, file by file; a file that has changed since is indexed again."""

    def __init__(self, log: GroupLog) -> None:
        self.log = log
        self._indexed: dict[int, tuple[tuple[int, int], FileIndex]] = {}
        self._lock = Lock()
        self._starting = Lock()
        self._work: _IndexWork | None = None

    def of_step(self, step: int, patience: float | None = None) -> FileIndex:
        """Return the groups of a step; of a long file those that are indexed after some seconds."""
        if not self.log.by_step:
            return self.of_all(patience)[0]
        state = _file_state(self.log.files[step])
        with self._lock:
            indexed = self._indexed.get(step)
            if indexed is None or indexed[0] != state:
                growing = _GrowingIndex()
                growing.fill(self.log.groups(step))
                indexed = self._indexed[step] = (state, growing.so_far())
        return indexed[1]

    def of_all(self, patience: float | None = None) -> tuple[FileIndex, Progress | None]:
        """Return the groups of all steps, and how far the index is if it is not finished.

        Args:
            patience: Seconds to wait for the rest; None waits until all are there.

        Raises:
            ConfigError: If an option must say which field is meant.
            DataError: If nothing of the log can be read. If a part can, it is returned.
        """
        work = self._start_work()
        if work is not None:
            work.join(patience)
            if work.is_alive():
                return self._rows_so_far(work), work.progress()
            if work.error is not None:
                groups = self._rows_so_far(work)
                if not len(groups.rows):
                    raise work.error
                return groups, None  # `error` says what is wrong with the rest
        return joined(
            [self._indexed[step][1] for step in self.log.files if step in self._indexed]
        ), None

    @property
    def error(self) -> str | None:
        """Why the rest of the log cannot be read; None if all of it can, as far as is known."""
        error = None if self._work is None or self._work.is_alive() else self._work.error
        return None if error is None else explain(error)

    def notes(self) -> list[str]:
        """Return how the log was read, and what was noticed."""
        return self.log.notes()

    def _start_work(self) -> _IndexWork | None:
        """Return the work on files that have changed; None if no file has."""
        with self._starting:
            if self._work is not None and self._work.is_alive():
                return self._work
            states = {step: _file_state(path) for step, path in self.log.files.items()}
            stale = [s for s, state in states.items() if self._indexed.get(s, (None,))[0] != state]
            if not stale:
                return None
            if self._work is not None and self._work.error and self._work.states == states:
                return self._work
            self._work = _IndexWork(self, stale, states)
            self._work.start()
            return self._work

    def _rows_so_far(self, work: _IndexWork) -> FileIndex:
        parts = [self._indexed[step][1] for step in self.log.files if step in self._indexed]
        return joined([*parts, *work.so_far()])


class _IndexWork(Thread):
    """Indexes some files of a log."""

    def __init__(
        self, index: LogIndex, steps: list[int], states: dict[int, tuple[int, int]]
    ) -> None:
        super().__init__(daemon=True)
        self.error: ConfigError | DataError | OSError | None = None
        self.states = states
        self._index, self._steps = index, steps
        self._sizes = {step: max(1, states[step][0]) for step in steps}
        self._done = 0
        self._began = time.monotonic()
        self._step: int | None = None
        self._first, self._growing = _GrowingIndex(), _GrowingIndex()

    def run(self) -> None:
        try:
            for step in self._steps:
                self._step = step
                if self._index.log.by_step:
                    self._index.of_step(step)
                else:
                    self._index_long_file(step)
                self._done += self._sizes[step]
        except (ConfigError, DataError, OSError) as error:
            self.error = error

    def _index_long_file(self, step: int) -> None:
        log = self._index.log
        with suppress(ConfigError, DataError, OSError):  # which the whole file tells, too
            self._first.fill(log.first_groups(step))
        self._growing.fill(log.groups(step))
        self._index._indexed[step] = (self.states[step], self._growing.so_far())

    def so_far(self) -> list[FileIndex]:
        """Return the groups of a long file that are there; the first ones may still grow."""
        done = self._growing.so_far()
        first = self._first.so_far()
        return [done, first.from_group(min(len(done.rows), len(first.rows)))]

    def progress(self) -> Progress:
        """Return how far it is."""
        step = self._step
        part = 0.0 if step is None else self._sizes[step] * self._index.log.share(step)
        share = min(1.0, (self._done + part) / sum(self._sizes.values()))
        seconds = time.monotonic() - self._began
        return Progress(share, seconds * (1 - share) / share if share > 0.02 else None)


class Search:
    """The groups in whose samples the searched text occurs, found in the background."""

    def __init__(self, index: LogIndex, groups: FileIndex, text: str) -> None:
        self.text, self._log, self._rows = text.lower(), index.log, groups.rows
        self.hits: set[tuple[int, int]] = set()
        self._seen = 0
        self._thread = Thread(target=self._search_groups, daemon=True)
        self._thread.start()

    def _search_groups(self) -> None:
        for row in self._rows:
            step, place = int(row["step"]), int(row["place"])
            with suppress(LookupError, DataError, OSError):
                group = self._log.group(step, place)
                if any(self.text in text.lower() for text in group.texts):
                    self.hits.add((step, place))
            self._seen += 1

    def is_for(self, index: LogIndex, groups: FileIndex, text: str) -> bool:
        """Return whether this is the search for this text in these groups."""
        is_same = self._log is index.log and len(groups.rows) == len(self._rows)
        return is_same and self.text == text.lower()

    def wait(self, patience: float | None) -> float:
        """Return the share of the groups that is searched, after some seconds at most."""
        self._thread.join(patience)
        return self._seen / max(1, len(self._rows))


def _file_state(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns
