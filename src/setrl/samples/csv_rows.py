"""A table in text (CSV) as the rows of a log, with numbers where a column holds only numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from setrl.support.files import csv_rows

SNIFFED = 2000  # rows that decide which columns hold numbers
SEPARATORS = ",\t;"


def separator_of(first_line: str) -> str | None:
    """Return what separates the names in a table's first line; None if it is not a table.

    >>> separator_of("id,prompt,correct"), separator_of("no table")
    (',', None)
    """
    most = max(SEPARATORS, key=first_line.count)
    return most if most in first_line else None


def each_row(path: Path, file: BinaryIO, separator: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the values of each row.

    Raises:
        DataError: See `setrl.support.files.csv_rows`.
    """
    rows = csv_rows.read(path, file, separator)
    first = list(islice(rows, SNIFFED))
    names = first[0][1] if first else {}
    numbers = {name for name in names if _are_numbers(row[name] for _, row in first)}
    for line, row in chain(first, rows):
        yield line, {k: _number(v) if k in numbers and v else v for k, v in row.items()}


def _are_numbers(cells: Iterable[str | None]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(not isinstance(_number(cell), str) for cell in known)


def _number(cell: str) -> float | str:
    """Return the number that a cell writes; the cell itself if digits would be lost, as of 007."""
    if cell.removeprefix("-").isdecimal():
        return int(cell) if str(int(cell)) == cell else cell
    try:
        return float(cell)
    except ValueError:
        return cell
