"""What a control run records while it trains: metrics, families of vines, and checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter
from typing_extensions import override

from setrl.control import checkpoints
from setrl.control.credit.assign import ScoredVines, Segment
from setrl.control.credit.families import Family
from setrl.control.credit.trajectories import Trajectory
from setrl.control.resolved import ResolvedControl
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.tasks import ControlTask
from setrl.support import files
from setrl.support.files.run_folder import TrainingRun
from setrl.train.runs.pool import Stop

EVALUATION = 0xE7A1  # in evaluations' seeds, which share no random numbers with training


class MetricsWriter(KVWriter):
    """Writes what Stable-Baselines3 logs as lines of metrics.jsonl."""

    def __init__(self, run: TrainingRun):
        self.run = run

    @override
    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0
    ) -> None:
        """Write one line: the environment steps so far, and every number."""
        numbers = {
            key: float(value)
            for key, value in sorted(key_values.items())
            if isinstance(value, int | float | np.number)
        }
        files.append_line(self.run.metrics, {"step": step, **numbers})

    @override
    def close(self) -> None:
        """Do nothing: no file is open."""


class RunCallback(BaseCallback):
    """Writes a run's records and checkpoints, and reports how many steps are done.

    Args:
        run: The folder of the training run.
        resolved: The comparison: its task evaluates the policy during training.
        on_step: Called with the number of steps done so far.
        stop: When it asks to stop, training ends early with a checkpoint.
    """

    model: PolyPPO

    def __init__(
        self,
        run: TrainingRun,
        resolved: ResolvedControl,
        on_step: Callable[[int], None],
        stop: Stop,
    ):
        super().__init__()
        self.run, self.task, self.every = run, resolved.task, resolved.config
        self.on_step_done, self.stop = on_step, stop
        self._start, self._ends = 0, False

    @override
    def _on_training_start(self) -> None:
        self._start = self.model.num_timesteps

    @override
    def _on_step(self) -> bool:
        return not self._ends

    @override
    def _on_rollout_start(self) -> None:
        """Act between two updates: only there does a checkpoint hold all that matters."""
        steps = self.model.num_timesteps
        self.on_step_done(steps)
        if is_due(self.every.eval_every, self._start, steps):
            found = evaluation(self.task, self.model)
            for name, value in found.items():
                self.logger.record(f"evaluation/{name}", value)
        self._ends = self.stop.asked
        if steps and (self._ends or is_due(self.every.checkpoint_every, self._start, steps)):
            checkpoints.save(self.model, self.run)
        self._start = steps

    @override
    def _on_rollout_end(self) -> None:
        families = self.locals.get("families")
        if families and is_due(self.every.rollouts_every, self._start, self.num_timesteps):
            given = (self.locals[name] for name in ("scored", "advantages_BN", "segments"))
            found = records(families, *given)
            files.write_lines(self.run.rollouts(self.num_timesteps), found)


def is_due(interval: int | None, before: int, done: int) -> bool:
    """Return whether a multiple of the interval lies in the steps of the last update.

    >>> is_due(100, 90, 110), is_due(100, 110, 190), is_due(None, 90, 110)
    (True, False, False)
    """
    return interval is not None and done // interval > before // interval


def evaluation(task: ControlTask, model: PolyPPO) -> dict[str, float]:
    """Compute the task's metrics of a model now, without effect on further training."""
    rng = np.random.default_rng([EVALUATION, model.seed or 0, model.num_timesteps])
    with torch.random.fork_rng(devices=[]):
        return {name: float(value) for name, value in task.evaluate(model, rng).items()}


def records(
    families: list[Family],
    scored: ScoredVines,
    advantages_BN: np.ndarray,
    segments: list[Segment],
) -> list[dict[str, Any]]:
    """Make one record per trunk: its actions, and the actions of the vines from its states.

    The trunks' segments come first: a trunk's own set advantages are at their states.
    """
    rows = iter(range(len(scored.states)))
    return [
        {
            "reset_seed": family.reset_seed,
            **_outcome(family.trunk),
            "states": [
                {
                    "time": time,
                    **_own(trunk, time),
                    "vines": _vines(vines, scored, advantages_BN, next(rows)),
                }
                for time, vines in zip(family.times, family.vines_BN, strict=True)
            ],
        }
        for family, trunk in zip(families, segments[: len(families)], strict=True)
    ]


def _own(trunk: Segment, time: int) -> dict[str, float]:
    """Return the trunk's own set advantage from a state on, if it has one."""
    found = [one.value for one in trunk.set_advantages if one.start == time]
    return {"advantage": found[0]} if found else {}


def _vines(
    vines_N: tuple[Trajectory, ...], scored: ScoredVines, advantages_BN: np.ndarray, row: int
) -> list[dict[str, Any]]:
    clusters_BN = scored.fields.get("clusters")
    return [
        {
            **_outcome(vine),
            "score": float(scored.scores_BN[row, n]),
            "cluster": None if clusters_BN is None else int(clusters_BN[row, n]),
            "advantage": float(advantages_BN[row, n]),
        }
        for n, vine in enumerate(vines_N)
    ]


def _outcome(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "return": trajectory.total_reward,
        "terminated": trajectory.terminated,
        "actions": trajectory.actions_T.tolist(),
    }
