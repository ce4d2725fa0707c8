"""The groups of a log with the samples that figures count, and the only writer of their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from setrl.logs.log import Log
from setrl.logs.options import Fate
from setrl.logs.paths import Record
from setrl.logs.records import TEXTS_KEPT, record_of
from setrl.samples.types import Group, Sample
from setrl.support.errors import DataError
from setrl.support.wording import count


class Graded(NamedTuple):
    """A group, and the samples of it that figures count.

    Attributes:
        group: The group.
        samples: The samples that have a grade; with `--ungraded wrong` all.
        ungraded: How many samples of the problem have no grade.
        are: Whether these are left out, or count as wrong.
        as_wrong: The places of those that count as wrong.
        texts: The texts of the first samples, where they are known.
    """

    group: Group
    samples: Sequence[Sample]
    ungraded: int
    are: Fate
    as_wrong: Sequence[int]
    texts: Sequence[str]


def graded_groups(log: Log, keep_bare: bool = False) -> Iterator[Graded]:
    """Yield the groups of a log; what is left out is added to its notes.

    Args:
        log: The log.
        keep_bare: Also yield problems without a graded sample.

    Raises:
        DataError: When no sample is scored.
    """
    missing = empty = 0
    for group in log:
        graded = _grade_group(group, log)
        missing += group.column("correct").count(None)
        empty += not graded.samples
        if graded.samples or keep_bare:
            yield graded
    if empty == len(log):
        raise DataError(f"{log.path}: holds no sample that is scored")
    if missing:
        fate = "counted as wrong" if log.options.ungraded == "wrong" else "left out"
        log.noticed.append(f"{fate}: {count(missing, 'sample')} without a score (null or NaN)")
    if empty and not keep_bare:
        log.noticed.append(f"left out: {count(empty, 'problem')} without a scored sample")


def _grade_group(group: Group, log: Log) -> Graded:
    facts = group.more  # by the command that made an evaluation file of a log
    are: Fate = facts.get(
        "ungraded_are", "left-out" if "ungraded" in facts else log.options.ungraded
    )
    correct = group.column("correct")
    places = [i for i, verdict in enumerate(correct) if verdict is None] if None in correct else []
    is_whole = not places or are == "wrong"
    kept = group.samples if is_whole else [s for s in group.samples if s.correct is not None]
    as_wrong = [*facts.get("as_wrong", ()), *(places if are == "wrong" else ())]
    ungraded = facts.get("ungraded", 0) + len(places)
    texts = group.column("text") if is_whole else [sample.text for sample in kept]
    return Graded(group, kept, ungraded, are, as_wrong, _first_texts(texts))


def _first_texts(texts: Sequence[str | None]) -> list[str]:
    """Return the texts of the first samples, up to one that is unknown."""
    return [*takewhile(lambda text: text is not None, texts[:TEXTS_KEPT])]  # type: ignore[list-item]


def log_records(log: Log) -> Iterator[Record]:
    """Yield the records that an evaluation file holds of a log.

    Raises:
        DataError: When no sample is scored.
    """
    split = log.path.name.partition(".")[0] if log.source == "jsonl" else log.source
    ungraded = samples = 0
    for group in log:
        columns = log.reader.columns
        optional = {
            "step": group.step,
            "gold": group.gold,
            "task": group.more.get("task"),
            "rewards": group.column("reward") if "reward" in columns else None,
            "proxy": group.column("proxy") if "proxy" in columns else None,
            "ungraded_are": "wrong" if log.options.ungraded == "wrong" else None,
        }
        given = {key: value for key, value in optional.items() if value is not None}
        ungraded += group.column("correct").count(None)
        samples += len(group)
        yield record(
            group.id, group.prompt, group.samples, _first_texts(group.column("text")),
            split=split, source=log.source, **given,
        )  # fmt: skip
    if ungraded == samples:
        raise DataError(f"{log.path}: holds no sample that is scored")
    if ungraded:
        log.noticed.append(
            f"kept as null: {count(ungraded, 'sample')} without a score (null or NaN)"
        )


def record(
    name: str, prompt: str, samples: Sequence[Sample], texts: Sequence[str], **more: Any
) -> Record:
    """Return the record of an evaluation's problem, with its first few texts.

    Args:
        name: The id of the problem.
        prompt: What the model was given.
        samples: All samples.
        texts: The texts of the first samples.
        more: Further keys.
    """
    keys = ("correct", "strategy", "answer")
    columns: dict[str, Any] = {key: [sample.value(key) for sample in samples] for key in keys}
    return record_of(name, prompt, columns | {"text": list(texts[:TEXTS_KEPT])}, **more)
