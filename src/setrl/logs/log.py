"""A log → its groups, a few in memory at a time: the only reader of samples on disk.

A first pass over the file recognises its fields and remembers, for each problem, where its rows
are; that takes some 40 bytes a row. Groups are then read in the order of their first rows, although
their rows may be anywhere in the file: the columns of a quarter of a MiB of rows at a time.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from setrl.logs.field_table import STRATEGIES
from setrl.logs.options import LOSS, LogOptions
from setrl.logs.paths import Record
from setrl.logs.recognition import SNIFFED, OddValueError, recognise
from setrl.logs.records import OwnReader, is_record
from setrl.logs.roles import FieldNames
from setrl.logs.row_reader import UNUSABLE, Item, RowReader, explained
from setrl.logs.rows import Batch, Rows
from setrl.logs.strategies import DEGENERATE_NOTE, MarksOf100
from setrl.logs.task_fields import numbers_of_pairs
from setrl.samples.types import Group
from setrl.support.errors import ConfigError, DataError
from setrl.support.files.progress import watched
from setrl.support.wording import count

CHUNK = 2**18  # bytes of groups that are read together


Reader = RowReader | OwnReader
LogRow = tuple[int, Record, list[Record]]
"""A row of a group: its number, the row, and the objects in it that hold samples of the group."""


class Log:
    """The groups of a file.

    Attributes:
        path: The file.
        head: What the file is taken for, and what each field is taken for.
        reader: How its rows are read.
        is_own: Whether setrl wrote it: an evaluation, or rollouts.
        source: The tool that wrote it; "jsonl" for other files.
        noticed: What a reader of the groups has noticed, in sentences.
    """

    def __init__(
        self,
        rows: Rows,
        reader: Reader,
        head: str,
        options: LogOptions,
        *,
        numbered: bool = False,
        source: str = "jsonl",
    ):
        self.path, self.head, self.reader, self.source = rows.path, head, reader, source
        self.is_own = isinstance(reader, OwnReader)
        self.rows, self.options, self.numbered = rows, options, numbered
        self.noticed: list[str] = []
        self._equal_rows = self._retries = self._largest_size = 0
        self._marks = MarksOf100()
        self._last_row: tuple[int, Record, list[Record]] = (-1, {}, [])
        self._row_I: NDArray[Any] = np.empty(0, np.uint32)
        self._item_I: NDArray[Any] = np.empty(0, np.uint32)
        self._end_G: NDArray[Any] = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._end_G)

    def __iter__(self) -> Iterator[Group]:
        return (group for group, _ in self._watch_groups(keeps_rows=False))

    def with_rows(self) -> Iterator[tuple[Group, Iterator[LogRow]]]:
        """Yield each group, and the rows that hold it; see `records`."""
        return self._watch_groups(keeps_rows=True)

    def _watch_groups(self, keeps_rows: bool) -> Iterator[tuple[Group, Iterator[LogRow]]]:
        self._largest_size, self._marks, self.reader.counted = 0, MarksOf100(), Counter()
        groups = self._read_groups_in_chunks(keeps_rows)
        for group, rows in watched(groups, f"read {self.path.name}", len(self), unit="problem"):
            self._largest_size = max(self._largest_size, len(group))
            self._marks.add(group.column("strategy"))
            yield group, rows

    def _read_groups_in_chunks(self, keeps_rows: bool) -> Iterator[tuple[Group, Iterator[LogRow]]]:
        """Yield all groups; the columns of some small ones are read together."""
        end_G = np.cumsum(self.rows.sizes[self._row_I])[self._end_G - 1] // CHUNK
        for places in np.split(np.arange(len(self)), np.flatnonzero(np.diff(end_G)) + 1):
            try:
                groups = iter(self._read_adjacent_groups(places.tolist(), keeps_rows))
            except DataError:  # which follows the groups before it
                groups = ((self[place], self.records(place)) for place in places.tolist())
            yield from groups

    def _read_adjacent_groups(
        self, places: Sequence[int], keeps_rows: bool = False
    ) -> Iterable[tuple[Group, Iterator[LogRow]]]:
        """Return adjacent groups; with their rows, if these are to be kept until then."""
        if self.reader.list_path is not None:
            groups = self.reader.groups([self.items(place) for place in places])
            return zip(groups, map(self.records, places), strict=True)
        start, *ends = (int(self._end_G[place]) if place >= 0 else 0
                        for place in range(places[0] - 1, places[-1] + 1))  # fmt: skip
        rows = self._row_I[start : ends[-1]].tolist()
        items = [*zip(rows, self.rows.records(rows), strict=True)]
        chunk = [items[a - start : b - start] for a, b in pairwise([start, *ends])]
        kept = chunk if keeps_rows else [[] for _ in chunk]
        return zip(self.reader.groups(chunk), map(self._with_objects, kept), strict=True)

    def _with_objects(self, items: Iterable[Item]) -> Iterator[LogRow]:
        return ((row, record, self.reader.items(record)) for row, record in items)

    def __getitem__(self, place: int) -> Group:
        kept, self.reader.counted = self.reader.counted, Counter()  # notes are about all groups
        try:
            return next(iter(self._read_adjacent_groups([place])))[0]
        finally:
            self.reader.counted = kept

    def items(self, place: int) -> list[Item]:
        """Return the objects that hold the samples of a group, with the numbers of their rows."""
        return [(row, item) for row, _, items in self.records(place) for item in items]

    def records(self, place: int) -> Iterator[LogRow]:
        """Yield each row of a group: its number, the row, and the objects of it in the group."""
        rows, item_places = self._rows_of_group(place)
        if self.reader.list_path is None:
            yield from self._with_objects(zip(rows, self.rows.records(rows), strict=True))
            return
        for row, chosen in groupby(zip(rows, item_places, strict=True), key=itemgetter(0)):
            if self._last_row[0] != row:  # a row may hold samples of many groups
                record = self.rows.record(row)
                self._last_row = (row, record, self.reader.items(record))
            yield row, self._last_row[1], [self._last_row[2][item] for _, item in chosen]

    def _rows_of_group(self, place: int) -> tuple[list[int], list[int]]:
        """Return the rows of a group's objects, and their places there."""
        span = slice(int(self._end_G[place - 1]) if place else 0, int(self._end_G[place]))
        return self._row_I[span].tolist(), self._item_I[span].tolist()

    def notes(self) -> list[str]:
        """Return what was noticed while all groups were read, in sentences."""
        notes = [*self.noticed, *self.reader.notes()]
        if self.rows.damage:
            notes.append(f"{LOSS}{self.rows.damage_note}")
        if self._equal_rows:
            rows = count(self._equal_rows, "row")
            notes.append(
                f"{LOSS}{rows} equal to an earlier one, also in the number of the sample"
                if self.numbered
                else f"counted as further samples: {rows} equal to an earlier one; {self._remedy}"
            )
        if self._retries:
            notes.append(self._retries_note())
        if self._largest_size == 1 and len(self) > 1 and self.source == "jsonl":
            notes.append("every problem has one sample: if that is not so, name the field that the "
                         "samples of one problem share with --group")  # fmt: skip
        if self.options.degenerate is None and self._marks.found:
            notes.append(DEGENERATE_NOTE)
        return notes

    @property
    def _remedy(self) -> str:
        """What leaves out rows that come again."""
        if numbers := getattr(getattr(self.reader, "recognised", None), "numbers", ()):
            return f"--sample-number {numbers[0]} leaves them out"
        return "a field that numbers the samples, named with --sample-number, leaves such rows out"

    @property
    def repeated(self) -> int:
        """Rows that count, and that are equal to an earlier one, in texts or in several samples.

        Rows of one sample without its text may well be equal.
        """
        has_lists = getattr(getattr(self.reader, "recognised", None), "lists", False)
        is_known = "text" in self.reader.columns or has_lists or self._item_I.any()
        return self._equal_rows if is_known and not self.numbered else 0

    def index(
        self,
        batches: Iterable[Batch],
        seen: Callable[[int], object] | None = None,
    ) -> None:
        """Find where the samples of each problem are; tell `seen` now and then what is read.

        Raises:
            DataError: Naming the line that cannot be read.
        """
        hashes, digests = array("q"), array("q")
        rows_of, items_of = array("I"), array("I")
        for records, of_records in batches:
            if seen is not None:
                seen(self.rows.place)
            numbers = range(len(digests), len(digests) + len(records))
            names, of_row, item_places = self._locate_objects(numbers, records)
            digests.extend(of_records)
            hashes.extend(map(hash, names))
            rows_of.extend(of_row)
            items_of.extend(item_places)
        row_I, item_I = (np.frombuffer(indices, np.uint32) for indices in (rows_of, items_of))
        hash_I = np.frombuffer(hashes, np.int64)
        if isinstance(self.reader, RowReader):
            hash_I = self.reader.find_tasks(hash_I)
        kept_I = None
        if self.is_own:
            kept_I = _is_first_of_equal(hash_I)
            self._refuse_repeated(hash_I, row_I, kept_I)
        else:
            kept_R = _is_first_of_equal(np.frombuffer(digests, np.int64))
            self._equal_rows = int((~kept_R).sum())
            if self.numbered:
                kept_I = kept_R[row_I]
                kept_I &= self._is_last_of_number(hash_I, kept_I)
        if kept_I is not None:
            row_I, item_I, hash_I = row_I[kept_I], item_I[kept_I], hash_I[kept_I]
        order_I, self._end_G = _order_by_group(hash_I)
        self._row_I, self._item_I = row_I[order_I], item_I[order_I]

    def _is_last_of_number(
        self, hash_I: NDArray[np.int64], kept_I: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which objects count: the last one with its number, if the user names the field.

        A field that was only recognised may count something else, such as the epoch of several
        samples: then all objects count, and a note says so.
        """
        number_I = np.frombuffer(cast("RowReader", self.reader).numbers, np.int64)
        known_I = np.flatnonzero(kept_I & (number_I >= 0))
        key = numbers_of_pairs(hash_I[known_I], number_I[known_I])
        last_I = np.ones(len(hash_I), np.bool_)
        last_I[known_I] = _is_first_of_equal(key[::-1])[::-1]
        self._retries = int((~last_I).sum())
        return last_I if self.is_number_named else np.ones_like(last_I)

    @property
    def is_number_named(self) -> bool:
        """Whether the user says which field numbers the samples."""
        return cast("RowReader", self.reader).recognised.is_named("sample_number")

    def _retries_note(self) -> str:
        """Say that samples of one problem have one number, and differ."""
        rows = count(self._retries, "row")
        field = cast("RowReader", self.reader).fields.sample_number
        if self.is_number_named:
            return (f"{LOSS}{rows} whose {field} comes again in the problem with other values, as "
                    "of a retry: the last one counts")  # fmt: skip
        return (f"counted as further samples: {rows} whose {field} comes again in the problem with "
                f"other values; if these are retries, --sample-number {field} counts only the last "
                "one")  # fmt: skip

    def _locate_objects(
        self, numbers: Sequence[int], records: Sequence[Record]
    ) -> tuple[Sequence[str], Sequence[int], Sequence[int]]:
        """Return the problem, the row and the place there of each object of some rows.

        Where that fails, the rows are looked at one by one, to name the line.
        """
        try:
            if self.reader.list_path is None:
                return self.reader.look(numbers, records), numbers, [0] * len(records)
            each = [self.reader.items(record) for record in records]
            rows = [number for number, items in zip(numbers, each, strict=True) for _ in items]
            objects = [item for items in each for item in items]
            places = [place for items in each for place in range(len(items))]
            return self.reader.look(rows, objects), rows, places
        except UNUSABLE as error:
            for number, record in zip(numbers, records, strict=True) if len(records) > 1 else ():
                self._locate_objects([number], [record])
            raise explained(error, self.rows.where(numbers[0])) from None

    def _refuse_repeated(
        self, hash_I: NDArray[np.int64], row_I: NDArray[Any], kept_I: NDArray[np.bool_]
    ) -> None:
        """Refuse an evaluation file that holds a problem twice, unless damage is allowed."""
        again = np.flatnonzero(~kept_I)
        if not len(again):
            return
        first = int(np.flatnonzero(hash_I == hash_I[again[0]])[0])
        lines = [self.rows.where(int(row_I[place])) for place in (again[0], first)]
        repetition = f"{lines[0]} has the problem of {lines[1]}"
        if not self.options.allow_damaged:
            others = f", the first of {len(again)} such lines" if len(again) > 1 else ""
            raise DataError(f"{repetition}{others}: repair the file, or leave such lines out with "
                            "--allow-damaged")  # fmt: skip
        self.rows.damage += [repetition] * len(again)


def _is_first_of_equal(digest_R: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each row is the first one with its digest."""
    kept_R = np.zeros(len(digest_R), dtype=np.bool_)
    kept_R[np.unique(digest_R, return_index=True)[1]] = True
    return kept_R


def _order_by_group(hash_I: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of objects by groups, in the order of their first ones; and their ends."""
    _, first_G, group_I, size_G = np.unique(
        hash_I, return_index=True, return_inverse=True, return_counts=True
    )
    order_G = np.argsort(first_G)
    rank_G = np.empty_like(order_G)
    rank_G[order_G] = np.arange(len(order_G))
    return np.argsort(rank_G[group_I.ravel()], kind="stable"), np.cumsum(size_G[order_G])


def open_log(
    path: str | Path,
    options: LogOptions | None = None,
    needs: Collection[str] = (),
    *,
    tool: str | None = None,
    strategies: Sequence[str] = STRATEGIES,
    first: int | None = None,
    seen: Callable[[int], object] | None = None,
    as_logged: bool = False,
) -> Log:
    """Return the groups of any file of samples.

    Args:
        path: A log in JSON Lines, JSON or Parquet, a file of evaluations or rollouts, or the log of
            another tool.
        options: How it is read.
        needs: What the caller cannot do without: correct, reward, text, prompt or strategy.
        tool: The tool that wrote it; by default recognised, where names of files tell.
        strategies: The names that a field of strategies may have.
        first: Read only so many rows; by default all.
        seen: Called now and then, with the bytes of rows that are read.
        as_logged: Keep groups of all sizes of a tool's log. By default groups have the commonest
            number of samples, and the others are left out, with a note.

    Raises:
        ConfigError: When a field that is needed cannot be recognised, or an option does not fit.
        DataError: When the file cannot be read.
    """
    from setrl.logs.importers import tools

    path, options = Path(path), options or LogOptions()
    tool = tool or tools.tool_of(path)
    notes: list[str] = []
    if tool is None:
        rows, given = Rows(path, options.allow_damaged), options.fields
    else:
        _refuse_verdict_words(options, f"{path} is a log of {tool}, whose verdicts are known")
        of_tool, given = tools.rows_of(tool, path, options, notes, as_logged)
        rows = Rows(path, records=of_tool)
    scan = rows.scan() if first is None else _first_rows(rows.scan(), first)
    start: list[Batch] = []
    while sum(len(records) for records, _ in start) < SNIFFED and (batch := next(scan, None)):
        start.append(batch)
    if not start:
        why = f" that can be read: {rows.damage_note}" if rows.damage else ""
        raise DataError(f"{path}: holds no rows{why}")
    records = [record for batch, _ in start for record in batch][:SNIFFED]
    if tool is None and is_record(records[0]):
        _refuse_field_names(path, given)
        _refuse_verdict_words(options, f"{path} is a file of setrl's own, whose verdicts are known")
        head = f"{path}: a file of setrl's own"
        log = Log(rows, OwnReader(path, rows.where, needs), head, options)
        log.index(chain(start, scan), seen)
        return log
    try:
        recognised = recognise(
            records,
            given,
            options.verify is not None,
            needs,
            strategies,
            options.words,
        )
        # A tool's reader has said already what a missing label means.
        reading = options if tool is None else replace(options, degenerate=None)
        reader = RowReader(recognised, reading, needs, rows.where)
        numbered = recognised.fields.sample_number is not None
        log = Log(rows, reader, "", options, numbered=numbered, source=tool or "jsonl")
        log.index(chain(start, scan), seen)
        recognised = reader.recognised
        taken = f"a log of {tool}" if tool else f"{recognised.shape}\n{recognised.table()}"
        log.head = f"{path}: {taken}"
        log.noticed += notes  # the last of them came with the last row
        if "correct" in needs:
            reader.grades.refuse_graded()
            reader.grades.refuse_opposite()
    except OddValueError as error:
        raise DataError(f"{rows.where(error.row)}: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}{'' if tool else tools.command_for(path)}") from None
    return log


def _first_rows(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    for records, digests in batches:
        yield records[:most], digests[:most]
        most -= len(records)
        if most <= 0:
            return


def _refuse_verdict_words(options: LogOptions, why: str) -> None:
    if options.words:
        raise ConfigError(f"{why}: leave out --right, --wrong and --unknown")


def _refuse_field_names(path: Path, given: FieldNames) -> None:
    if given.named():
        names = ", ".join(f"--{role.replace('_', '-')}" for role in given.named())
        raise ConfigError(
            f"{path} is a file of setrl's own, whose fields are known: {names} is for another "
            "program's log"
        )
