"""Logged samples → the same lines with clusters: what `setrl judge` does."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from setrl.errors import ConfigError, DataError
from setrl.groups import Line
from setrl.judges.base import Judge, Judgement
from setrl.judges.logged import LoggedGroup, TextKeys, read_logged
from setrl.runs import files
from setrl.samples import DEGENERATE

BATCH = 64  # groups that a judge is given at once; what is judged is on disk after each batch
JUDGED = "judged"


@dataclass
class Labelled:
    """What a file holds after `label_file`.

    Attributes:
        groups: Groups in all.
        kept: Of these, the ones that an earlier call had written.
        unknown: Groups without clusters, by reason.
        samples: Samples in all.
        degenerate: Samples in no cluster.
        clusters: Clusters of all known groups together.
    """

    groups: int = 0
    kept: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    samples: int = 0
    degenerate: int = 0
    clusters: int = 0

    def summary(self) -> str:
        """What was judged, in two lines."""
        known = self.groups - self.unknown.total()
        mean = f"{self.clusters / known:.2f} clusters a group" if known else "no clusters"
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.unknown.most_common())
        return (
            f"{self.groups} groups ({self.kept} were there already), {mean}, "
            f"{self.degenerate} of {self.samples} samples degenerate\n"
            f"unknown: {self.unknown.total()} groups" + (f" ({reasons})" if reasons else "")
        )


def label_file(
    path: Path,
    output: Path,
    judge: Judge,
    keys: TextKeys | None = None,
    into: str = "cluster",
    show_progress: bool = True,
) -> Labelled:
    """Write the lines of a file with the clusters of their samples, group by group.

    A sample's label goes under `into` where its own line or object is, and under `into` + "s" where
    a line has parallel lists: integers, −1 for degenerate, null for a group that could not be
    judged. Strategies' names, from judges that have them, go under `into` + "_name". Every line
    says under "judged" who judged it, and why not.

    Lines that the output already holds are not asked about again, unknown ones neither: remove the
    output to ask again. Lines of a group stand together, in the order of its first line.

    Raises:
        DataError: If the file is not such a file, or has the key `into` already.
        ConfigError: If the output is the file itself, or holds lines of another file or judge.
    """
    if output.resolve() == path.resolve():
        raise ConfigError(f"the output {output} is the file that is read: give another --output")
    logged = read_logged(path, keys or TextKeys())
    _refuse_overwriting(path, logged, into)
    done = _done(output, logged, judge.name, into)
    output.parent.mkdir(parents=True, exist_ok=True)
    counts = Labelled(groups=len(logged), kept=len(done))
    for judgement, group in zip(done, logged, strict=False):
        _count(counts, judgement, group)
    bar = tqdm(desc="judge", unit="group", total=len(logged), disable=not show_progress)
    with bar:
        bar.update(len(done))
        for start in range(len(done), len(logged), BATCH):
            batch = logged[start : start + BATCH]
            judgements = judge.judge([group.group for group in batch])
            for group, judgement in zip(batch, judgements, strict=True):
                for record in labelled_lines(group, judgement, judge.name, into):
                    files.append_line(output, record)
                _count(counts, judgement, group)
            bar.set_postfix(unknown=counts.unknown.total(), refresh=False)
            bar.update(len(batch))
    return counts


def labelled_lines(
    group: LoggedGroup, judgement: Judgement, judge: str, into: str
) -> Iterator[dict[str, Any]]:
    """The lines of a group with what a judge says of their samples."""
    size = len(group.group.samples)
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


def _count(counts: Labelled, judgement: Judgement, group: LoggedGroup) -> None:
    counts.samples += len(group.group.samples)
    if judgement.clusters_N is None:
        counts.unknown[judgement.reason or "unknown"] += 1
    else:
        counts.degenerate += judgement.clusters_N.count(DEGENERATE)
        counts.clusters += len(set(judgement.clusters_N) - {DEGENERATE})


def _refuse_overwriting(path: Path, logged: Sequence[LoggedGroup], into: str) -> None:
    taken = {into, f"{into}s"}
    for group in logged:
        for record, line in zip(group.records, group.lines, strict=True):
            if taken & {*record, *chain.from_iterable(line.samples)}:
                raise DataError(f"{path} has {into!r} already: name another key with --into")


def _done(output: Path, logged: Sequence[LoggedGroup], judge: str, into: str) -> list[Judgement]:
    """What the output says of the first groups; it is cut after the last whole group."""
    if not output.exists():
        return []
    lines = output.read_bytes().split(b"\n")[:-1]  # what follows the last newline was cut off
    there = files.read_lines(output)[: len(lines)]
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
            judgement = _read_back(found, group, into)
        except (KeyError, TypeError, AttributeError):
            raise _other_lines(output, judge) from None
        if found != [_on_disk(line) for line in labelled_lines(group, judgement, judge, into)]:
            raise _other_lines(output, judge)
        done.append(judgement)
        used += len(found)
    if len(there) < len(lines) or (len(done) == len(logged) and used < len(there)):
        raise _other_lines(output, judge)
    os.truncate(output, sum(len(line) + 1 for line in lines[:used]))
    return done


def _other_lines(output: Path, judge: str) -> ConfigError:
    return ConfigError(
        f"{output} holds other lines than {judge} would write: "
        "give another --output or remove the file"
    )


def _is_from(line: dict[str, Any], source: dict[str, Any]) -> bool:
    """Whether a line of the output was made from this line of the file, by whatever judge."""
    same = _on_disk({key: source[key] for key in source if key not in ("samples", JUDGED)})
    return all(key in line and line[key] == value for key, value in same.items())


def _on_disk(record: dict[str, Any]) -> dict[str, Any]:
    """A record as it comes back from a file."""
    return json.loads(files.json_line(record))


def _read_back(records: Sequence[dict[str, Any]], group: LoggedGroup, into: str) -> Judgement:
    """The judgement that the lines of a group were written with."""
    reason = _judged(records[0]).get(into, {}).get("unknown")
    labels, names = (_column(records, group, key) for key in (into, f"{into}_name"))
    if not reason and len(labels) < len(group.group.samples):
        labels = [None] * len(group.group.samples)  # not written by us: equal to nothing of ours
    strategies = tuple(names) if len(names) == len(group.group.samples) else None
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


def _judged(record: dict[str, Any]) -> dict[str, Any]:
    """What a line says of judges already."""
    judged = record.get(JUDGED)
    return judged if isinstance(judged, dict) else {}
