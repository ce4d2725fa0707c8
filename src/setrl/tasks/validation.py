"""Checks whether the golds of a data file can be used for grading."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.rewards import MathAnswer
from setrl.support.errors import DataError
from setrl.support.files import json_lines, refuse_file_of_others, refuse_own_input, write_text
from setrl.support.files.progress import watched

BATCH = 256  # golds between two signs of progress
IDS = ("id", "unique_id", "problem_id")


@dataclass(frozen=True)
class BadRow:
    """A row whose gold cannot be used for grading.

    Attributes:
        line: Its line in the file, from 1.
        id: Its id in the file; None if it has none.
        gold: The gold of the row; None if the row has no gold.
        reason: What is wrong.
    """

    line: int
    id: str | None
    gold: str | None
    reason: str

    def __str__(self) -> str:
        named = f" {self.id}" if self.id is not None else ""
        shown = "" if self.gold is None else f"  {self.gold[:100]!r}"
        return f"line {self.line}{named}: {self.reason}{shown}"


def validate(path: Path, grader: MathAnswer) -> tuple[list[str], list[BadRow]]:
    """Return the good lines of a JSONL file, unchanged, and its other rows.

    The gold of a row is in the field `grader.gold`. It may be a string, a number, or a list that
    holds one of these.

    Raises:
        DataError: When the file cannot be read or is empty.
    """
    lines = [line.removesuffix(b"\n") for _, _, line in json_lines.raw_lines(path)]
    if not lines:
        raise DataError(f"{path}: is empty")
    rows = [_parsed(line) for line in lines]
    golds = [_gold(row, grader.gold) if isinstance(row, dict) else None for row in rows]
    batches = [golds[start : start + BATCH] for start in range(0, len(golds), BATCH)]
    problems = [
        problem
        for batch in watched(batches, "grade", len(batches), unit="batch")
        for problem in grader.gold_problems(batch)
    ]
    good: list[str] = []
    bad: list[BadRow] = []
    for number, (line, row, gold, problem) in enumerate(
        zip(lines, rows, golds, problems, strict=True), start=1
    ):
        reason = row if isinstance(row, str) else problem
        if isinstance(row, dict) and grader.gold not in row:
            reason = f"no field {grader.gold!r}: it has {', '.join(row)}"
        if reason is None:
            good.append(line.decode())
        else:
            bad.append(BadRow(number, _id(row), None if gold is None else str(gold), reason))
    return good, bad


def _is_part_of(part: Path, whole: Path) -> bool:
    """Whether all lines of a file are lines of another one, as the good rows of an earlier call."""
    if not part.is_file():
        return False
    return set(part.read_bytes().splitlines()) <= set(whole.read_bytes().splitlines())


def _parsed(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or what is wrong with it."""
    try:
        return json_lines.parse(line)
    except ValueError as error:
        return str(error)


def _gold(row: dict[str, Any], field: str) -> object:
    gold = row.get(field)
    if isinstance(gold, list):
        gold = gold[0] if len(gold) == 1 else None
    return gold if isinstance(gold, str | int | float) and not isinstance(gold, bool) else None


def _id(row: dict[str, Any] | str) -> str | None:
    if isinstance(row, str):
        return None
    return next((str(row[name]) for name in IDS if name in row), None)


def validate_file(
    path: Path, grader: MathAnswer, good: Path | None
) -> tuple[list[str], list[BadRow]]:
    """Return the good lines of a file and its other rows, and write the good ones.

    Raises:
        ConfigError: When the file for the good rows is another one's.
    """
    refuse_own_input(good, path)
    refuse_file_of_others(good, lambda there: _is_part_of(there, path), f"part of {path}")
    lines, bad = validate(path, grader)
    grader.close()
    if good is not None:
        write_text(good, "".join(f"{line}\n" for line in lines))
    return lines, bad


def refuse_bad(path: Path, rows: int, bad: list[BadRow]) -> None:
    """Raise an error that counts the bad rows of a file by their reasons.

    Raises:
        DataError: If there are bad rows.
    """
    if bad:
        kinds = Counter(row.reason.partition(":")[0] for row in bad).most_common()
        raise DataError(
            f"{path}: {len(bad)} of {rows} golds cannot be used for grading: "
            f"{', '.join(f'{count} {reason}' for reason, count in kinds)}"
        )
