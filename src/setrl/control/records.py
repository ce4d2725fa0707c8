"""What a control run records while it trains: evaluations, and families of trunks and vines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from setrl.control.credit import ScoredVines
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


def outcome(total_reward: Any, terminated: Any, actions_T: np.ndarray) -> dict[str, Any]:
    """Return the record of a trajectory."""
    return {
        "return": float(total_reward),
        "terminated": bool(terminated),
        "actions": actions_T.tolist(),
    }


def family(
    trunk: Mapping[str, Any], states: Iterable[tuple[int, float | None, list[dict[str, Any]]]]
) -> dict[str, Any]:
    """Return the record of a trunk.

    Args:
        trunk: Its `outcome`, and what else is known of it.
        states: The time of each state that vines leave, the trunk's own set advantage from there
            on, if it has one, and the records of the vines.
    """
    return {
        **trunk,
        "states": [
            {"time": time, **({} if own is None else {"advantage": own}), "vines": vines}
            for time, own, vines in states
        ],
    }


def vines(
    outcomes_N: Sequence[Mapping[str, Any]],
    scored: ScoredVines,
    advantages_BN: np.ndarray,
    row: int,
) -> list[dict[str, Any]]:
    """Return the records of the vines of a state, which is a row of `scored`."""
    strategies_BN = scored.fields.get("strategies")
    return [
        {
            **one,
            "score": float(scored.scores_BN[row, n]),
            "strategy": None if strategies_BN is None else _label(strategies_BN[row, n]),
            "advantage": float(advantages_BN[row, n]),
        }
        for n, one in enumerate(outcomes_N)
    ]


def _label(number: float) -> int | None:
    return None if np.isnan(number) else int(number)
