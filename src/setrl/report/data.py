"""A run directory as a report reads it: whatever is there, missing parts left empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import files
from setrl.evaluation.estimators import Floats
from setrl.evaluation.summary import Summary, summarise_run
from setrl.logs.run_folder import BASE, find_arms, read_config
from setrl.report.style import Look, looks


@dataclass(frozen=True)
class TrainingRun:
    """One arm trained with one seed.

    Attributes:
        metrics: Key → value at each logged step (NaN where a step has none); "step" among them.
        rollouts: Step → file of that step's samples.
    """

    seed: int
    metrics: dict[str, Floats]
    rollouts: dict[int, Path]


@dataclass(frozen=True)
class RunData:
    """All that a report shows.

    Attributes:
        run: run.json.
        config: config.yaml, as resolved.
        arms: Trained arm → its runs; arms that have logged nothing yet are left out.
        looks: Arm → how it is drawn; the base among them.
        summary: The evaluation.
    """

    folder: Path
    run: dict[str, Any]
    config: dict[str, Any]
    arms: dict[str, tuple[TrainingRun, ...]]
    looks: dict[str, Look]
    summary: Summary

    @property
    def name(self) -> str:
        """Name of the comparison."""
        return str(self.run.get("name") or self.folder.name)

    def series(self, arm: str, key: str) -> tuple[Floats, Floats] | None:
        """Steps (T,) and values (seeds, T) of a metric, on the steps that all seeds logged."""
        runs = [run for run in self.arms.get(arm, ()) if key in run.metrics]
        if not runs:
            return None
        steps = runs[0].metrics["step"]
        for run in runs[1:]:
            steps = np.intersect1d(steps, run.metrics["step"])
        rows = [run.metrics[key][np.isin(run.metrics["step"], steps)] for run in runs]
        return steps, np.stack(rows)


def read_run(run_dir: Path, reference: str = "grpo") -> RunData:
    """Read a run directory.

    Raises:
        ConfigError: When there is no such folder.
    """
    found = find_arms(run_dir)
    arms = {
        arm.arm: tuple(_read_training(seed, folder) for seed, folder in arm.seeds.items())
        for arm in found
        if arm.arm != BASE
    }
    return RunData(
        folder=run_dir,
        run=files.read_json(run_dir / "run.json"),
        config=read_config(run_dir),
        arms={arm: runs for arm, runs in arms.items() if any(run.metrics for run in runs)},
        looks=looks([arm.arm for arm in found]),
        summary=summarise_run(run_dir, reference),
    )


def _read_training(seed: int, folder: Path) -> TrainingRun:
    found = (folder / "rollouts").glob("step_*.jsonl")
    rollouts = {int(path.stem.removeprefix("step_")): path for path in found}
    return TrainingRun(
        seed=seed,
        metrics=_columns(files.read_lines(folder / "metrics.jsonl")),
        rollouts=dict(sorted(rollouts.items())),
    )


def _columns(records: Iterable[dict[str, Any]]) -> dict[str, Floats]:
    """Key → values by step; of a step that was logged twice (a resumed run) the last counts."""
    by_step = {record["step"]: record for record in records if "step" in record}
    rows = [by_step[step] for step in sorted(by_step)]
    keys = dict.fromkeys(key for row in rows for key in row)
    return {
        key: np.array([_number(row.get(key)) for row in rows], dtype=np.float64) for key in keys
    }


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
