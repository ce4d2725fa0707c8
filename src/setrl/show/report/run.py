"""A run of either kind as its report reads it: what is missing is left empty."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from setrl.evaluate.estimators import Floats
from setrl.evaluate.looks import Look, looks
from setrl.evaluate.outcomes import OverSeeds, over_seeds
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.summary import (
    SplitSummary,
    Summary,
    evaluations_of,
    reference_of,
    summarise,
)
from setrl.logs.run import Run, Seed

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
