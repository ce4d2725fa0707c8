"""A file of samples → evaluation records, arrays, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from setrl.errors import ConfigError, DataError
from setrl.files import json_lines
from setrl.groups.log import Log, open_log
from setrl.groups.options import LogOptions, Ungraded
from setrl.groups.records import (
    SCHEMA_VERSION,
    TEXTS_KEPT,
    Evaluation,
    evaluation_of,
    is_record,
    load_evaluation,
)
from setrl.groups.strategies import names_of
from setrl.groups.types import Group


@dataclass(frozen=True)
class Loaded:
    """The samples of a file.

    Attributes:
        evaluation: As arrays.
        reading: How its fields were read, and what was noticed; empty for an evaluation file.
        is_log: Whether it is a log, and not an evaluation file.
    """

    evaluation: Evaluation
    reading: tuple[str, ...] = ()
    is_log: bool = False


def load_samples(path: Path, options: LogOptions, tool: str | None = None) -> Loaded:
    """Return the samples of an evaluation file, or of the log of any program.

    Args:
        path: The file, or the folder of another tool's log.
        options: How a log is read.
        tool: The tool that wrote it; by default recognised, where names of files tell.

    Raises:
        ConfigError: When a field that is needed cannot be recognised, or options do not fit.
        DataError: When the file cannot be read.
    """
    if tool is None and path.is_file() and is_evaluation_file(path) and not options.fields.named():
        found = load_evaluation(path, options.allow_damaged)
        return Loaded(_counted_as(options.ungraded, found, path))
    log = open_log(path, options, ["correct"], tool=tool)
    if log.is_evaluation:  # compressed, or an array
        for _ in json_lines.read(path):
            pass
    records = list(log_records(log))
    evaluation = evaluation_of(records, str(path))
    if log.source == "jsonl":  # ids of other tools name a group of one run, prompts a problem
        evaluation = replace(evaluation, ids=tuple(one["id"] for one in records))
    return Loaded(evaluation, (log.head, *(f"note: {note}" for note in log.notes())), is_log=True)


def log_records(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the evaluation records of a log; what is left out is added to its notes.

    Raises:
        DataError: When no sample is scored.
    """
    split = log.path.name.partition(".")[0] if log.source == "jsonl" else log.source
    about = {"split": split, "source": log.source}
    missing = empty = 0
    for group in log:
        record = _record(group, about, log.options.ungraded, log.reader.columns)
        missing += sum(sample.correct is None for sample in group.samples)
        empty += not record["n"]
        if record["n"]:
            yield record
    if empty == len(log):
        raise DataError(f"{log.path}: holds no sample that is scored")
    if missing:
        fate = "count as wrong" if log.options.ungraded == "wrong" else "are left out"
        log.add_note(f"{missing:,} samples without a score (null or NaN) {fate}")
    if empty:
        log.add_note(f"{empty:,} problems have no sample that is scored: left out")


def _record(
    group: Group, about: dict[str, str], ungraded: Ungraded, columns: frozenset[str]
) -> dict[str, Any]:
    as_wrong = ungraded == "wrong"
    kept = [one for one in group.samples if as_wrong or one.correct is not None]
    missing = sum(one.correct is None for one in group.samples)
    places = range(len(kept)) if "strategy" in columns else ()
    unjudged = [i for i in places if kept[i].strategy is None]
    return {
        "schema_version": SCHEMA_VERSION,
        "id": group.id,
        "prompt": group.prompt,
        **about,
        "n": len(kept),
        **({} if group.step is None else {"step": group.step}),
        **({} if group.gold is None else {"gold": group.gold}),
        "correct": [int(bool(one.correct)) for one in kept],
        **({"rewards": [one.reward for one in kept]} if "reward" in columns else {}),
        **(
            {"proxy": [(one.more or {}).get("proxy") for one in kept]} if "proxy" in columns else {}
        ),
        "strategies": names_of(one.strategy for one in kept),
        **({"unjudged": unjudged} if unjudged else {}),
        "answers": [one.answer for one in kept],
        "texts": [one.text for one in kept[:TEXTS_KEPT]] if "text" in columns else [],
        **({"ungraded": missing} if missing else {}),
        **({"ungraded_are": "wrong"} if missing and as_wrong else {}),
    }


def _counted_as(ungraded: Ungraded, found: Evaluation, path: Path) -> Evaluation:
    """Return the samples of an evaluation file, unless it lacks those that must count as wrong."""
    if ungraded == "wrong" and found.ungraded_P is not None and found.ungraded_are == "left-out":
        raise ConfigError(f"{path}: {found.ungraded_P.sum():,} samples without a grade were left "
                          "out at its import: --ungraded wrong needs the log itself")  # fmt: skip
    return found


def is_evaluation_file(path: Path) -> bool:
    """Return whether the first line of a file is an evaluation record."""
    with suppress(DataError, OSError):
        first = next(json_lines.read(path, "leave_out"), None)
        return first is not None and is_record(first.record)
    return False
