"""A line with the clusters of its samples: how it is written, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from setrl import files
from setrl.errors import ConfigError, DataError
from setrl.groups.groups import LoggedGroup, LoggedLine
from setrl.judges.base import Judgement

JUDGED = "judged"


def labelled_lines(
    group: LoggedGroup, judgement: Judgement, judge: str, into: str
) -> Iterator[dict[str, Any]]:
    """The lines of a group with a judge's clusters of their samples."""
    size = len(group.texts)
    columns: dict[str, Sequence[Any]] = {into: judgement.clusters_N or (None,) * size}
    if judgement.strategies is not None:
        columns[f"{into}_name"] = judgement.strategies
    start = 0
    for line in group.lines:
        end = start + len(line.samples)
        part = {key: list(values[start:end]) for key, values in columns.items()}
        by = {"judge": judge}
        if judgement.clusters_N is None:
            by["unknown"] = judgement.reason or "unknown"
        yield {**_with_columns(line, part), JUDGED: {**_judged(line.record), into: by}}
        start = end


def read_back(
    output: Path, logged: Sequence[LoggedGroup], judge: str, into: str
) -> list[Judgement]:
    """The judgements of the first groups in a file of labelled lines; none of a group cut off.

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
        found = there[used : used + len(group.lines)]
        if not all(map(_is_from, found, group.lines)):
            raise _other_lines(output, judge)
        if len(found) < len(group.lines):
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
        labels = [None] * len(group.texts)  # not written by us: no line of ours equals it
    strategies = tuple(names) if len(names) == len(group.texts) else None
    return Judgement(None if reason else tuple(labels), strategies, reason)


def _column(records: Sequence[dict[str, Any]], group: LoggedGroup, key: str) -> list[Any]:
    """A value of each sample, from where `_with_columns` puts it; absent ones are left out."""
    found: list[Any] = []
    for record, line in zip(records, group.lines, strict=True):
        if line.is_sample:
            found += [record[key]] if key in record else []
        elif line.record.get("samples") is not line.samples:
            found += record.get(f"{key}s", [])
        else:
            found += [sample[key] for sample in record["samples"] if key in sample]
    return found


def _is_from(record: dict[str, Any], line: LoggedLine) -> bool:
    """Whether a record of the output was made from this line of the file, by any judge."""
    kept = {key: value for key, value in line.record.items() if key not in ("samples", JUDGED)}
    return all(key in record and record[key] == value for key, value in _on_disk(kept).items())


def _with_columns(line: LoggedLine, columns: dict[str, list[Any]]) -> dict[str, Any]:
    """The line with one more value for each of its samples, where a reader looks for it."""
    record = line.record
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
    """The judges that a line names already."""
    judged = record.get(JUDGED)
    return judged if isinstance(judged, dict) else {}
