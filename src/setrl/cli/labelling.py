"""Logged samples → the same rows with labels: what `setrl judge` does."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from setrl.judges.base import BackgroundJudge, Judge, Judgement, fields_given
from setrl.logs.log import Log
from setrl.logs.writing import begins_as, refuse_taken, rows_with
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE
from setrl.support import files
from setrl.support.files.progress import progress_bar
from setrl.support.wording import count, plural

AHEAD = 1024  # groups that a judge in the background is asked about beyond the last one written
BATCH = 64  # groups that another judge is given at once
JUDGED = "judged"


@dataclass
class Labelled:
    """What a file holds after `label_log`.

    Attributes:
        groups: Groups in all.
        unknown: Groups without labels, by reason.
        samples: Samples in all.
        without_text: Samples of judged groups whose text is unknown, so that their label is null.
        degenerate: Samples without a strategy.
        strategies: Strategies of all known groups together.
    """

    groups: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    samples: int = 0
    without_text: int = 0
    degenerate: int = 0
    strategies: int = 0

    def add(self, group: Group, judgement: Judgement) -> None:
        """Count a group."""
        self.groups += 1
        self.samples += len(group)
        if judgement.labels_N is None:
            self.unknown[judgement.reason or "unknown"] += 1
        else:
            self.without_text += sum(sample.text is None for sample in group.samples)
            self.degenerate += judgement.labels_N.count(DEGENERATE)
            self.strategies += len({*judgement.labels_N} - {DEGENERATE, None})

    def summary(self) -> str:
        """Return a summary in two lines."""
        judged = self.groups - self.unknown.total()
        mean = f"{self.strategies / judged:.2f} strategies per group" if judged else "no labels"
        reasons = ", ".join(f"{times} {reason}" for reason, times in self.unknown.most_common())
        bare = f", {self.without_text} without text (null)" if self.without_text else ""
        return (
            f"{count(self.groups, 'group')}, {mean}, "
            f"{self.degenerate} of {count(self.samples, 'sample')} degenerate{bare}\n"
            f"unknown: {count(self.unknown.total(), 'group')}"
            + (f" ({reasons})" if reasons else "")
        )


def label_log(
    log: Log, output: Path, judge: Judge, into: str = "strategy", show_progress: bool = True
) -> Labelled:
    """Write the rows of a log with the labels of their samples, as a whole file.

    A sample's label goes under `into` where the sample has its own row or object, and under its
    plural where a row has lists: integers, −1 for degenerate, null for a group that could not be
    judged and for a sample without a text. Strategies' names, from judges that have them, go under
    `into` + "_name", and families under "family" (`into` + "_family" where another key than
    "strategy" is chosen), from judges of two levels. Every row names its judge under "judged",
    and the reason if the group could not be judged.

    A second call writes the file again. A language model is asked only about groups that its cache
    lacks. The rows of a group are written together, at the place of its first row.

    Raises:
        DataError: If the log has the key `into` already.
        ConfigError: If the output is the log itself, or is of another log or judge.
    """
    files.refuse_own_input(output, log.path)
    refuse_taken(log, [into, *([_family_key(into)] if "families" in fields_given(judge) else [])])
    what = f"this log as {judge.name} labels it"
    files.refuse_file_of_others(
        output, lambda _: _is_earlier_output(output, log, judge, into), what
    )
    labelled = Labelled()
    files.write_lines(output, _labelled_rows(log, judge, into, labelled, show_progress))
    return labelled


def _labelled_rows(
    log: Log, judge: Judge, into: str, labelled: Labelled, show_progress: bool
) -> Iterator[dict[str, Any]]:
    """Yield the labelled rows, and count the groups."""
    with progress_bar(show_progress, desc="judge", unit="group", total=len(log)) as bar:
        for place, (group, judgement) in enumerate(in_order(judge, log)):
            judgement = judgement.read(len(group), judge)
            labelled.add(group, judgement)
            bar.set_postfix(unknown=labelled.unknown.total(), refresh=False)
            bar.update()
            yield from _label_group(log, place, group, judgement, {into: {"judge": judge.name}})


def _label_group(
    log: Log, place: int, group: Group, judgement: Judgement, by: dict[str, dict[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a group with a judge's labels of their samples."""
    [into] = by
    columns: dict[str, Sequence[Any]] = {into: judgement.labels_N or (None,) * len(group)}
    if judgement.names_N is not None:
        columns[f"{into}_name"] = judgement.names_N
    if judgement.families_N is not None:
        columns[_family_key(into)] = judgement.families_N
    if judgement.labels_N is None:
        by[into]["unknown"] = judgement.reason or "unknown"
    return rows_with(log, log.records(place), columns, JUDGED, by)


def _family_key(into: str) -> str:
    """Return the key of a sample's family, under which logs are read if it is beside `strategy`."""
    return "family" if into == "strategy" else f"{into}_family"


def _is_earlier_output(output: Path, log: Log, judge: Judge, into: str) -> bool:
    """Return whether a file begins with the first row of a log, labelled by a judge."""
    with suppress(KeyError, TypeError):
        first = begins_as(output, log, (JUDGED, into, plural(into)))
        return bool(first and first[JUDGED][into]["judge"] == judge.name)
    return False


def in_order(judge: Judge, groups: Iterable[Group]) -> Iterator[tuple[Group, Judgement]]:
    """Yield each group with its judgement, in the order of the groups.

    A `BackgroundJudge` always has up to `AHEAD` open groups, so that a slow one does not delay the
    others; another judge gets `BATCH` groups at once.
    """
    waiting = iter(groups)
    if not isinstance(judge, BackgroundJudge):
        while batch := list(islice(waiting, BATCH)):
            yield from zip(batch, judge.judge(batch), strict=True)
        return
    futures: deque[tuple[Group, Future[Judgement]]] = deque()
    try:
        for group in waiting:
            futures.append((group, judge.submit(group)))
            if len(futures) == AHEAD:
                first, future = futures.popleft()
                yield first, future.result()
        while futures:
            first, future = futures.popleft()
            yield first, future.result()
    finally:
        for _, future in futures:
            future.cancel()
