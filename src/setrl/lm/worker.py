"""A job of a comparison in a process of its own: train an arm with a seed, and evaluate it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import datasets
import torch
import transformers

from setrl.evaluation.sampling import evaluate_checkpoint
from setrl.evaluation.summary import write_checkpoint_summary
from setrl.lm.arm import train_arm
from setrl.lm.callbacks import StopInOrder
from setrl.lm.config import ComparisonConfig
from setrl.logs.run_folder import TrainingRun
from setrl.runs.jobs import ArmJob, OnProgress, do_job

EVALUATION_SEED = 0  # the same problems for every model of every comparison


@dataclass(frozen=True, kw_only=True)
class Job(ArmJob):
    """Train an arm with a seed and evaluate it; with no arm, evaluate the base."""

    config: ComparisonConfig
    base: str

    @property
    def steps(self) -> int:
        """Its steps of training."""
        return self.config.steps if self.arm is not None else 0

    @property
    def split_cost(self) -> float:
        """What the evaluation on a split costs, in steps; sampling is about a quarter of a step."""
        config = self.config
        samples_per_step = config.prompts_per_step * config.samples_per_prompt
        return 0.25 * config.eval_problems * config.eval_samples / samples_per_step

    @property
    def cost(self) -> float:
        """The whole job's, in steps."""
        return self.steps + self.split_cost * len(self.config.eval_splits)


def run_job(job: Job, on_progress: OnProgress, stop: StopInOrder) -> None:
    """Do a job from where it was left, to its end or until it is asked to stop."""
    if job.arm is None:
        evaluate(job, job.base, on_progress, stop)
        return
    run = TrainingRun(job.folder)
    if train_arm(job.config, job.arm, job.seed, job.base, run, on_progress, stop):
        evaluate(job, run.final, on_progress, stop)


def evaluate(job: Job, model: str | Path, on_progress: OnProgress, stop: StopInOrder) -> None:
    """Evaluate a model on the splits of the config, into the job's folder."""
    config = job.config
    for count, split in enumerate(config.eval_splits, start=1):
        if stop.asked:
            return
        evaluate_checkpoint(
            model,
            config.make_domain(),
            split,  # type: ignore[arg-type]
            config.eval_problems,
            config.eval_samples,
            EVALUATION_SEED,
            job.folder / "evaluation" / f"{split}.jsonl",
            temperature=config.temperature,
            max_new_tokens=config.sample_tokens,
            show_progress=False,
        )
        on_progress(job.steps + count * job.split_cost)
    if config.eval_splits:
        write_checkpoint_summary(job.folder / "evaluation")


def work(job: Job, connection: Connection) -> None:
    """Do a job in this process, as `do_job` says."""
    quiet()
    stop = StopInOrder(job.config.num_iterations)
    do_job(job, connection, stop, lambda on_progress: run_job(job, on_progress, stop))


def quiet() -> None:
    """One thread, and no bars or warnings of libraries between ours."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # of TRL about transformers
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    datasets.disable_progress_bars()
