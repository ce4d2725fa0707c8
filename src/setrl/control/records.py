"""What a control run records while it trains: evaluations, and when they are due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from setrl.support import files
from setrl.support.files.run_folder import TrainingRun

EVALUATION = 0xE7A1  # in evaluations' seeds, which share no random numbers with training


def is_due(interval: int | None, before: int, done: int) -> bool:
    """Return whether a multiple of the interval lies in the steps of the last update.

    >>> is_due(100, 90, 110), is_due(100, 110, 190), is_due(None, 90, 110)
    (True, False, False)
    """
    return interval is not None and done // interval > before // interval


def evaluation(task: Any, policy: Any, seed: int | None, steps: int) -> dict[str, float]:
    """Compute the task's metrics of a policy after so many steps of training."""
    rng = np.random.default_rng([EVALUATION, seed or 0, steps])
    return {name: float(value) for name, value in task.evaluate(policy, rng).items()}


def write_evaluation(
    run: TrainingRun, arm: str, seed: int | None, steps: int, metrics: Mapping[str, float]
) -> None:
    """Write evaluation.json: the metrics of an arm's last policy, or of the base."""
    about = {"schema_version": 1, "arm": arm, "seed": seed, "steps": steps}
    files.write_json(run.evaluation, {**about, "metrics": dict(metrics)})
