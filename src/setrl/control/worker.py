"""A job of a control run in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from setrl.control.arm import make_model, train_arm, write_evaluation
from setrl.control.config import ControlConfig
from setrl.control.records import Stop
from setrl.logs.run_folder import BASE, TrainingRun
from setrl.runs.jobs import ArmJob, OnProgress, do_job


@dataclass(frozen=True, kw_only=True)
class Job(ArmJob):
    """Train an arm with a seed and evaluate it; with no arm, evaluate what all start from."""

    config: ControlConfig
    cache: Path

    @property
    def cost(self) -> float:
        """Environment steps; the evaluation of the base alone is short."""
        return self.config.steps if self.arm is not None else 0.02 * self.config.steps


def work(job: Job, connection: Connection) -> None:
    """Do a job in this process, as `do_job` says."""
    torch.set_num_threads(1)
    stop = Stop()
    do_job(job, connection, stop, lambda on_progress: _run(job, on_progress, stop))


def _run(job: Job, on_progress: OnProgress, stop: Stop) -> None:
    if job.arm is None:
        _evaluate_base(job)
        on_progress(job.cost)
        return
    run = TrainingRun(job.folder)

    def on_step(steps: int) -> None:
        on_progress(min(steps, job.cost))  # the last update goes a little beyond the budget

    train_arm(job.config, job.arm, job.seed, job.cache, run, on_step, stop)


def _evaluate_base(job: Job) -> None:
    """Evaluate the pretrained policy, which is the same for all arms and seeds."""
    if (job.folder / "evaluation.json").exists():
        return
    config = job.config
    model = make_model(config, next(iter(config.arms)), config.pretrain_seed, job.cache)
    job.folder.mkdir(parents=True, exist_ok=True)
    write_evaluation(config.make_task(), model, job.folder, {"arm": BASE, "seed": None})
