"""Rows of text as columns side by side."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """The rows, the first of which is the head; numbers to the right.

    >>> print(table([["split", "problems"], ["train", "9"]]))
    split  problems
    train         9

    Args:
        rows: Cells, equally many a row.
        left: The columns that hold text; −1 is the last one.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    texts = {place % len(widths) for place in left}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
