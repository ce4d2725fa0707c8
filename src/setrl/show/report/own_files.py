"""Evaluation files and logs, read as a report reads a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from setrl.evaluate.loading import is_samples, load_samples
from setrl.evaluate.looks import looks
from setrl.evaluate.metrics import powers_of_two
from setrl.evaluate.problems import on_common
from setrl.evaluate.samples import Evaluation, contradiction
from setrl.evaluate.summary import summarise
from setrl.logs.importers.tools import READERS
from setrl.logs.options import LogOptions
from setrl.logs.run import Arm
from setrl.show.report.run import GIVEN, ReportedRun
from setrl.support.errors import ConfigError
from setrl.support.wording import short_names


def data_of(
    paths: Sequence[Path], folder: Path, options: LogOptions,
    ks: Sequence[int] = (), command: str = "", views: Sequence[str] = (),
) -> tuple[ReportedRun, list[str]]:  # fmt: skip
    """Return what a report of files shows, one arm a file, and how their fields were read.

    Args:
        paths: Evaluation files, logs, or folders of other tools' logs. The first one is what the
            others are compared with, on the problems that all have.
        folder: Where the report goes.
        options: How logs are read.
        ks: Further k at which curves are computed, besides 1, 2, 4, …; problems with fewer graded
            samples than the largest k are left out, and counted.
        command: The command that writes the page again.
        views: The commands that show all samples of the files.

    Raises:
        ConfigError: When a path is something else.
        DataError: When a file cannot be read, or files share no problem.
    """
    loaded = {name: _load(path, options) for name, path in _names(paths).items()}
    reading = [line for one in loaded.values() for line in one.reading]
    given = {name: {0: one} for name, one in loaded.items()}
    shown = on_common({name: list(of.values()) for name, of in given.items()}, max(ks, default=1))
    found = {name: {0: of_arm[0]} for name, of_arm in shown.arms.items()}
    places = {*ks, *powers_of_two(min(of[0].n for of in found.values()))} if ks else ()
    summary = summarise({GIVEN: given}, next(iter(found)), ks=sorted(places))
    split = summary.splits[GIVEN]
    reading += [f"note: {note}" for note in split.notes]
    said = {name: contradiction(one) for name, one in loaded.items()}
    more = [f"{name}: {note}" for name, note in said.items() if note]
    summary.splits[GIVEN] = dataclasses.replace(split, notes=(*split.notes, *more))
    run = ReportedRun(folder).knowing(
        kind="comparison",
        record={"name": " and ".join(found), "command": command, "views": list(views)},
        config={},
        arms={name: Arm(folder, name).knowing(seeds={}) for name in found},
        looks={arm: dataclasses.replace(look, label=arm) for arm, look in looks([*found]).items()},
        evaluations={GIVEN: found},
        summary=summary,
    )
    return run, reading


def _load(path: Path, options: LogOptions) -> Evaluation:
    if not is_samples(path):
        raise ConfigError(
            f"{path} is neither a run of setrl, an evaluation file or a log, nor a folder with a "
            f"log of {', '.join(READERS)}"
        )
    return load_samples(path, options, keep_bare=True)


def _names(paths: Sequence[Path]) -> dict[str, Path]:
    """Return a name for each path: of files that have one name, with their folder."""
    names = dict(zip(short_names(paths), paths, strict=True))
    if len(names) < len(paths):
        raise ConfigError("each file must be given once")
    return names
