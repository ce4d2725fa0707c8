"""The rows of a group with its clusters: how they are written, and how they are read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from setrl.judges.base import Judgement
from setrl.samples.log import Log
from setrl.samples.types import Group
from setrl.samples.writing import rows_with
from setrl.support import files
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import json_lines

JUDGED = "judged"


class Done(NamedTuple):
    """A group that was judged: how many samples it has, and the judgement."""

    samples: int
    judgement: Judgement


def labelled_rows(
    log: Log, place: int, group: Group, judgement: Judgement, judge: str, into: str
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a group with a judge's clusters of their samples."""
    columns: dict[str, Sequence[Any]] = {into: judgement.labels_N or (None,) * len(group)}
    if judgement.names_N is not None:
        columns[f"{into}_name"] = judgement.names_N
    by = {"judge": judge}
    if judgement.labels_N is None:
        by["unknown"] = judgement.reason or "unknown"
    return rows_with(log, place, group, columns, JUDGED, {into: by})


def read_back(output: Path, log: Log, judge: str, into: str) -> list[Done]:
    """Return the judgements of the first groups in a file of labelled rows; none of a cut group.

    Raises:
        ConfigError: If it holds anything that this judge would not have written of these groups.
    """
    if not output.exists():
        return []
    try:
        return _read_back(output, log, judge, into)
    except (DataError, KeyError, TypeError, AttributeError, IndexError):
        other = _by_another(output, judge, into)
        raise ConfigError(
            f"{output} holds other lines than {judge} would write{other}: "
            "give another --output or remove the file"
        ) from None


def _by_another(output: Path, judge: str, into: str) -> str:
    """Return which other judge labelled a file, as the end of a clause; empty if none is named."""
    try:
        other = next(json_lines.read(output, "leave_out")).record[JUDGED][into]["judge"]
    except (DataError, KeyError, TypeError, StopIteration):
        return ""
    return "" if other == judge else f" (it was labelled by {other})"


def _read_back(output: Path, log: Log, judge: str, into: str) -> list[Done]:
    there = (line.record for line in json_lines.read(output, "leave_out"))
    done: list[Done] = []
    for place, group in enumerate(log):
        found = list(islice(there, len(group.rows)))
        for record, row in zip(found, group.rows, strict=False):
            _refuse_other(log, record, row)
        if len(found) < len(group.rows):
            return done
        judgement = _judgement(log, found, group, into)
        rows = labelled_rows(log, place, group, judgement, judge, into)
        if found != [_on_disk(row) for row in rows]:
            raise DataError(place)
        done.append(Done(len(group), judgement))
    if next(there, None) is not None:
        raise DataError("more lines")
    return done


def _refuse_other(log: Log, record: dict[str, Any], row: int) -> None:
    """Refuse a record that was not made from a row of the log, by any judge."""
    apart = {JUDGED, (log.reader.list_path or "").partition(".")[0]}
    kept = {k: v for k, v in _on_disk(log.rows.record(row)).items() if k not in apart}
    if any(key not in record or record[key] != value for key, value in kept.items()):
        raise DataError(row)


def _judgement(log: Log, records: Sequence[dict[str, Any]], group: Group, into: str) -> Judgement:
    """Return the judgement that the rows of a group were written with."""
    reason = records[0][JUDGED][into].get("unknown")
    labels, names = (_column(log, records, key) for key in (into, f"{into}_name"))
    strategies = tuple(names) if len(names) == len(group) else None
    return Judgement(None if reason else tuple(labels), strategies, reason)


def _column(log: Log, records: Sequence[dict[str, Any]], key: str) -> list[Any]:
    """Return a value of each sample, from where the writer puts it; absent ones are left out."""
    found: list[Any] = []
    path = log.reader.list_path
    for record in records:
        for item in log.reader.items(record):
            sample = item if path is None else item[path]
            if log.reader.size(item) is None:
                found += [sample[key]] if key in sample else []
            else:
                found += sample.get(f"{key}s", [])
    return found


def _on_disk(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as it comes back from a file."""
    return json.loads(files.json_text(record))
