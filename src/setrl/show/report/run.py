"""A run of either kind as its report reads it, or files of samples: what is missing is empty."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from setrl.evaluate.estimators import Floats
from setrl.evaluate.loading import is_samples, load_samples
from setrl.evaluate.looks import Look, looks
from setrl.evaluate.metrics import powers_of_two
from setrl.evaluate.outcomes import OverSeeds, over_seeds
from setrl.evaluate.problems import on_common
from setrl.evaluate.samples import Evaluation, contradiction
from setrl.evaluate.summary import SplitSummary, Summary, evaluations_of, reference_of, summarise
from setrl.logs.importers.tools import READERS
from setrl.logs.options import LogOptions
from setrl.logs.run import Arm, Run, Seed
from setrl.support.errors import ConfigError
from setrl.support.wording import short_names

GIVEN = "given"  # instead of a split: the problems of files that the user gave
SPLIT_ORDER = ("shifted", "test", "train")  # the hardest first


@dataclass(frozen=True)
class ReportedRun(Run):
    """A run with its evaluations, summarised: all that a report shows.

    Attributes:
        reference: The arm of language models that the others are compared with.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
    """

    reference: str = "grpo"
    allow_damaged: bool = False

    @cached_property
    def evaluations(self) -> Mapping[str, Mapping[str, Mapping[int, Evaluation]]]:
        """Split → arm → seed → evaluation, of language models."""
        return evaluations_of(self, self.allow_damaged)

    @cached_property
    def summary(self) -> Summary:
        """The evaluation of language models; without splits for a control run."""
        return summarise(self.evaluations, reference_of(self, self.reference))

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """Arm → how it is drawn."""
        return looks(list(self.arms))

    @property
    def views(self) -> list[str]:
        """The commands that show all samples; a report of files was given them."""
        given = self.record.get("views")
        return [shlex.join(["setrl", "view", str(self.path)])] if given is None else list(given)

    @property
    def trained(self) -> dict[str, list[Seed]]:
        """Arm → its training runs, for the arms that have logged training steps."""
        seeds_of = {name: self.seeds(name) for name in self.arms}
        return {arm: seeds for arm, seeds in seeds_of.items() if any(len(s.steps) for s in seeds)}

    @property
    def splits(self) -> list[SplitSummary]:
        """The evaluated splits, the hardest first."""
        splits = self.summary.splits
        return [splits[name] for name in dict.fromkeys([*SPLIT_ORDER, *splits]) if name in splits]

    def seeds(self, arm: str) -> list[Seed]:
        """Return the training runs of an arm, none of an arm that is not there; the base is one."""
        return list(self.arms[arm].seeds.values()) if arm in self.arms else []

    def series(self, arm: str, key: str) -> tuple[Floats, Floats] | None:
        """Return steps (T,) and values (R, T) of a metric, on the steps that all R runs logged."""
        seeds = [seed for seed in self.seeds(arm) if key in seed.metrics]
        if not seeds:
            return None
        steps = seeds[0].steps
        for seed in seeds[1:]:
            steps = np.intersect1d(steps, seed.steps)
        rows = [seed.metrics[key][np.isin(seed.steps, steps)] for seed in seeds]
        return steps, np.stack(rows)

    @property
    def outcomes(self) -> dict[str, dict[int, dict[str, float]]]:
        """Arm → seed → metric → value, of the evaluations of a control run."""
        by_arm = {
            name: {number: seed.outcome for number, seed in arm.seeds.items() if seed.outcome}
            for name, arm in self.arms.items()
        }
        return {arm: seeds for arm, seeds in by_arm.items() if seeds}

    def outcome(self, arm: str, metric: str) -> OverSeeds:
        """Mean and standard error of a control run's metric over seeds."""
        seeds = self.outcomes.get(arm, {}).values()
        return over_seeds([row.get(metric, math.nan) for row in seeds])


def on_split(name: str) -> str:
    """Where an arm was evaluated; empty for files that were given, which have no split.

    >>> on_split("test"), on_split("given")
    (' on the test split', '')
    """
    return "" if name == GIVEN else f" on the {name} split"


def on_problems(name: str) -> str:
    """Name the problems of a split; write nothing if there is only one split."""
    return "" if name == GIVEN else f" on {name} problems"


def titled(what: str, name: str) -> str:
    """Write a title, with the split if there is one."""
    return what if name == GIVEN else f"{what}, {name} split"


def shown_split(name: str) -> str:
    """Return the word before "problems" on the page: files that the user gave have no split."""
    return "logged" if name == GIVEN else name


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
    loaded = {
        name: _load_samples_of_arm(path, options)
        for name, path in _name_of_each_path(paths).items()
    }
    reading = [line for evaluation in loaded.values() for line in evaluation.reading]
    given = {name: {0: evaluation} for name, evaluation in loaded.items()}
    shown = on_common(
        {name: list(by_seed.values()) for name, by_seed in given.items()}, max(ks, default=1)
    )
    evaluations = {name: {0: of_arm[0]} for name, of_arm in shown.arms.items()}
    places = (
        {*ks, *powers_of_two(min(by_seed[0].n for by_seed in evaluations.values()))} if ks else ()
    )
    summary = summarise({GIVEN: given}, next(iter(evaluations)), ks=sorted(places))
    split = summary.splits[GIVEN]
    reading += [f"note: {note}" for note in split.notes]
    contradictions = {name: contradiction(evaluation) for name, evaluation in loaded.items()}
    contradiction_notes = [f"{name}: {note}" for name, note in contradictions.items() if note]
    summary.splits[GIVEN] = dataclasses.replace(split, notes=(*split.notes, *contradiction_notes))
    run = ReportedRun(folder).knowing(
        kind="comparison",
        record={"name": " and ".join(evaluations), "command": command, "views": list(views)},
        config={},
        arms={name: Arm(folder, name).knowing(seeds={}) for name in evaluations},
        looks={
            arm: dataclasses.replace(look, label=arm) for arm, look in looks([*evaluations]).items()
        },
        evaluations={GIVEN: evaluations},
        summary=summary,
    )
    return run, reading


def _load_samples_of_arm(path: Path, options: LogOptions) -> Evaluation:
    if not is_samples(path):
        raise ConfigError(
            f"{path} is neither a run of setrl, an evaluation file or a log, nor a folder with a "
            f"log of {', '.join(READERS)}"
        )
    return load_samples(path, options, keep_bare=True)


def _name_of_each_path(paths: Sequence[Path]) -> dict[str, Path]:
    """Return a name for each path: of files that have one name, with their folder."""
    names = dict(zip(short_names(paths), paths, strict=True))
    if len(names) < len(paths):
        raise ConfigError("each file must be given once")
    return names
