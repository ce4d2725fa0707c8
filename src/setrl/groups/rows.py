"""The rows of anybody's file: JSON Lines, a JSON array or object, Parquet, with or without gzip."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from setrl.errors import DataError
from setrl.files import json_lines

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
OPENING = 4096  # bytes that say what kind of file it is


class Row(NamedTuple):
    """One object of a file.

    Attributes:
        number: Of its line, or of the row, from 1.
        record: The object.
        digest: Equal for rows that are equal.
    """

    number: int
    record: dict[str, Any]
    digest: int


def read_rows(path: Path, allow_damaged: bool = False) -> Iterator[Row]:
    """The objects of a file, one after another; only a JSON array is held in memory as a whole.

    Args:
        path: The file.
        allow_damaged: Leave out a last line that was cut off.

    Raises:
        DataError: Naming the file, and the line that is no object.
    """
    if not path.is_file():
        what = "is a folder, and a file was expected" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {what}")
    with path.open("rb") as file:
        opening = file.read(4)
    if opening == PARQUET:
        return _parquet_rows(path)
    return _text_rows(path, opening.startswith(GZIP), allow_damaged)


def _parquet_rows(path: Path) -> Iterator[Row]:
    from setrl.groups import parquet

    for number, record in enumerate(parquet.each_row(path), start=1):
        yield Row(number, record, hash(repr(record)))


def _text_rows(path: Path, is_gzip: bool, allow_damaged: bool) -> Iterator[Row]:
    try:
        with cast("BinaryIO", gzip.open(path) if is_gzip else path.open("rb")) as file:
            start = file.read(OPENING)
            _refuse_other_kinds(path, start)
            file.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
            if _is_whole(start):
                yield from _whole(path, file)
            else:
                yield from _lines(path, file, allow_damaged)
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: its gzip data are damaged or cut off: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def _refuse_other_kinds(path: Path, start: bytes) -> None:
    for opening, what in json_lines.OTHER_KINDS.items():
        if start.startswith(opening) and opening != GZIP:
            raise DataError(f"{path}: {what}")
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        raise DataError(f"{path}: is empty")
    if text[:1] not in b"[{":
        line = text.splitlines()[0].decode("utf-8", errors="replace")[:80]
        kind = "a table of text (CSV)" if "," in line or "\t" in line else "not JSON"
        raise DataError(
            f"{path}: seems to be {kind}, it begins with {line!r}: give JSON Lines, a JSON array "
            "or Parquet, as pandas.read_csv(…).to_json(…, orient='records', lines=True) writes it"
        )


def _is_whole(start: bytes) -> bool:
    """Whether a file is one array, or one object over several lines, and not lines of objects."""
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if text.startswith(b"["):
        return True
    line, _, more = text.partition(b"\n")
    try:
        json.loads(line)
    except ValueError:
        # A first line longer than the opening, or cut off, is still one line of an object.
        return bool(more.strip()) and not line.rstrip().endswith(b"}")
    return False


def _whole(path: Path, file: BinaryIO) -> Iterator[Row]:
    try:
        content = json.loads(file.read().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is not JSON: {error}") from None
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        if not isinstance(record, dict):
            raise DataError(f"{path}, row {number}: must be an object, got "
                            f"{type(record).__name__}")  # fmt: skip
        yield Row(number, record, hash(repr(record)))


def _lines(path: Path, file: BinaryIO, allow_damaged: bool) -> Iterator[Row]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json_lines.parse(line)
        except ValueError as error:
            if not line.endswith(b"\n"):
                if allow_damaged:
                    return
                raise json_lines.TornError(
                    path, number, f"{error}: the last line seems to be cut off; --allow-damaged "
                    "leaves it out"
                ) from None  # fmt: skip
            raise DataError(f"{path}:{number}: {error}") from None
        yield Row(number, record, hash(line.strip()))
