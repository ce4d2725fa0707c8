"""The columns of samples: what each is called, how one value is read, and which are labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from setrl.samples.values import read_answer, read_label, read_number, read_outcome


class Column(NamedTuple):
    """A column with one value for each sample.

    Attributes:
        key: What the value is called in the record of a sample.
        read: How it is read.
        is_label: Whether the numbers of the column are only names.
    """

    key: str
    read: Callable[[Any], Any]
    is_label: bool = False


COLUMNS = {
    "rewards": Column("reward", read_number),
    "correct": Column("correct", read_outcome),
    "strategies": Column("strategy", read_label, is_label=True),
    "answers": Column("answer", read_answer, is_label=True),
    "proxy": Column("proxy", read_number),
    "second": Column("second", read_number),
    "families": Column("family", read_label, is_label=True),
}
"""Column, a keyword of `set_advantages` → what it holds."""

READER_OF = {name: column.read for name, column in COLUMNS.items()}
KEYS = {name: column.key for name, column in COLUMNS.items()}
LABELS = tuple(name for name, column in COLUMNS.items() if column.is_label)
VECTORS = tuple(COLUMNS)
FIELDS = (*VECTORS, "pairs")  # what a method can read about samples
ARGUMENTS = dict.fromkeys((*(name for name in FIELDS if name != "rewards"), "mask", "abstain"))
"""What may be said of samples besides their rewards."""
FURTHER = tuple(name for name in FIELDS if name not in ("rewards", "correct", "strategies"))
