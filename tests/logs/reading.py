"""Evaluation records of a log, and what was noticed, for the tests of its format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.evaluate.samples import Evaluation, evaluation_of
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.recording import Graded, log_records
from setrl.rewards.answers import MathVerifier
from setrl.samples.types import Group, Sample

FIELDS = ("reward", "strategy", "answer", "gold", "group", "correct", "text")


@dataclass(frozen=True)
class Imported:
    """What `setrl import` writes and says."""

    records: list[dict[str, Any]]
    notes: list[str]


def options(**given: Any) -> LogOptions:
    """Options whose fields are named beside the others."""
    named = {key: given.pop(key) for key in FIELDS if key in given}
    return LogOptions(FieldNames(**named), **given)


def read_log(tool: str, path: Path, verifier: Any = None, **given: Any) -> Imported:
    """Read a tool's log as `setrl import` does."""
    verify = {"verify": verifier or MathVerifier()} if given.pop("verify", False) else {}
    log = open_log(path, options(**given, **verify), ["correct"], tool=tool)
    return Imported(list(log_records(log)), log.notes())


def evaluation_from(
    rows: list[tuple[str, list[int], list[str | None], list[str | None]]],
) -> Evaluation:
    """Arrays of problems: prompt, and the outcome, strategy and answer of each sample."""
    groups = []
    for prompt, *columns in rows:
        samples = [
            Sample(correct=bool(right), strategy=strategy, answer=answer)
            for right, strategy, answer in zip(*columns, strict=True)
        ]
        groups.append(Graded(Group(prompt, prompt, tuple(samples)), samples, 0, "left-out", (), ()))
    return evaluation_of(groups, "here", ())
