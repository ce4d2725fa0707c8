"""A run of either kind as its report reads it: what is missing is left empty."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from setrl.evaluate.estimators import Floats
from setrl.evaluate.looks import Look, looks
from setrl.evaluate.outcomes import OverSeeds, over_seeds, read_outcome
from setrl.evaluate.summary import (
    Evaluations,
    SplitSummary,
    Summary,
    run_evaluations,
    run_reference,
    summarise,
)
from setrl.support import files
from setrl.support.files.run_folder import (
    RECORD,
    RunKind,
    TrainingRun,
    find_arms,
    kind_of,
    read_config,
)

GIVEN = "given"  # instead of a split: the problems of files that the user gave
SPLIT_ORDER = ("shifted", "test", "train")  # the hardest first


@dataclass(frozen=True)
class ArmRun:
    """What one training run of an arm left: one seed, or the base.

    Attributes:
        metrics: Key → value at each logged step (NaN if a step has none); "step" among them.
        evaluation: Metric → value in the environment, of a control run; NaN if undefined.
        error: Why the training run failed; None if it did not.
    """

    seed: int
    metrics: dict[str, Floats]
    evaluation: dict[str, float]
    error: str | None = None


@dataclass(frozen=True)
class RunData:
    """All that a report shows.

    Attributes:
        kind: "comparison" of language models, or "control".
        run: run.json.
        config: config.yaml, with every default.
        arms: Arm → its training runs; the base, if evaluated, is one of the arms.
        looks: Arm → how it is drawn.
        summary: The evaluation of language models; without splits for a control run.
        problems: The evaluation files that the summary describes.
    """

    folder: Path
    kind: RunKind
    run: dict[str, Any]
    config: dict[str, Any]
    arms: dict[str, tuple[ArmRun, ...]]
    looks: dict[str, Look]
    summary: Summary
    problems: Evaluations = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the run."""
        return str(self.run.get("name") or self.folder.name)

    @property
    def views(self) -> list[str]:
        """The commands that show all samples; a report of files was given them."""
        given = self.run.get("views")
        return [shlex.join(["setrl", "view", str(self.folder)])] if given is None else list(given)

    @property
    def trained(self) -> dict[str, tuple[ArmRun, ...]]:
        """The arms that have logged training steps."""
        return {
            arm: runs for arm, runs in self.arms.items() if any("step" in r.metrics for r in runs)
        }

    @property
    def splits(self) -> list[SplitSummary]:
        """The evaluated splits, the hardest first."""
        found = self.summary.splits
        return [found[name] for name in dict.fromkeys([*SPLIT_ORDER, *found]) if name in found]

    def series(self, arm: str, key: str) -> tuple[Floats, Floats] | None:
        """Return steps (T,) and values (R, T) of a metric, on the steps that all R runs logged."""
        runs = [run for run in self.arms.get(arm, ()) if key in run.metrics]
        if not runs:
            return None
        steps = runs[0].metrics["step"]
        for run in runs[1:]:
            steps = np.intersect1d(steps, run.metrics["step"])
        rows = [run.metrics[key][np.isin(run.metrics["step"], steps)] for run in runs]
        return steps, np.stack(rows)

    def evaluations(self, arm: str) -> list[dict[str, float]]:
        """Return the evaluations of an arm of a control run, one for each seed that has one."""
        return list(self.outcomes.get(arm, {}).values())

    @property
    def outcomes(self) -> dict[str, dict[int, dict[str, float]]]:
        """Arm → seed → metric → value, of the evaluations of a control run."""
        found = {
            arm: {run.seed: run.evaluation for run in runs if run.evaluation}
            for arm, runs in self.arms.items()
        }
        return {arm: seeds for arm, seeds in found.items() if seeds}

    def outcome(self, arm: str, metric: str) -> OverSeeds:
        """Mean and standard error of a control run's metric over seeds."""
        return over_seeds([row.get(metric, math.nan) for row in self.evaluations(arm)])


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


def read_run(run_dir: Path, reference: str = "grpo", allow_damaged: bool = False) -> RunData:
    """Read the folder of a run of either kind.

    Args:
        run_dir: The folder.
        reference: The arm of language models that the others are compared with.
        allow_damaged: See `setrl.evaluate.load_evaluation`.

    Raises:
        ConfigError: If the folder does not exist.
        DataError: If an evaluation file is invalid.
    """
    arms = {
        found.arm: tuple(_read_arm_run(seed, TrainingRun(f)) for seed, f in found.seeds.items())
        for found in find_arms(run_dir)
    }
    problems = run_evaluations(run_dir, allow_damaged)
    return RunData(
        folder=run_dir,
        kind=kind_of(run_dir) or "comparison",
        run=files.read_json(run_dir / RECORD),
        config=read_config(run_dir),
        arms=arms,
        looks=looks(list(arms)),
        summary=summarise(problems, run_reference(run_dir, reference)),
        problems=problems,
    )


def _read_arm_run(seed: int, run: TrainingRun) -> ArmRun:
    return ArmRun(
        seed=seed,
        metrics=_columns(files.read_lines(run.metrics)),
        evaluation=read_outcome(run.evaluation),
        error=_error(files.read_json(run.path / RECORD)),
    )


def _error(record: Mapping[str, Any]) -> str | None:
    """Return why a training run failed; an earlier failure of a run that goes on does not count."""
    return str(record.get("error")) if record.get("status") == "failed" else None


def _columns(records: list[dict[str, Any]]) -> dict[str, Floats]:
    """Key → values by step; of a step that was logged twice (a resumed run) the last counts."""
    by_step = {record["step"]: record for record in records if "step" in record}
    rows = [by_step[step] for step in sorted(by_step)]
    keys = dict.fromkeys(key for row in rows for key in row)
    return {
        key: np.array([_number(row.get(key)) for row in rows], dtype=np.float64) for key in keys
    }


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
