"""Evaluation files of a run → its summary: every metric and every difference with an interval.

Metrics are named as in the glossary (`setrl.evaluation.metrics`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import files
from setrl.evaluation.bands import (
    Band,
    FirstLoss,
    every_k,
    first_loss,
    pass_values,
    simultaneous_band,
)
from setrl.evaluation.estimators import Floats, pass_at_k_variance
from setrl.evaluation.intervals import (
    Difference,
    Estimate,
    IntervalConfig,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluation.metrics import powers_of_two, seed_values
from setrl.evaluation.ungraded import Ungraded, ungraded_of
from setrl.files.run_folder import BASE, evaluation_files, find_arms
from setrl.groups.records import Evaluation, load_evaluation

SCHEMA_VERSION = 1

Evaluations = Mapping[str, Mapping[str, Mapping[int, Evaluation]]]  # by split, arm and seed


@dataclass(frozen=True)
class ArmSummary:
    """One arm on one split.

    Attributes:
        arm: Its name.
        seeds: Its training seeds; none for the base.
        n: Samples of a problem; where problems differ, of the one with the fewest.
        most: Samples of the problem with the most.
        problems: Problems that every seed was evaluated on.
        temperature: Of the samples.
        metrics: Metric → mean over problems and seeds, with its interval.
        sampling_stderr: pass@k → the part of its standard error that comes from drawing only n
            samples of a problem; for k ≤ n/2, where it can be estimated without bias.
        band: pass@k at every k, with a band that holds for all k at once.
        ungraded: The samples of logs that have no grade; None if all have a grade.
    """

    arm: str
    seeds: tuple[int, ...]
    n: int
    problems: int
    temperature: float
    most: int
    metrics: dict[str, Estimate]
    sampling_stderr: dict[str, float]
    band: Band | None = None
    ungraded: Ungraded | None = None


@dataclass(frozen=True)
class ArmDifference:
    """An arm minus another on the problems that both were evaluated on.

    Attributes:
        arm, against: Their names.
        metrics: Metric → mean difference over problems, with its interval.
        band: The difference of pass@k at every k, with a band that holds for all k at once.
        first_loss: Where the first k may lie at which the arm's pass@k is below the other's.
    """

    arm: str
    against: str
    metrics: dict[str, Difference]
    band: Band | None = None
    first_loss: FirstLoss | None = None


@dataclass(frozen=True)
class SplitSummary:
    """All arms on one split, and the differences to the reference arm and to the base."""

    split: str
    arms: dict[str, ArmSummary]
    differences: tuple[ArmDifference, ...]

    @property
    def seeds(self) -> int:
        """Seeds of the arm that has the most."""
        return max((len(arm.seeds) for arm in self.arms.values()), default=0)

    def difference(self, arm: str, against: str) -> ArmDifference | None:
        """Return the difference of two arms, or None."""
        found = (d for d in self.differences if (d.arm, d.against) == (arm, against))
        return next(found, None)


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


@dataclass(frozen=True)
class _ArmValues:
    """The metrics of one arm on each problem, one row for each seed."""

    arm: str
    prompts: tuple[str, ...]
    metrics_RP: dict[str, Floats]
    evaluations: Sequence[Evaluation]

    def on(self, prompts: Sequence[str], metric: str) -> Floats:
        place = {prompt: index for index, prompt in enumerate(self.prompts)}
        return self.metrics_RP[metric][:, [place[prompt] for prompt in prompts]]


def summarise(
    evaluations: Evaluations,
    reference: str | None,
    intervals: IntervalConfig | None = None,
    ks: Sequence[int] = (),
) -> Summary:
    """Summarise evaluations by split, arm and training seed.

    Args:
        evaluations: split → arm → seed → evaluation.
        reference: The arm that the others are compared with.
        intervals: How intervals are made.
        ks: Where the curves over k are computed; 1, 2, 4, … by default.

    Raises:
        ValueError: When the seeds of an arm differ in n, or share no problem.
    """
    intervals = intervals or IntervalConfig()
    splits = {
        split: _summarise_split(split, arms, reference, intervals, ks)
        for split, arms in evaluations.items()
    }
    return Summary(reference, intervals, splits)


def summarise_run(
    run_dir: Path,
    reference: str = "grpo",
    intervals: IntervalConfig | None = None,
    allow_damaged: bool = False,
) -> Summary:
    """Summarise all evaluation files of a run directory.

    Args:
        run_dir: The comparison's folder.
        reference: The arm that the others are compared with; the first one where it is absent.
        intervals: How intervals are made.
        allow_damaged: See `setrl.groups.records.load_evaluation`.
    """
    evaluations = run_evaluations(run_dir, allow_damaged)
    return summarise(evaluations, run_reference(run_dir, reference), intervals)


def run_evaluations(run_dir: Path, allow_damaged: bool = False) -> Evaluations:
    """All evaluation files of a run directory: split → arm → seed → evaluation.

    Args:
        run_dir: The comparison's folder.
        allow_damaged: See `setrl.groups.records.load_evaluation`.
    """
    evaluations: dict[str, dict[str, dict[int, Evaluation]]] = {}
    for arm in find_arms(run_dir):
        for seed, folder in arm.seeds.items():
            for split, path in evaluation_files(folder).items():
                of_arm = evaluations.setdefault(split, {}).setdefault(arm.arm, {})
                of_arm[seed] = load_evaluation(path, allow_damaged)
    return evaluations


def run_reference(run_dir: Path, reference: str) -> str | None:
    """Return the arm that others are compared with: this arm, or else the first trained arm."""
    trained = [arm.arm for arm in find_arms(run_dir) if arm.arm != BASE]
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
) -> SplitSummary:
    values, summaries = {}, {}
    texts = min((e.texts_kept for by_seed in arms.values() for e in by_seed.values()), default=0)
    for arm, by_seed in arms.items():
        evaluations = _on_common_problems(arm, split, by_seed)
        stacked = seed_values([evaluation.with_texts(texts) for evaluation in evaluations], ks)
        values[arm] = _ArmValues(arm, evaluations[0].prompts, stacked, evaluations)
        summaries[arm] = ArmSummary(
            arm=arm,
            seeds=() if arm == BASE else tuple(sorted(by_seed)),
            n=evaluations[0].n,
            problems=len(evaluations[0].prompts),
            temperature=evaluations[0].temperature,
            most=max(evaluation.most for evaluation in evaluations),
            metrics={name: mean_over_problems(v, intervals) for name, v in stacked.items()},
            sampling_stderr=_sampling_stderr(evaluations),
            band=_band(evaluations, None, intervals),
            ungraded=ungraded_of(evaluations),
        )
    pairs = [(arm, against) for against in (reference, BASE) for arm in arms if arm != BASE]
    differences = tuple(
        _difference(values[arm], values[against], intervals)
        for arm, against in pairs
        if against in values and arm != against
    )
    return SplitSummary(split, summaries, differences)


def _on_common_problems(
    arm: str, split: str, by_seed: Mapping[int, Evaluation]
) -> list[Evaluation]:
    """Each seed's evaluation, by seed, on the problems that all seeds have, in one order."""
    sizes = {evaluation.n for evaluation in by_seed.values()}
    if len(sizes) > 1:
        raise ValueError(f"all seeds of {arm} must have the same n on {split}, got {sorted(sizes)}")
    common = set.intersection(*(set(evaluation.prompts) for evaluation in by_seed.values()))
    if not common:
        raise ValueError(f"the seeds of {arm} must have common problems on {split}, but have none")
    order = [p for p in next(iter(by_seed.values())).prompts if p in common]
    return [by_seed[seed].on(order) for seed in sorted(by_seed)]


def _sampling_stderr(evaluations: list[Evaluation]) -> dict[str, float]:
    """Return the standard error of mean pass@k on these problems, from drawing n samples."""
    problems = len(evaluations[0].prompts)
    result = {}
    for k in powers_of_two(evaluations[0].n // 2):
        variance_RP = np.stack(
            [pass_at_k_variance(e.correct_count_P, e.sizes, k) for e in evaluations]
        )
        result[f"pass@{k}"] = float(np.sqrt(variance_RP.sum()) / (len(evaluations) * problems))
    return result


def _difference(first: _ArmValues, second: _ArmValues, intervals: IntervalConfig) -> ArmDifference:
    prompts = [prompt for prompt in first.prompts if prompt in set(second.prompts)]
    metrics = {
        name: paired_difference(first.on(prompts, name), second.on(prompts, name), intervals)
        for name in first.metrics_RP
        if name in second.metrics_RP
    }
    sides = [[e.on(prompts) for e in arm.evaluations] for arm in (first, second)]
    band = _band(sides[0], sides[1], intervals) if prompts else None
    loss = None if band is None else first_loss(band)
    return ArmDifference(first.arm, second.arm, metrics, band, loss)


def _band(
    first: Sequence[Evaluation], second: Sequence[Evaluation] | None, intervals: IntervalConfig
) -> Band:
    """Return the band of pass@k of one arm, or of its difference to another arm."""
    ks = every_k(min(e.n for e in (*first, *(second or ()))))
    subtracted = None if second is None else pass_values(second, ks)
    bounds = (0.0 if second is None else -1.0, 1.0)
    return simultaneous_band(ks, pass_values(first, ks), subtracted, intervals, bounds)
