"""Where logged groups are, one in memory at a time: rollouts, logs of trainers, any other file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any
from zipfile import ZipFile, is_zipfile

from typing_extensions import override

from setrl.logs.importers.importing import LogReader, merged
from setrl.logs.importers.tools import READERS
from setrl.logs.log import Log, open_log
from setrl.logs.options import LogOptions
from setrl.logs.paths import Record
from setrl.logs.records import COLUMN_OF, checked, group_of
from setrl.logs.writing import credit_record, is_of_method
from setrl.samples.types import Group, with_outcomes
from setrl.show.lab.view.credit import Origin
from setrl.support.files import json_lines

FILES_KEPT = 2  # of other tools' logs, whose files are read as a whole
FIRST_ROWS = 2_000  # of a long log, which are shown while the rest is read
SCANNED = 0.4  # of the work on a file is finding its rows; then its groups are summed up
ONLY_STEP = 0  # of a log that has no steps


class GroupLog:
    """Where the groups of one training run or of one file are; by default a file for each step.

    A log has `files` (step → file). `by_step` is whether each file is a step, which is short enough
    to be read while a reader waits.
    """

    by_step = True
    files: Mapping[int, Path]

    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step."""
        raise NotImplementedError

    def first_groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group of the first groups of a long file, as far as its first rows tell."""
        return iter(())

    def group(self, step: int, place: int) -> Group:
        """Return the group at a place of a step's file.

        Raises:
            LookupError: If no group begins there.
        """
        raise NotImplementedError

    def origin(self, step: int, place: int) -> Origin:
        """Return where the advantages of a group come from."""
        return Origin("loss")

    def raw(self, step: int, place: int, sample: int) -> Any:
        """Return a sample as the log has it, with all its fields; None where that is not kept."""
        return None

    def share(self, step: int) -> float:
        """Return how much of a step's file is read, from 0 to 1."""
        return 0.0

    def notes(self) -> list[str]:
        """Return how the log was read, and what was noticed."""
        return []


@dataclass(frozen=True)
class Rollouts(GroupLog):
    """The rollouts of setrl's own training runs; a group's place is the byte at which it begins.

    Attributes:
        files: Step → file.
        config: The method of the arm, as the config of the run has it.
    """

    files: Mapping[int, Path]
    config: Mapping[str, Any] = field(default_factory=dict)

    @override
    def origin(self, step: int, place: int) -> Origin:
        return Origin("loss", self.config)

    @override
    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step; a line that is still written is passed over.

        Raises:
            DataError: If the file is damaged.
        """
        for number, start, record in json_lines.read(self.files[step], "leave_out"):
            where = f"{self.files[step]}:{number}"
            yield start, replace(group_of(checked(record, where), where), step=step)

    @override
    def group(self, step: int, place: int) -> Group:
        return replace(group_of(self._read_record(step, place), str(self.files[step])), step=step)

    @override
    def raw(self, step: int, place: int, sample: int) -> Any:
        """Return a sample as its line has it.

        Raises:
            LookupError: If there is no such sample.
        """
        record = self._read_record(step, place)
        if not 0 <= sample < record["n"]:
            raise LookupError(sample)
        return {key: record[name][sample] for key, name in COLUMN_OF.items() if name in record}

    def _read_record(self, step: int, place: int) -> Record:
        with self.files[step].open("rb") as file:
            file.seek(max(place - 1, 0))
            if place < 0 or (place and file.read(1) != b"\n"):
                raise LookupError(place)
            line = file.readline()
        try:
            record = json_lines.parse(line)
        except ValueError:
            raise LookupError(place) from None
        return checked(record, str(self.files[step]))


@dataclass(frozen=True)
class ToolLog(GroupLog):
    """The log of another trainer, a file for each step; a group's place is its number in the file.

    Attributes:
        files: Step → file.
        reader: How the tool's files are read.
        options: Which of their columns are meant.
    """

    files: Mapping[int, Path]
    reader: LogReader
    options: LogOptions
    _kept_groups: OrderedDict[int, list[Group]] = field(default_factory=OrderedDict, compare=False)
    _lock: Any = field(default_factory=Lock, compare=False)

    @override
    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Place and group, of every group of a step.

        Raises:
            ConfigError: If an option must say which column is meant.
            DataError: If the file is not of the tool's form.
        """
        yield from enumerate(self._groups_of_step(step))

    @override
    def group(self, step: int, place: int) -> Group:
        if place < 0:
            raise LookupError(place)
        return self._groups_of_step(step)[place]

    def _groups_of_step(self, step: int) -> list[Group]:
        with self._lock:
            if step not in self._kept_groups:
                self._kept_groups[step] = self._load_groups(step)
                while len(self._kept_groups) > FILES_KEPT:
                    self._kept_groups.popitem(last=False)
            return self._kept_groups[step]

    def _load_groups(self, step: int) -> list[Group]:
        notes: list[str] = []
        parts = list(self.reader.groups(self.files[step], self.options, notes))
        notes += self.reader.notice(parts)
        sentences = tuple(f"{note[:1].upper()}{note[1:]}." for note in notes)
        above = self.options.correct_above
        return [
            replace(group, step=step, samples=with_outcomes(group.samples, above), notes=sentences)
            for group in merged(parts)
        ]


class FileLog(GroupLog):
    """Any log that `setrl.logs.open_log` reads; a group's place is its number in the log.

    The log is read as a whole once, in the background; until then its first rows stand for it. A
    group has one number in both, because groups come in the order of their first rows.

    Args:
        path: The file, or the folder of another tool's log.
        options: How it is read.
        tool: The tool that wrote it; by default recognised.
    """

    by_step = False

    def __init__(self, path: Path, options: LogOptions, tool: str | None = None) -> None:
        self.path, self.options, self.tool = path, options, tool
        self._lock = Lock()
        self._log: Log | None = None
        self._share = 0.0
        self.files = {ONLY_STEP: path}

    @override
    def first_groups(self, step: int) -> Iterator[tuple[int, Group]]:
        if self.tool is not None and READERS[self.tool].by_step:
            return  # its last step is known only at the end
        self._log = self._open_log(first=FIRST_ROWS)
        yield from self._numbered_groups(self._log)

    @override
    def groups(self, step: int) -> Iterator[tuple[int, Group]]:
        """Yield number and group, of every group.

        Raises:
            ConfigError: If an option must say which field is meant.
            DataError: If the file cannot be read.
        """
        size = max(1, sum(map(_size_in_bytes, self._files_of_log())))
        log = self._log = self._open_log(seen=lambda place: self._set_share(SCANNED * place / size))
        for place, group in self._numbered_groups(log):
            self._set_share(SCANNED + (1 - SCANNED) * place / len(log))
            yield place, group

    @override
    def group(self, step: int, place: int) -> Group:
        with self._lock:
            return self._set_only_step(self._log_with_place(place)[place])

    @override
    def origin(self, step: int, place: int) -> Origin:
        """Return where the advantages come from: `setrl credit` says it of each column it wrote."""
        with self._lock:
            log = self._log_with_place(place)
            credit = credit_record(log.items(place)[0][1], log.reader.list_path)
        column_credit = credit.get("advantage")  # the only column that is read
        if is_of_method(column_credit):
            return Origin("credit", column_credit)
        return Origin("loss" if log.source == "trl" else "log")

    @override
    def raw(self, step: int, place: int, sample: int) -> Any:
        """Return the object of the log that holds a sample."""
        with self._lock:
            items = [item for _, item in self._log_with_place(place).items(place)]
        return items[sample] if len(items) > 1 else items[0]

    @override
    def share(self, step: int) -> float:
        return self._share

    @override
    def notes(self) -> list[str]:
        return [self._log.head, *self._log.notes()] if self._log is not None else []

    def _files_of_log(self) -> list[Path]:
        return [*self.path.rglob("*")] if self.path.is_dir() else [self.path]

    def _open_log(self, **how: Any) -> Log:
        return open_log(self.path, self.options, tool=self.tool, as_logged=True, **how)

    def _numbered_groups(self, log: Log) -> Iterator[tuple[int, Group]]:
        groups = iter(log)
        for place in range(len(log)):
            with self._lock:  # a reader's click reads the same file
                group = next(groups)
            yield place, self._set_only_step(group)

    def _log_with_place(self, place: int) -> Log:
        if self._log is None:
            self._log = self._open_log()
        if not 0 <= place < len(self._log):
            raise LookupError(place)
        return self._log

    @staticmethod
    def _set_only_step(group: Group) -> Group:
        return group if group.step == ONLY_STEP else replace(group, step=ONLY_STEP)

    def _set_share(self, share: float) -> None:
        self._share = min(share, 0.99)


def _size_in_bytes(path: Path) -> int:
    """Return the bytes of a file, of a zip archive the bytes of what is in it."""
    if path.suffix != ".eval" or not is_zipfile(path):
        return path.stat().st_size
    with ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())
