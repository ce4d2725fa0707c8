"""JSON Lines: one object per line. Only this module reads and appends such files."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from setrl.support.errors import DataError
from setrl.support.files.atomic import disk_errors, json_text, writing_text
from setrl.support.files.kinds import refuse_other_kinds
from setrl.support.files.progress import watched

Torn = Literal["refuse", "leave_out", "cut"]

ARRAY = re.compile(rb"\s*\[\s*([{]|$)")  # of objects; other lists are refused as lines


SCAN = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
KEY = re.compile(rb'"\s*:')  # the end of a key, or of a string that looks like one
BETWEEN = os.urandom(8).hex()  # a text between lines that are parsed together; no file holds it


class TornError(DataError):
    """The last line of a file was cut off.

    Attributes:
        number: Number of the line, from 1.
    """

    def __init__(self, path: Path, number: int, why: str):
        super().__init__(f"{path}:{number}: {why}")
        self.number = number


class JsonLine(NamedTuple):
    """One line of a file: its number from 1, the byte that it starts at, and its object."""

    number: int
    start: int
    record: dict[str, Any]


def read(path: Path, torn: Torn = "refuse", damage: list[str] | None = None) -> Iterator[JsonLine]:
    """Yield the objects of a file, line by line; empty lines are skipped.

    A process that is killed while it appends leaves half a line at the end of the file: the line
    opens a brace, and no newline ends it. `torn` says what to do with such a line. A last line that
    is complete and lacks only its newline counts as a line: some editors write files this way.

    Args:
        path: The file.
        torn: "refuse" raises an error; "leave_out" ends before the torn line; "cut" also removes it
            from the file and adds a missing newline, so that the next line can be appended.
        damage: Gets a sentence about each line that is not an object, instead of an error.

    Raises:
        DataError: If the file cannot be read, or a line is not an object; the message names file
            and line. A last line that was cut off raises `TornError`.
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
            is_cut = line.startswith(b"{") and not line.endswith(b"\n")
            if damage is not None:
                damage.append(f"line {number} {'was cut off' if is_cut else error}")
                continue
            if is_cut:
                if torn == "leave_out":
                    return
                raise TornError(path, number, str(error)) from None
            raise DataError(f"{path}:{number}: {error}") from None
        yield JsonLine(number, start, record)


def first_record(path: Path) -> dict[str, Any]:
    """Return the object in the first line of a file; empty if none can be read there."""
    with suppress(DataError, OSError):
        return next((line.record for line in read(path, "leave_out")), {})
    return {}


def raw_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, first byte and bytes of each line of a file, without a byte order mark.

    Only a newline ends a line: JSON may hold other separators, such as U+2028, and
    `str.splitlines` would cut there.

    Raises:
        DataError: If the file cannot be read, or is of another kind (compressed, or an array).
    """
    start = 0
    try:
        with path.open("rb") as file:
            lines = watched(file, f"read {path.name}", path.stat().st_size, at=lambda: start)
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    _refuse_no_lines(path, line)
                    whole, line = line, line.removeprefix(codecs.BOM_UTF8)
                    start = len(whole) - len(line)
                yield number, start, line
                start += len(line)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _refuse_no_lines(path: Path, first_line: bytes) -> None:
    refuse_other_kinds(path, first_line)
    if ARRAY.match(first_line.removeprefix(codecs.BOM_UTF8)):
        raise DataError(
            f"{path}: is a JSON array, but must hold one object per line: "
            "`jq -c '.[]'` turns it into lines"
        )


def parse(line: bytes) -> dict[str, Any]:
    """Parse the object of a line.

    Raises:
        ValueError: If the line is not an object; the message says what it is.
    """
    try:  # a third of the time of `json.loads`, which says what is wrong
        text = line.decode("utf-8")
        record, end = SCAN(text, 0)
        if isinstance(record, dict) and text[end:] in ("\n", ""):
            return record
    except (ValueError, RecursionError, StopIteration):
        pass
    try:
        record = json.loads(line.rstrip().decode("utf-8"))
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start + 1} is 0x{error.object[error.start]:02x}"
        raise ValueError(f"is not text in UTF-8: {wrong}; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise ValueError(f"is not JSON: {what} at position {error.colno}") from None
    except RecursionError:
        raise ValueError("is nested too deeply to be read") from None
    if not isinstance(record, dict):
        raise ValueError(f"a line must be an object, got {type(record).__name__}")
    return record


def parse_together(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """Parse the objects of lines at once, in a third of the time of `json.loads` of each.

    Returns:
        The objects; None if a line is not an object, or names a key twice. `parse` and
        `refuse_double_keys` then say which line.
    """
    text = b"[%b]" % (b',"%b",' % BETWEEN.encode()).join(lines)
    try:
        values = json.loads(text.decode("utf-8"))
        records = values[::2]
        # Two halves of an object on two lines would swallow what stands between them.
        if values[1::2] != [BETWEEN] * (len(lines) - 1) or {*map(type, records)} != {dict}:
            return None
        if _may_have_double_keys(text, sum(map(len, records))):
            json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError):
        return None
    return records


def parse_again(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Parse the objects of lines that `parse` has read before, in half of its time."""
    return json.loads(b"[%b]" % b",".join(lines))


def refuse_double_keys(line: bytes, record: dict[str, Any]) -> None:
    """Refuse an object that names a key twice: JSON's readers keep the last value without a word.

    Raises:
        ValueError: Naming the key.
    """
    if _may_have_double_keys(line, len(record)):
        json.loads(line.decode("utf-8"), object_pairs_hook=once)


def _may_have_double_keys(text: bytes, known: int) -> bool:
    """Return whether a text has more keys than are known, or has objects or keys inside others."""
    return text.count(b":") > known < len(KEY.findall(text))


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON whose keys come once.

    Raises:
        ValueError: Naming a key that comes twice.
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has the key {twice!r} twice")
    return record


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file that setrl wrote, whose last line may be cut; [] if the file is missing."""
    return [line.record for line in read(path, "leave_out")] if path.exists() else []


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write a whole file of one JSON object a line, with one object in memory at a time."""
    with writing_text(path) as file:
        for record in records:
            file.write(f"{json_text(record)}\n")


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append one JSON object to a file, in one write."""
    with disk_errors(path), path.open("ab") as file:
        file.write(f"{json_text(record)}\n".encode(errors="backslashreplace"))
