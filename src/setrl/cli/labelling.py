"""Logged samples → the same rows with clusters: what `setrl judge` does."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from setrl.cli.labelled_rows import Done, labelled_rows, read_back
from setrl.judges.base import BackgroundJudge, Judge, Judgement
from setrl.samples.log import Log
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE
from setrl.samples.writing import refuse_taken
from setrl.support import files
from setrl.support.files.progress import progress_bar
from setrl.support.wording import count

AHEAD = 1024  # groups that a judge in the background is asked about beyond the last one written
BATCH = 64  # groups that another judge is given at once; they are on disk after each batch


@dataclass(frozen=True)
class Labelled:
    """What a file holds after `label_log`.

    Attributes:
        groups: Groups in all.
        kept: The groups that an earlier call had written, and that were not asked again.
        unknown: Groups without clusters, by reason.
        samples: Samples in all.
        degenerate: Samples in no cluster.
        clusters: Clusters of all known groups together.
    """

    groups: int
    kept: int
    unknown: Counter[str]
    samples: int
    degenerate: int
    clusters: int

    @classmethod
    def of(cls, done: Sequence[Done], kept: int) -> Labelled:
        """Count what was judged."""
        judgements = [one.judgement for one in done]
        known = [one.labels_N for one in judgements if one.labels_N is not None]
        reasons = [one.reason or "unknown" for one in judgements if one.labels_N is None]
        return cls(
            groups=len(done),
            kept=kept,
            unknown=Counter(reasons),
            samples=sum(one.samples for one in done),
            degenerate=sum(labels_N.count(DEGENERATE) for labels_N in known),
            clusters=sum(len(set(labels_N) - {DEGENERATE}) for labels_N in known),
        )

    def summary(self) -> str:
        """Return a summary in two lines."""
        known = self.groups - self.unknown.total()
        mean = f"{self.clusters / known:.2f} clusters per group" if known else "no clusters"
        reasons = ", ".join(f"{times} {reason}" for reason, times in self.unknown.most_common())
        return (
            f"{count(self.groups, 'group')} ({self.kept} were there already), {mean}, "
            f"{self.degenerate} of {count(self.samples, 'sample')} degenerate\n"
            f"unknown: {count(self.unknown.total(), 'group')}"
            + (f" ({reasons})" if reasons else "")
        )


def label_log(
    log: Log, output: Path, judge: Judge, into: str = "cluster", show_progress: bool = True
) -> Labelled:
    """Write the rows of a log with the clusters of their samples, group by group.

    A sample's label goes under `into` where the sample has a row or an object of its own, and under
    `into` + "s" where a row has lists: integers, −1 for degenerate, null for a group that could not
    be judged. Strategies' names, from judges that have them, go under `into` + "_name". Every row
    names its judge under "judged", and the reason if the group could not be judged.

    A second call resumes: it asks only about groups that the output lacks or that are unknown
    there. The rows of a group are written together, at the place of its first row.

    Raises:
        DataError: If the log has the key `into` already.
        ConfigError: If the output is the log itself, or holds rows of another log or judge.
    """
    files.refuse_own_input(output, log.path)
    refuse_taken(log, [into])
    done = read_back(output, log, judge.name, into)
    again = [place for place, one in enumerate(done) if one.judgement.labels_N is None]
    kept, written = len(done) - len(again), len(done)
    output.parent.mkdir(parents=True, exist_ok=True)
    bar = progress_bar(show_progress, desc="judge", unit="group", total=len(log))
    with bar:
        bar.update(kept)

        def ask(places: Iterable[int]) -> Iterator[tuple[Group, Judgement]]:
            return _shown(bar, in_order(judge, (log[place] for place in places)))

        for place, (group, judgement) in zip(again, ask(again), strict=True):
            done[place] = Done(len(group), judgement)
        if output.exists():  # until here it has its old rows, and what was cut off
            files.write_lines(output, _rewritten(log, done, judge.name, into))
        rest = range(written, len(log))
        for place, (group, judgement) in zip(rest, ask(rest), strict=True):
            for row in labelled_rows(log, place, group, judgement, judge.name, into):
                files.append_line(output, row)
            done.append(Done(len(group), judgement))
    return Labelled.of(done, kept)


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


def _rewritten(log: Log, done: Sequence[Done], judge: str, into: str) -> Iterator[dict[str, Any]]:
    for place, one in enumerate(done):
        yield from labelled_rows(log, place, log[place], one.judgement, judge, into)


def _shown(
    bar: tqdm[Any], judged: Iterable[tuple[Group, Judgement]]
) -> Iterator[tuple[Group, Judgement]]:
    unknown = 0
    for group, judgement in judged:
        unknown += judgement.labels_N is None
        bar.set_postfix(unknown=unknown, refresh=False)
        bar.update()
        yield group, judgement
