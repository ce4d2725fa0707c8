"""Evaluation files: one JSON object a problem, with what was read from each of its samples.

    {"schema_version": 2, "prompt": "y=2x^2+3x+7, x!=4:", "kind": "quadratic", "split": "test",
     "n": 256, "seed": 0, "temperature": 1.0, "correct": [1, 0, …], "strategies": ["x=2", -1, …],
     "answers": ["(2, 21)", null, …], "texts": [the first few samples]}

`correct`, `strategies` and `answers` have n entries; problems may differ in n. A strategy is a
name, −1 for a sample in no strategy, or null where it is unknown; an answer that cannot be read is
null, never a value. A sample without a grade has null in `correct`: it is left out and counted,
or counts as wrong if `ungraded_are` is "wrong". There may be two further lists: graded `rewards`,
and `proxy`, the scores of a selector that cannot see the rewards. Each value is read as in any log
(`setrl.samples.values`).

Version 1, of setrl up to 0.7, has no null in `correct`: `ungraded` is how many samples of the
problem were left out, and `as_wrong` has the places of those that count as wrong. There −1 for all
samples of a file also means that nobody read strategies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from setrl.support.errors import DataError
from setrl.support.files import json_lines

Record = dict[str, Any]

SCHEMA_VERSION = 2
EARLIER = (1,)  # versions that are read, too
TEXTS_KEPT = 8  # samples of a problem whose text is in its record
PER_SAMPLE = ("correct", "strategies", "answers")
GRADED = ("rewards", "proxy")
ONE_VALUE = (
    ("prompt", str, "text"),
    ("n", int, "a whole number"),
    ("temperature", int | float | None, "a number or null"),
    ("ungraded", int, "a whole number"),
    ("ungraded_are", str, "text"),
)


def read_records(path: Path) -> list[Record]:
    """Return the records of an evaluation file, without a last line that was cut off.

    Raises:
        DataError: When the file cannot be read, or a whole line is not an evaluation record.
    """
    lines = json_lines.read(path, "leave_out")
    return [checked(record, f"{path}:{number}") for number, _, record in lines]


def problem_of(record: Mapping[str, Any]) -> str:
    """Return what names the problem of a record: its id, or its prompt if it has no id."""
    return str(record["prompt"] if record.get("id") is None else record["id"])


def is_evaluation_file(path: Path) -> bool:
    """Return whether the first line of a file is an evaluation record."""
    with suppress(DataError, OSError):
        first = next(json_lines.read(path, "leave_out"), None)
        return first is not None and is_record(first.record)
    return False


def checked(record: Record, where: str) -> Record:
    """Return a record that has the form of an evaluation file.

    Raises:
        DataError: Naming the key that is wrong, and the line.
    """
    if record.get("schema_version") not in (*EARLIER, SCHEMA_VERSION):
        raise DataError(f"{where}: must be an object with schema_version {SCHEMA_VERSION}")
    for key in ("prompt", "split", "n", *PER_SAMPLE):
        if key not in record:
            raise DataError(f"{where}: has no {key!r}")
    for key, kind, what in ONE_VALUE:
        if key in record and not isinstance(record[key], kind):
            raise DataError(f"{where}: {key!r} must be {what}, got {json.dumps(record[key])}")
    if record["n"] < 1:
        raise DataError(f"{where}: n must be 1 or more, got {record['n']}")
    for key in (*PER_SAMPLE, *(key for key in GRADED if key in record)):
        _check_length(key, record[key], record["n"], where)
    if len(record.get("texts") or ()) > record["n"]:
        raise DataError(f"{where}: 'texts' must have at most n = {record['n']} entries, got "
                        f"{len(record['texts'])}")  # fmt: skip
    return record


def _check_length(key: str, values: Any, n: int, where: str) -> None:
    if not isinstance(values, list) or len(values) != n:
        found = len(values) if isinstance(values, list) else json.dumps(values)
        raise DataError(f"{where}: {key!r} must have n = {n} entries, got {found}")


def is_record(record: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of an evaluation file, of any version."""
    return {"schema_version", "prompt", "n"} <= record.keys()
