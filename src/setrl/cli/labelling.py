"""Logged samples → the same lines with clusters: what `setrl judge` does."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from setrl import files
from setrl.cli.labelled_lines import labelled_lines, read_back
from setrl.core.samples import DEGENERATE
from setrl.errors import DataError
from setrl.files.progress import progress_bar
from setrl.groups.groups import Keys, LoggedGroup, read_texts
from setrl.judges.base import BackgroundJudge, Group, Judge, Judgement

AHEAD = 1024  # groups that a judge in the background is asked about beyond the last one written
BATCH = 64  # groups that another judge is given at once; they are on disk after each batch


@dataclass(frozen=True)
class Labelled:
    """What a file holds after `label_file`.

    Attributes:
        groups: Groups in all.
        kept: Of these, the ones that an earlier call had written, and that were not asked again.
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
    def of(
        cls, logged: Sequence[LoggedGroup], judgements: Sequence[Judgement], kept: int
    ) -> Labelled:
        """Count what was judged."""
        known = [one.clusters_N for one in judgements if one.clusters_N is not None]
        reasons = [one.reason or "unknown" for one in judgements if one.clusters_N is None]
        return cls(
            groups=len(logged),
            kept=kept,
            unknown=Counter(reasons),
            samples=sum(len(one.texts) for one in logged),
            degenerate=sum(clusters_N.count(DEGENERATE) for clusters_N in known),
            clusters=sum(len(set(clusters_N) - {DEGENERATE}) for clusters_N in known),
        )

    def summary(self) -> str:
        """A summary in two lines."""
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
    keys: Keys | None = None,
    into: str = "cluster",
    show_progress: bool = True,
) -> Labelled:
    """Write the lines of a file with the clusters of their samples, group by group.

    A sample's label goes under `into` where its own line or object is, and under `into` + "s" where
    a line has parallel lists: integers, −1 for degenerate, null for a group that could not be
    judged. Strategies' names, from judges that have them, go under `into` + "_name". Every line
    names its judge under "judged", and the reason if the group could not be judged.

    A second call resumes: it asks only about groups that the output lacks or that are unknown
    there. The lines of a group are written together, at the place of its first line.

    Raises:
        DataError: If the file is not such a file, or has the key `into` already.
        ConfigError: If the output is the file itself, or holds lines of another file or judge.
    """
    files.refuse_own_input(output, path)
    logged = read_texts(path, keys or Keys())
    _refuse_overwriting(path, logged, into)
    judgements = read_back(output, logged, judge.name, into)
    again = [place for place, one in enumerate(judgements) if one.clusters_N is None]
    kept, written = len(judgements) - len(again), len(judgements)
    output.parent.mkdir(parents=True, exist_ok=True)
    bar = progress_bar(show_progress, desc="judge", unit="group", total=len(logged))
    with bar:
        bar.update(kept)

        def ask(places: Sequence[int]) -> Iterator[Judgement]:
            groups = [Group(logged[place].prompt, logged[place].texts) for place in places]
            return _shown(bar, in_order(judge, groups))

        for place, judgement in zip(again, ask(again), strict=True):
            judgements[place] = judgement
        if output.exists():  # until here it has its old lines, and what was cut off
            _write_anew(output, logged[:written], judgements, judge.name, into)
        rest = range(written, len(logged))
        for place, judgement in zip(rest, ask(rest), strict=True):
            for record in labelled_lines(logged[place], judgement, judge.name, into):
                files.append_line(output, record)
            judgements.append(judgement)
    return Labelled.of(logged, judgements, kept)


def in_order(judge: Judge, groups: Sequence[Group]) -> Iterator[Judgement]:
    """One judgement per group, in the order of the groups, each when those before it are done.

    A `BackgroundJudge` always has up to `AHEAD` open groups, so that a slow one does not delay the
    others; another judge gets `BATCH` groups at once.
    """
    if not isinstance(judge, BackgroundJudge):
        for start in range(0, len(groups), BATCH):
            yield from judge.judge(groups[start : start + BATCH])
        return
    futures: deque[Future[Judgement]] = deque()
    try:
        for group in groups:
            futures.append(judge.submit(group))
            if len(futures) == AHEAD:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
    finally:
        for future in futures:
            future.cancel()


def _write_anew(
    output: Path,
    logged: Sequence[LoggedGroup],
    judgements: Sequence[Judgement],
    judge: str,
    into: str,
) -> None:
    pairs = zip(logged, judgements, strict=True)
    lines = (labelled_lines(group, judgement, judge, into) for group, judgement in pairs)
    files.write_lines(output, list(chain.from_iterable(lines)))


def _shown(bar: tqdm[Any], judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    unknown = 0
    for judgement in judgements:
        unknown += judgement.clusters_N is None
        bar.set_postfix(unknown=unknown, refresh=False)
        bar.update()
        yield judgement


def _refuse_overwriting(path: Path, logged: Sequence[LoggedGroup], into: str) -> None:
    taken = {into, f"{into}s"}
    for line in chain.from_iterable(group.lines for group in logged):
        if taken & {*line.record, *chain.from_iterable(line.samples)}:
            raise DataError(f"{path} has {into!r} already: name another key with --into")
