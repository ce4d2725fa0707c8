"""The columns of samples: what each is called, how one value is read, and which are labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setrl.samples.values import read_answer, read_label, read_number, read_outcome

READER_OF: dict[str, Callable[[Any], Any]] = {
    "rewards": read_number,
    "correct": read_outcome,
    "strategies": read_label,
    "answers": read_answer,
    "proxy": read_number,
    "second": read_number,
    "families": read_label,
}
"""Column → how one value of it is read."""

LABELS = ("strategies", "answers", "families")  # columns whose numbers are only names
VECTORS = tuple(READER_OF)  # columns with one value for each sample
FIELDS = (*VECTORS, "pairs")  # what a method can read about samples
FURTHER = tuple(name for name in FIELDS if name not in ("rewards", "correct", "strategies"))
KEYS = {
    "rewards": "reward",
    "correct": "correct",
    "strategies": "strategy",
    "answers": "answer",
    "proxy": "proxy",
    "second": "second",
    "families": "family",
}
"""Column → what one value of it is called in the record of a sample."""
