"""Tables in text: CSV, with a first line of names. Only this module reads such files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from setrl.support.errors import DataError

SEPARATORS = ",\t;"


def separator_of(first_line: str) -> str | None:
    """Return what separates the names in a table's first line; None if it is not a table.

    >>> separator_of("id,prompt,correct"), separator_of("no table")
    (',', None)
    """
    most = max(SEPARATORS, key=first_line.count)
    return most if most in first_line else None


def read(
    path: Path, file: BinaryIO, delimiter: str = ","
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the line and the cells of each row, by name; an empty cell is None.

    Args:
        path: What the file is called in errors.
        file: Its bytes.
        delimiter: What separates the cells.

    Raises:
        DataError: If the file is not UTF-8, a name is missing or comes twice, or a row has more or
            fewer cells than names.
    """
    lines = io.TextIOWrapper(file, "utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
        if not all(names) or len(set(names)) < len(names):
            raise DataError(f"{path}:1: must name each column, with different names, got {names}")
        for cells in filter(None, reader):
            if len(cells) != len(names):
                where = f"{path}:{reader.line_num}"
                raise DataError(f"{where}: has {len(cells)} cells, but line 1 names "
                                f"{len(names)}")  # fmt: skip
            yield reader.line_num, {n: cell or None for n, cell in zip(names, cells, strict=True)}
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8: {error.reason} at byte {error.start}") from None
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: is not CSV: {error}") from None
    finally:
        lines.detach()
