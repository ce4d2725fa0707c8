"""The groups of a log → evaluation records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setrl.groups.log import Log
from setrl.groups.options import Ungraded
from setrl.groups.records import SCHEMA_VERSION, TEXTS_KEPT
from setrl.groups.strategies import names_of
from setrl.groups.types import Group
from setrl.support.errors import DataError
from setrl.support.wording import count


def log_records(log: Log, keep_bare: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the evaluation records of a log; what is left out is added to its notes.

    Args:
        log: The log.
        keep_bare: Also yield problems without a graded sample, whose records have n = 0: no
            evaluation file may hold them.

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
        if record["n"] or keep_bare:
            yield record
    if empty == len(log):
        raise DataError(f"{log.path}: holds no sample that is scored")
    if missing:
        fate = "counted as wrong" if log.options.ungraded == "wrong" else "left out"
        log.add_note(f"{fate}: {count(missing, 'sample')} without a score (null or NaN)")
    if empty and not keep_bare:
        log.add_note(f"left out: {count(empty, 'problem')} without a scored sample")


def _record(
    group: Group, about: dict[str, str], ungraded: Ungraded, columns: frozenset[str]
) -> dict[str, Any]:
    as_wrong = ungraded == "wrong"
    kept = [one for one in group.samples if as_wrong or one.correct is not None]
    missing = sum(one.correct is None for one in group.samples)
    as_wrong_at = [i for i, one in enumerate(kept) if one.correct is None]
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
        **({"ungraded_are": "wrong", "as_wrong": as_wrong_at} if missing and as_wrong else {}),
    }
