"""The rows of a file: JSON Lines, a JSON array or object, CSV, Parquet, with or without gzip.

Every row can be read again from the byte where it begins. A file that is not JSON Lines is copied
to a temporary one, so that only the rows that are wanted are in memory.
"""

from __future__ import annotations

import codecs
import gzip
import json
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from setrl.samples.values import plain
from setrl.support.errors import DataError
from setrl.support.files import csv_rows, json_lines
from setrl.support.files.kinds import GZIP, OPENING, PARQUET, open_gzip, refuse_other_kinds, text_of
from setrl.support.files.progress import watched
from setrl.support.wording import count

Row = tuple[dict[str, Any], int]  # an object of a file, and a number that is equal for equal rows
Batch = tuple[list[dict[str, Any]], list[int]]  # the same of adjacent rows

BLOCK = 2**18  # bytes of lines that are parsed together
BATCH = 1_000  # rows that are handed on together, where they are read one by one

OF_ONE_COLUMN = {".csv": ",", ".tsv": "\t"}  # ending of a table → its separator, which it lacks


class Rows:
    """The rows of a file.

    Args:
        path: The file.
        allow_damaged: Leave out lines that cannot be read.
        records: The rows, if `path` only names where they came from.
        remedy: What the error of such a line ends with.

    Attributes:
        damage: What is wrong with each line that is left out.

    Raises:
        DataError: If there is no such file.
    """

    def __init__(
        self,
        path: Path,
        allow_damaged: bool = False,
        records: Iterable[dict[str, Any]] | None = None,
        remedy: str = "; --allow-damaged leaves such lines out",
    ):
        self.path, self.allow_damaged, self._remedy = path, allow_damaged, remedy
        self.damage: list[str] = []
        self._given = records
        self._places, self._numbers = array("q"), array("I")
        self._end = 0  # where the last row ends
        self._copy: BinaryIO | None = None
        self._handle: BinaryIO | None = None

    def __len__(self) -> int:
        return len(self._places)

    @property
    def damage_note(self) -> str:
        """How many lines are left out, and what is wrong with the first."""
        lines = count(len(self.damage), "damaged line")
        return f"{lines} of {self.path.name}, the first: {self.damage[0]}"

    @property
    def place(self) -> int:
        """The byte at which the last row begins that was read."""
        return self._places[-1] if self._places else 0

    def scan(self) -> Iterator[Batch]:
        """Read all rows, in order and once, and remember where each begins.

        Rows before one that cannot be read come before the error.

        Raises:
            DataError: Naming the file, and the line that is not an object.
        """
        if self._given is not None:
            yield from self._copy_rows(enumerate(self._given, start=1))
            return
        if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):  # a pipe
            yield from self._read_pipe()
            return
        kind = _opening_mark(self.path)
        if kind == PARQUET:
            from setrl.logs import parquet

            yield from self._copy_rows(enumerate(parquet.each_row(self.path), start=1))
        else:
            is_gzip = kind == GZIP
            rows = self._read_text(
                open_gzip(self.path) if is_gzip else self.path.open("rb"), is_copied=is_gzip
            )
            size = None if is_gzip else self.path.stat().st_size
            yield from watched(rows, f"read {self.path.name}", size, at=lambda: self._places[-1])

    def record(self, row: int) -> dict[str, Any]:
        """Read a row again."""
        return self.records([row])[0]

    def records(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Read some rows again; adjacent ones at once."""
        if self._handle is None:
            self._handle = self._copy or self.path.open("rb", buffering=0)
            weakref.finalize(self, self._handle.close)
        places, last = self._places, len(self._places) - 1
        lines = [(places[row], places[row + 1] if row < last else self._end) for row in rows]
        if max(rows) - min(rows) == len(rows) - 1 > 0:
            start = min(lines)[0]
            block = self._read_bytes(start, max(lines)[1])
            each = [block[place - start : end - start] for place, end in lines]
        else:
            each = [self._read_bytes(*line) for line in lines]
        return json_lines.parse_again(line.partition(b"\n")[0] for line in each)

    def _read_bytes(self, place: int, end: int) -> bytes:
        assert self._handle is not None
        self._handle.seek(place)
        return self._handle.read(end - place)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of each row."""
        return np.diff(np.array(self._places), append=self._end)

    def where(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        if self._copy is None:
            return f"{self.path}:{self._numbers[row]}"
        return (
            f"{self.path}{':' if '.jsonl' in self.path.suffixes else ', row '}{self._numbers[row]}"
        )

    def _read_pipe(self) -> Iterator[Batch]:
        """Read a pipe, which gives its bytes only once."""
        with self.path.open("rb") as pipe, tempfile.TemporaryFile() as whole:
            shutil.copyfileobj(pipe, whole)
            whole.seek(0)
            yield from self._read_text(cast("BinaryIO", whole), is_copied=True)

    def _read_text(self, file: BinaryIO, is_copied: bool) -> Iterator[Batch]:
        try:
            with file:
                start = file.read(OPENING)
                separator = _find_separator(self.path, start)
                mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
                file.seek(mark)
                if separator:
                    yield from self._copy_rows(csv_rows.read(self.path, file, separator))
                elif _is_one_json_value(start):
                    yield from self._copy_rows(_read_whole_json(self.path, file))
                else:
                    yield from self._read_lines(
                        file, mark, self._open_copy() if is_copied else None
                    )
        except (EOFError, gzip.BadGzipFile) as error:
            raise DataError(f"{self.path}: its gzip data are damaged or cut off: {error}") from None
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror or error}") from None

    def _read_lines(self, file: BinaryIO, place: int, copy: BinaryIO | None) -> Iterator[Batch]:
        number = 1
        while lines := file.readlines(BLOCK):
            contents = [*map(bytes.strip, lines)]
            records = json_lines.parse_together(contents)
            if records is None:
                yield from _in_batches(self._read_each_line(lines, number, place, copy))
            else:
                self._remember_places(number, place, lines, copy)
                yield records, [*map(hash, contents)]
            number += len(lines)
            place += sum(map(len, lines))

    def _read_each_line(
        self, lines: Sequence[bytes], first: int, end: int, copy: BinaryIO | None
    ) -> Iterator[Row]:
        """Yield the rows of some lines; name a line that cannot be read, or leave it out."""
        for number, line in enumerate(lines, start=first):
            start, end = end, end + len(line)
            if not (content := line.strip()):
                continue
            try:
                record = json_lines.parse(line)
                json_lines.refuse_double_keys(line, record)
            except ValueError as error:
                if not self.allow_damaged:
                    seems = "" if line.endswith(b"\n") else ": the last line seems to be cut off"
                    where = f"{self.path}:{number}"
                    raise DataError(f"{where}: {error}{seems}{self._remedy}") from None
                self.damage.append(f"line {number} {error}")
                continue
            self._remember_places(number, start, [line], copy)
            yield record, hash(content)

    def _copy_rows(self, numbered: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Batch]:
        """Copy rows to a temporary file while they are read."""
        return _in_batches(self._copy_each_row(numbered, self._open_copy()))

    def _copy_each_row(
        self, numbered: Iterable[tuple[int, dict[str, Any]]], copy: BinaryIO
    ) -> Iterator[Row]:
        for number, record in numbered:
            line = json.dumps(record, default=_as_json_value).encode() + b"\n"
            self._remember_places(number, 0, [line], copy)
            yield record, hash(line)

    def _open_copy(self) -> BinaryIO:
        self._copy = copy = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
        weakref.finalize(self, copy.close)
        return copy

    def _remember_places(
        self, number: int, place: int, lines: Sequence[bytes], copy: BinaryIO | None
    ) -> None:
        """Remember where adjacent lines begin, in the file or in its copy."""
        if copy is not None:
            place = self._end
            copy.seek(place)  # a reader may have moved it
            copy.writelines(lines)
        *places, self._end = accumulate(map(len, lines), initial=place)
        self._places.extend(places)
        self._numbers.extend(range(number, number + len(lines)))


def _in_batches(rows: Iterator[Row]) -> Iterator[Batch]:
    """Yield rows in lists; those before one that cannot be read come before the error."""
    batch: list[Row] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                whole, batch = batch, []
                yield _as_batch(whole)
    finally:
        if batch:
            yield _as_batch(batch)


def _as_batch(rows: Sequence[Row]) -> Batch:
    return [record for record, _ in rows], [digest for _, digest in rows]


def _as_json_value(value: Any) -> Any:
    """Return what JSON has for a value of Parquet; bytes and times become objects.

    No reader takes an object for a value of a sample, so that b"1" is no label in any log.
    """
    if isinstance(value, Decimal):
        return plain(value)
    return {type(value).__name__: str(value)}


def _opening_mark(path: Path) -> bytes:
    """Return how a file begins, if that is the mark of Parquet or gzip."""
    if not path.is_file():
        what = "is a folder, and a file was expected" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {what}")
    with path.open("rb") as file:
        start = file.read(len(PARQUET))
    return PARQUET if start == PARQUET else GZIP if start.startswith(GZIP) else b""


def _find_separator(path: Path, start: bytes) -> str | None:
    """Return what separates the fields of a table in text; None if the file is JSON."""
    refuse_other_kinds(path, start)
    text = text_of(start)
    if not text:
        raise DataError(f"{path}: is empty")
    if text[:1] in b"[{":
        return None
    line = text.splitlines()[0].decode("utf-8", errors="replace")
    separator = csv_rows.separator_of(line) or OF_ONE_COLUMN.get(path.suffix)
    if separator is None:
        raise DataError(f"{path}: is not JSON, and no table with commas; it begins with "
                        f"{line[:80]!r}: give JSON Lines, JSON, CSV or Parquet")  # fmt: skip
    return separator


def _is_one_json_value(start: bytes) -> bool:
    """Return whether a file is one array or one object, and not lines of objects."""
    text = text_of(start)
    if text.startswith(b"["):
        return True
    line, _, rest = text.partition(b"\n")
    try:
        json.loads(line)
    except ValueError:
        # A first line longer than the opening, or cut off, is still one line of an object.
        return bool(rest.strip()) and not line.rstrip().endswith(b"}")
    except RecursionError:  # which the reader of lines explains
        return False
    return False


def _read_whole_json(path: Path, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    text = file.read()
    try:
        content = json.loads(text.decode("utf-8"), object_pairs_hook=json_lines.once)
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be read") from None
    except ValueError as error:
        raise DataError(f"{path}: is not JSON: {error}") from None
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        if not isinstance(record, dict):
            raise DataError(f"{path}, row {number}: must be an object, got "
                            f"{type(record).__name__}")  # fmt: skip
        yield number, record
