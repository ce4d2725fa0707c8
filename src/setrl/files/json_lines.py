"""JSON Lines: one object a line. This is the only reader and the only appender of such files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from setrl.errors import DataError
from setrl.files.atomic import json_text, write_text

Torn = Literal["refuse", "leave_out", "cut"]


class JsonLine(NamedTuple):
    """One line of a file: its number from 1, the byte that it starts at, and its object."""

    number: int
    start: int
    record: dict[str, Any]


def read(path: Path, torn: Torn = "refuse") -> Iterator[JsonLine]:
    """The objects of a file, line by line; empty lines are passed over.

    A process that is killed while it appends leaves half a line at the end of the file: it opens a
    brace and no newline ends it. `torn` says what becomes of it. A last line that only lacks its
    newline is a whole line, as some editors write it.

    Args:
        path: The file.
        torn: "refuse" raises an error; "leave_out" ends before it; "cut" also removes it from the
            file, and a whole line without a newline, so that the next one can be appended.

    Raises:
        DataError: If the file cannot be read, or a line is no object; it names file and line.
    """
    for number, start, line in raw_lines(path):
        if torn == "cut" and not line.endswith(b"\n"):
            os.truncate(path, start)
            return
        if not line.strip():
            continue
        try:
            record = parse(line)
        except ValueError as error:
            if torn == "leave_out" and line.startswith(b"{") and not line.endswith(b"\n"):
                return
            raise DataError(f"{path}:{number}: {error}") from None
        yield JsonLine(number, start, record)


def raw_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, first byte and bytes of each line of a file.

    Only a newline ends a line: JSON may hold other separators, such as U+2028, at which
    `str.splitlines` would cut.

    Raises:
        DataError: If the file cannot be read.
    """
    start = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield number, start, line
                start += len(line)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def parse(line: bytes) -> dict[str, Any]:
    """The object of a line.

    Raises:
        ValueError: Saying what the line is instead.
    """
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8: {error}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    if not isinstance(record, dict):
        raise ValueError(f"a line must be an object, got {type(record).__name__}")
    return record


def read_lines(path: Path, torn: Torn = "leave_out") -> list[dict[str, Any]]:
    """The objects of a file of our own, which a killed process may have left torn; [] of none."""
    return [line.record for line in read(path, torn)] if path.exists() else []


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write a whole file of one JSON object a line."""
    write_text(path, "".join(f"{json_text(record)}\n" for record in records))


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Add one JSON object to a file, in one write."""
    with path.open("ab") as file:
        file.write(f"{json_text(record)}\n".encode())
