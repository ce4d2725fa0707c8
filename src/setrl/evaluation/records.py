"""Evaluation files: one JSON object a problem, with what was read from each of its samples.

    {"schema_version": 1, "prompt": "y=2x^2+3x+7, x!=4:", "kind": "quadratic", "split": "test",
     "n": 256, "seed": 0, "temperature": 1.0, "correct": [1, 0, …], "strategies": ["x=2", null, …],
     "answers": ["(2, 21)", null, …], "texts": [the first few samples]}

`correct`, `strategies` and `answers` have n entries; null is "cannot be read", never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.errors import DataError
from setrl.evaluation.estimators import LabelCounts, count_labels

SCHEMA_VERSION = 1
PER_SAMPLE = ("correct", "strategies", "answers")


@dataclass(frozen=True)
class Evaluation:
    """The samples of a model on the problems of a split, as arrays.

    Attributes:
        prompts: P prompts.
        correct_PN: Whether each sample is correct.
        strategies_PN: Integer label of each sample's strategy; −1 where none can be read.
        answers_PN: Integer label of each sample's final answer; −1 where there is none.
        temperature: At which the samples were drawn; NaN where the file does not say.
    """

    prompts: tuple[str, ...]
    correct_PN: NDArray[np.bool_]
    strategies_PN: NDArray[np.int64]
    answers_PN: NDArray[np.int64]
    temperature: float

    @property
    def n(self) -> int:
        """Samples a problem."""
        return self.correct_PN.shape[1]

    @cached_property
    def correct_count_P(self) -> NDArray[np.int64]:
        """Correct samples of each problem."""
        return self.correct_PN.sum(axis=1)

    @cached_property
    def strategy_counts(self) -> LabelCounts:
        """Samples, and correct samples, of each strategy."""
        return count_labels(self.strategies_PN, self.correct_PN)

    @cached_property
    def answer_counts(self) -> LabelCounts:
        """Samples, and correct samples, that give each answer."""
        return count_labels(self.answers_PN, self.correct_PN)

    def choose(self, rows: list[int]) -> Evaluation:
        """The same of some problems, in this order."""
        return Evaluation(
            prompts=tuple(self.prompts[row] for row in rows),
            correct_PN=self.correct_PN[rows],
            strategies_PN=self.strategies_PN[rows],
            answers_PN=self.answers_PN[rows],
            temperature=self.temperature,
        )


def read_records(path: Path) -> list[dict[str, Any]]:
    """The complete lines of an evaluation file; a last line that was cut off is left out.

    Raises:
        DataError: When a complete line is not an evaluation record.
    """
    *lines, _cut_off = path.read_text(encoding="utf-8").split("\n")
    return [_record(line, f"{path}: line {number}") for number, line in enumerate(lines, start=1)]


def load_evaluation(path: Path) -> Evaluation:
    """Read an evaluation file into arrays.

    Raises:
        DataError: When the file is empty, a line is not a record, or lines differ in n.
    """
    records = read_records(path)
    if not records:
        raise DataError(f"{path}: holds no complete line")
    sizes = {record["n"] for record in records}
    if len(sizes) > 1:
        raise DataError(f"{path}: every problem must have the same n, got {sorted(sizes)}")
    return Evaluation(
        prompts=tuple(record["prompt"] for record in records),
        correct_PN=np.array([record["correct"] for record in records], dtype=bool),
        strategies_PN=_labels(record["strategies"] for record in records),
        answers_PN=_labels(record["answers"] for record in records),
        temperature=float(records[0].get("temperature", "nan")),
    )


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: is not JSON: {error.msg}") from error
    if not isinstance(record, dict) or record.get("schema_version") != SCHEMA_VERSION:
        raise DataError(f"{where}: must be an object with schema_version {SCHEMA_VERSION}")
    for key in ("prompt", "split", "n", *PER_SAMPLE):
        if key not in record:
            raise DataError(f"{where}: has no {key!r}")
    for key in PER_SAMPLE:
        if len(record[key]) != record["n"]:
            raise DataError(f"{where}: {key!r} must have n = {record['n']} entries, "
                              f"got {len(record[key])}")  # fmt: skip
    return record


def _labels(names: Iterable[list[str | None]]) -> NDArray[np.int64]:
    """Integer labels of names, equal for equal names in all problems; −1 for None."""
    label_of: dict[str | None, int] = {None: -1}
    return np.array(
        [[label_of.setdefault(name, len(label_of) - 1) for name in row] for row in names],
        dtype=np.int64,
    )
