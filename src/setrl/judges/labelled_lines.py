"""A line with what judges say of its samples: how it is written, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from setrl import files
from setrl.errors import ConfigError, DataError
from setrl.judges.base import Judgement
from setrl.logs.groups import Line
from setrl.logs.judged_groups import LoggedGroup

JUDGED = "judged"


def labelled_lines(
    group: LoggedGroup, judgement: Judgement, judge: str, into: str
) -> Iterator[dict[str, Any]]:
    """The lines of a group with what a judge says of their samples."""
    size = len(group.texts)
    columns: dict[str, Sequence[Any]] = {into: judgement.clusters_N or (None,) * size}
    if judgement.strategies is not None:
        columns[f"{into}_name"] = judgement.strategies
    start = 0
    for record, line in zip(group.records, group.lines, strict=True):
        end = start + len(line.samples)
        part = {key: list(values[start:end]) for key, values in columns.items()}
        by = {"judge": judge}
        if judgement.clusters_N is None:
            by["unknown"] = judgement.reason or "unknown"
        yield {**_with_columns(record, line, part), JUDGED: {**_judged(record), into: by}}
        start = end


def read_back(
    output: Path, logged: Sequence[LoggedGroup], judge: str, into: str
) -> list[Judgement]:
    """What a file of labelled lines says of the first groups; of a group that is cut off, nothing.

    Raises:
        ConfigError: If it holds anything that this judge would not have written of these groups.
    """
    try:
        there = files.read_lines(output)
    except DataError:
        raise _other_lines(output, judge) from None
    done: list[Judgement] = []
    used = 0
    for group in logged:
        found = there[used : used + len(group.records)]
        if not all(
            _is_from(line, source) for line, source in zip(found, group.records, strict=False)
        ):
            raise _other_lines(output, judge)
        if len(found) < len(group.records):
            break
        try:
            judgement = _judgement(found, group, into)
        except (KeyError, TypeError, AttributeError):
            raise _other_lines(output, judge) from None
        if found != [_on_disk(line) for line in labelled_lines(group, judgement, judge, into)]:
            raise _other_lines(output, judge)
        done.append(judgement)
        used += len(found)
    if len(done) == len(logged) and used < len(there):
        raise _other_lines(output, judge)
    return done


def _judgement(records: Sequence[dict[str, Any]], group: LoggedGroup, into: str) -> Judgement:
    """The judgement that the lines of a group were written with."""
    reason = _judged(records[0]).get(into, {}).get("unknown")
    labels, names = (_column(records, group, key) for key in (into, f"{into}_name"))
    if not reason and len(labels) < len(group.texts):
        labels = [None] * len(group.texts)  # not written by us: equal to nothing of ours
    strategies = tuple(names) if len(names) == len(group.texts) else None
    return Judgement(None if reason else tuple(labels), strategies, reason)


def _column(records: Sequence[dict[str, Any]], group: LoggedGroup, key: str) -> list[Any]:
    """A value of each sample, from where `_with_columns` puts it; absent ones are left out."""
    found: list[Any] = []
    for record, source, line in zip(records, group.records, group.lines, strict=True):
        if line.is_sample:
            found += [record[key]] if key in record else []
        elif source.get("samples") is not line.samples:
            found += record.get(f"{key}s", [])
        else:
            found += [sample[key] for sample in record["samples"] if key in sample]
    return found


def _is_from(line: dict[str, Any], source: dict[str, Any]) -> bool:
    """Whether a line of the output was made from this line of the file, by any judge."""
    same = _on_disk({key: source[key] for key in source if key not in ("samples", JUDGED)})
    return all(key in line and line[key] == value for key, value in same.items())


def _with_columns(
    record: dict[str, Any], line: Line, columns: dict[str, list[Any]]
) -> dict[str, Any]:
    """The record with one more value for each of its samples, where a reader looks for it."""
    if line.is_sample:
        return {**record, **{key: value for key, [value] in columns.items()}}
    if record.get("samples") is not line.samples:
        return {**record, **{f"{key}s": values for key, values in columns.items()}}
    rows = zip(*columns.values(), strict=True)
    pairs = zip(line.samples, rows, strict=True)
    samples = [{**sample, **dict(zip(columns, row, strict=True))} for sample, row in pairs]
    return {**record, "samples": samples}


def _on_disk(record: dict[str, Any]) -> dict[str, Any]:
    """A record as it comes back from a file."""
    return json.loads(files.json_text(record))


def _other_lines(output: Path, judge: str) -> ConfigError:
    return ConfigError(
        f"{output} holds other lines than {judge} would write: "
        "give another --output or remove the file"
    )


def _judged(record: dict[str, Any]) -> dict[str, Any]:
    """What a line says of judges already."""
    judged = record.get(JUDGED)
    return judged if isinstance(judged, dict) else {}
