"""The spine of every run: a claimed folder, what all arms start from, and each arm with each seed.

A kind of run is a subclass of `Arms`; language models have theirs in `setrl.train.lm.run`,
environments in `setrl.control.run`. Everything else about a run is here and in the modules that
this one calls.
"""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from pathlib import Path

from setrl.logs.run import BASE, Run, Seed
from setrl.support.errors import explain
from setrl.support.files import write_text
from setrl.support.files.cache import cache_folder as cache_folder  # callers of runs need it, too
from setrl.support.files.digests import Digests
from setrl.train.runs.claim import claimed
from setrl.train.runs.config import RunConfig
from setrl.train.runs.pool import Job, OnProgress, Stop, run_jobs
from setrl.train.runs.provenance import check_inputs
from setrl.train.runs.resume import write_status


class Arms(ABC):
    """The arms of one run, and all that a kind of run decides about them.

    A subclass is a frozen dataclass that can be pickled: each job takes it to its own process.

    Attributes:
        run_dir: The folder of the run.
        cache: The folder that keeps what arms start from, for other runs with the same start.
    """

    run_dir: Path
    cache: Path

    @abstractmethod
    def inputs(self) -> Digests:
        """Return the fingerprints of all that the results depend on besides the config."""

    @abstractmethod
    def prepare(self, show_progress: bool) -> bool:
        """Make what all arms start from, once for all processes; return whether to evaluate it."""

    @abstractmethod
    def cost(self, arm: str | None) -> float:
        """Return how long an arm takes, in steps; with None, the evaluation of the base."""

    @abstractmethod
    def train(self, arm: str, seed: int, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        """Train an arm with a seed, from its last checkpoint if it has one, and evaluate it."""

    @abstractmethod
    def evaluate_base(self, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        """Evaluate what all arms start from."""


def run_arms(
    arms: Arms,
    config: RunConfig,
    *,
    overwrite: bool = False,
    accept_changes: bool = False,
    show_progress: bool = True,
) -> Path:
    """Train and evaluate all arms with all seeds, side by side; return the run's folder.

    What is done already is not done again: an interrupted run continues from its last checkpoints
    and ends with the same weights as one that was never interrupted.

    Args:
        arms: The arms.
        config: Their names, the seeds and the number of workers; it is kept in the folder.
        overwrite: Remove the run that is in the folder, and start from the beginning.
        accept_changes: Go on although the code, the model or the problems have changed.
        show_progress: Whether to draw a progress bar.

    Raises:
        ConfigError: If the folder holds a run with another config or other inputs, or something
            else.
        RunError: If an arm failed; the others were trained all the same.
        KeyboardInterrupt: After Ctrl-C, when all checkpoints are written.
    """
    if not overwrite:
        check_inputs(arms.run_dir, arms.inputs(), accept=accept_changes)  # nothing is written yet
    with claimed(arms.run_dir, config, overwrite=overwrite):
        # First the base, so that an evaluation which fails is seen before an arm is trained. Then
        # all arms with one seed before any with the next, so that they can be compared early.
        base = [arm_job(arms)] if arms.prepare(show_progress) else []
        jobs = [*base, *(arm_job(arms, arm, seed) for seed in config.seeds for arm in config.arms)]
        check_inputs(arms.run_dir, arms.inputs(), accept=accept_changes, keep=True)
        run_jobs(jobs, config.workers, show_progress, preload=type(arms).__module__)
    return arms.run_dir


def arm_job(arms: Arms, arm: str | None = None, seed: int = 0) -> Job:
    """Return the job of one arm with one seed; with no arm, the evaluation of the base."""
    if arm is None:
        run, name = Run(arms.run_dir).base, BASE
    else:
        run, name = Run(arms.run_dir).seed(arm, seed), f"{arm}/{seed}"
    return Job(name, arms.cost(arm), partial(_do_job, arms, arm, seed, run))


def _do_job(
    arms: Arms, arm: str | None, seed: int, run: Seed, on_progress: OnProgress, stop: Stop
) -> None:
    """Do what is still missing; an error is recorded in the folder before it is raised."""
    try:
        check_inputs(arms.run_dir, arms.inputs())  # hours may have passed since the run began
        if arm is None:
            arms.evaluate_base(run, on_progress, stop)
        else:
            arms.train(arm, seed, run, on_progress, stop)
    except BaseException as error:  # code of a user may raise anything, `SystemExit` too
        if not arms.run_dir.is_dir():  # somebody removed it: writing would bring a part of it back
            raise
        trace = "".join(traceback.format_exception(error))
        with suppress(OSError):  # a full disk, whose own error is the one to raise
            write_text(run.path / "traceback.txt", trace)
            if arm is not None:
                write_status(run.path, "failed", error=explain(error))
        raise
