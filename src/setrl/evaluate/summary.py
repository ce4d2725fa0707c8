"""Evaluation files of a run → its summary: every metric and every difference with an interval.

Metrics are named as in the glossary (`setrl.evaluate.metrics`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl.evaluate.bands import Band, FirstLoss, first_loss, pass_band
from setrl.evaluate.by_task import ByTask, differences_by_task, estimates_by_task
from setrl.evaluate.estimators import Floats
from setrl.evaluate.intervals import (
    Difference,
    Estimate,
    IntervalConfig,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.metrics import bounds_of, paired_values, seed_values
from setrl.evaluate.problems import Ungraded, comparable
from setrl.evaluate.samples import Evaluation
from setrl.logs.run import BASE, Run, base_as_cold, is_base
from setrl.support import files
from setrl.support.errors import DataError

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ArmSummary:
    """One arm on one split.

    Attributes:
        arm: Its name.
        seeds: Its training seeds; none for the base.
        n: Samples of a problem; where problems differ, of the one with the fewest.
        most: Samples of the problem with the most.
        problems: Problems that every seed of every arm was evaluated on.
        temperature: The temperature of sampling.
        metrics: Metric → mean over problems and seeds, with its interval.
        band: pass@k at every k, with a band that holds for all k at once.
        ungraded: The samples of logs that have no grade, also of problems that are left out because
            of them; None if all have a grade.
        by_task: The metrics of each task, and their macro average; None if the file has one task.
    """

    arm: str
    seeds: tuple[int, ...]
    n: int
    problems: int
    temperature: float
    most: int
    metrics: dict[str, Estimate]
    band: Band | None = None
    ungraded: Ungraded | None = None
    by_task: ByTask[Estimate] | None = None


@dataclass(frozen=True)
class ArmDifference:
    """An arm minus another on the problems that all arms were evaluated on.

    Attributes:
        arm, against: Their names.
        metrics: Metric → mean difference over problems, with its interval.
        band: The difference of pass@k at every k, with a band that holds for all k at once.
        first_loss: Where the first k may lie at which the arm has a lower pass@k than the other.
        by_task: The differences of each task, and their macro average; None if there is one task.
    """

    arm: str
    against: str
    metrics: dict[str, Difference]
    band: Band | None = None
    first_loss: FirstLoss | None = None
    by_task: ByTask[Difference] | None = None

    def negated(self) -> ArmDifference:
        """Return the difference with the arms swapped."""
        metrics = {name: difference.negated() for name, difference in self.metrics.items()}
        band = self.band and self.band.negated()
        lost = None if band is None else first_loss(band)
        return ArmDifference(self.against, self.arm, metrics, band, lost)

    def at_once(self, metric: str) -> Difference:
        """Return a difference; of pass@k with the ends of the band, if it has ends at this k.

        A sentence about pass@k at one k then agrees with every sentence about its curve.
        """
        difference, (name, _, k) = self.metrics[metric], metric.partition("@")
        low, high = self.band.at(int(k)) if self.band and name == "pass" else (np.nan, np.nan)
        return difference if np.isnan(low) else dataclasses.replace(difference, low=low, high=high)


@dataclass(frozen=True)
class SplitSummary:
    """All arms on one split, and the differences to the reference arm and to the base.

    Attributes:
        notes: Which problems are left out, a sentence for each cause: not all arms and seeds have
            them, or have enough graded samples of them; and what else a reader must know.
    """

    split: str
    arms: dict[str, ArmSummary]
    differences: tuple[ArmDifference, ...]
    notes: tuple[str, ...] = ()

    @property
    def seeds(self) -> int:
        """The largest number of seeds of an arm."""
        return max((len(arm.seeds) for arm in self.arms.values()), default=0)

    def difference(self, arm: str, against: str) -> ArmDifference | None:
        """Return the difference of two arms, or None."""
        differences = (d for d in self.differences if (d.arm, d.against) == (arm, against))
        return next(differences, None)


@dataclass(frozen=True)
class Summary:
    """The evaluation of a comparison.

    Attributes:
        reference: The arm that the others are compared with; None when no arm was trained.
        intervals: How all intervals were made.
        splits: Split → its summary; empty while nothing has been evaluated.
    """

    reference: str | None
    intervals: IntervalConfig
    splits: dict[str, SplitSummary]

    def to_json(self) -> dict[str, Any]:
        """Plain objects, lists and numbers; undefined numbers (NaN) are null."""
        return {"schema_version": SCHEMA_VERSION, **files.plain_json(dataclasses.asdict(self))}


def summarise(
    evaluations: Mapping[str, Mapping[str, Mapping[int, Evaluation]]],
    reference: str | None,
    intervals: IntervalConfig | None = None,
    ks: Sequence[int] = (),
    metrics: Collection[str] = (),
) -> Summary:
    """Summarise evaluations by split, arm and training seed.

    Args:
        evaluations: split → arm → seed → evaluation.
        reference: The arm that the others are compared with.
        intervals: How intervals are made.
        ks: Where the curves over k are computed, on the problems with as many graded samples as
            the largest; 1, 2, 4, … by default.
        metrics: The metrics that are computed; all by default.

    Raises:
        DataError: When the seeds of an arm differ in n, or arms or seeds share no problem.
    """
    intervals = intervals or IntervalConfig()
    splits = {
        split: _summarise_split(split, arms, reference, intervals, ks, metrics)
        for split, arms in evaluations.items()
    }
    return Summary(reference, intervals, splits)


def summarise_run(
    run_dir: str | Path,
    reference: str = "grpo",
    intervals: IntervalConfig | None = None,
    allow_damaged: bool = False,
) -> Summary:
    """Summarise all evaluation files of a run directory.

    Args:
        run_dir: The comparison's folder.
        reference: The arm that the others are compared with; the first one where it is absent.
        intervals: How intervals are made.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
    """
    run = Run(Path(run_dir))
    evaluations = evaluations_of(run, allow_damaged)
    return summarise(evaluations, reference_of(run, reference), intervals)


def evaluations_of(
    run: Run, allow_damaged: bool = False
) -> dict[str, dict[str, dict[int, Evaluation]]]:
    """All evaluation files of a run: split → arm → seed → evaluation.

    Args:
        run: The comparison.
        allow_damaged: See `setrl.evaluate.load_evaluation`.
    """
    evaluations: dict[str, dict[str, dict[int, Evaluation]]] = {}
    for name, arm in run.arms.items():
        for number, seed in arm.seeds.items():
            for split, path in seed.evaluations.items():
                of_arm = evaluations.setdefault(split, {}).setdefault(name, {})
                of_arm[number] = load_evaluation(path, allow_damaged)
    return evaluations


def reference_of(run: Run, reference: str) -> str | None:
    """Return the arm that others are compared with: this arm, or else the first trained arm."""
    trained = [name for name in run.arms if not is_base(name) and base_as_cold(name) is None]
    return reference if reference in trained else next(iter(trained), None)


def write_checkpoint_summary(
    folder: Path, intervals: IntervalConfig | None = None, allow_damaged: bool = False
) -> Path:
    """Write the summary of one model's evaluation files, as summary.json in their folder."""
    evaluations = {
        path.stem: {folder.parent.name: {0: load_evaluation(path, allow_damaged)}}
        for path in sorted(folder.glob("*.jsonl"))
    }
    path = folder / "summary.json"
    files.write_json(path, summarise(evaluations, None, intervals).to_json())
    return path


def _summarise_split(
    split: str,
    arms: Mapping[str, Mapping[int, Evaluation]],
    reference: str | None,
    intervals: IntervalConfig,
    ks: Sequence[int],
    metrics: Collection[str],
) -> SplitSummary:
    for arm, by_seed in arms.items():
        if len(sizes := {evaluation.n for evaluation in by_seed.values()}) > 1:
            raise DataError(
                f"all seeds of {arm} must have the same n on {split}, got {sorted(sizes)}"
            )
    sorted_by_seed = {arm: [of_arm[s] for s in sorted(of_arm)] for arm, of_arm in arms.items()}
    evaluations_by_arm, notes, ungraded = comparable(sorted_by_seed, max(ks, default=1))
    values = {
        arm: seed_values(evaluations, ks, metrics)
        for arm, evaluations in evaluations_by_arm.items()
    }
    summaries = {
        arm: _arm_summary(arm, arms[arm], evaluations, values[arm], intervals, ungraded.get(arm))
        for arm, evaluations in evaluations_by_arm.items()
    }
    cold = {arm: base for arm in arms if (base := base_as_cold(arm)) and not is_base(arm)}
    pairs = [
        (arm, against) for against in (reference, BASE) for arm in arms
        if arm != BASE and arm not in cold
    ] + list(cold.items())  # fmt: skip
    differences = tuple(
        _arm_difference(arm, against, evaluations_by_arm, values, intervals)
        for arm, against in pairs
        if against in evaluations_by_arm and arm != against
    )
    return SplitSummary(split, summaries, differences, tuple(notes))


def _arm_summary(
    arm: str,
    seeds: Iterable[int],
    evaluations: Sequence[Evaluation],
    values: Mapping[str, Floats],
    intervals: IntervalConfig,
    ungraded: Ungraded | None,
) -> ArmSummary:
    has_pass = any(name.startswith("pass@") for name in values)
    return ArmSummary(
        arm=arm,
        seeds=() if is_base(arm) else tuple(sorted(seeds)),
        n=evaluations[0].n,
        problems=len(evaluations[0]),
        temperature=evaluations[0].temperature,
        most=max(evaluation.most for evaluation in evaluations),
        metrics={
            name: mean_over_problems(v, intervals, bounds_of(name, [v], evaluations))
            for name, v in values.items()
        },
        band=pass_band(evaluations, None, intervals) if has_pass else None,
        ungraded=ungraded,
        by_task=estimates_by_task(evaluations[0].tasks, values, intervals),
    )


def _arm_difference(
    arm: str,
    against: str,
    evaluations_by_arm: Mapping[str, Sequence[Evaluation]],
    values: Mapping[str, Mapping[str, Floats]],
    intervals: IntervalConfig,
) -> ArmDifference:
    first, second = evaluations_by_arm[arm], evaluations_by_arm[against]
    both = paired_values(first, second, values[arm], values[against])
    band = pass_band(first, second, intervals)
    return ArmDifference(
        arm,
        against,
        {
            name: paired_difference(*pair, intervals, bounds_of(name, pair, (*first, *second)))
            for name, pair in both.items()
        },
        band,
        first_loss(band),
        differences_by_task(
            first[0].tasks or second[0].tasks,
            {name: pair[::-1] for name, pair in both.items()},
            intervals,
        ),
    )
