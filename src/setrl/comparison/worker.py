"""A job of a comparison in a process of its own: train an arm with a seed, and evaluate it."""

from __future__ import annotations

import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import datasets
import torch
import transformers

from setrl.errors import ConfigError, RunError
from setrl.evaluation.sampling import evaluate_checkpoint
from setrl.evaluation.summary import write_checkpoint_summary
from setrl.runs.files import write_text
from setrl.runs.run_directory import TrainingRun, training_run, write_status
from setrl.training.arm import train_arm
from setrl.training.callbacks import StopInOrder
from setrl.training.config import ComparisonConfig

EVALUATION_SEED = 0  # the same problems for every model of every comparison


@dataclass(frozen=True)
class Job:
    """Train an arm with a seed and evaluate it; with no arm, evaluate the base."""

    config: ComparisonConfig
    run_dir: Path
    base: str
    arm: str | None = None
    seed: int = 0

    @property
    def name(self) -> str:
        """What people call it."""
        return "base" if self.arm is None else f"{self.arm}/{self.seed}"

    @property
    def folder(self) -> Path:
        """Where its model is evaluated and, if it trains one, recorded."""
        if self.arm is None:
            return self.run_dir / "base"
        return training_run(self.run_dir, self.arm, self.seed).path

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


def run_job(job: Job, on_progress: Callable[[float], None], stop: StopInOrder) -> None:
    """Do a job from where it was left, to its end or until it is asked to stop."""
    if job.arm is None:
        evaluate(job, job.base, on_progress, stop)
        return
    run = TrainingRun(job.folder)
    if train_arm(job.config, job.arm, job.seed, job.base, run, on_progress, stop):
        evaluate(job, run.final, on_progress, stop)


def evaluate(
    job: Job, model: str | Path, on_progress: Callable[[float], None], stop: StopInOrder
) -> None:
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
    """Do a job in this process; tell the other end ("done", steps) and ("failed", why).

    The other end may send anything to ask for the end of the work; if it closes, this process ends
    at once, so that none goes on writing after its parent was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us through the parent
    stop = StopInOrder(job.config.num_iterations)
    threading.Thread(target=_listen, args=(connection, stop), daemon=True).start()
    quiet()
    try:
        run_job(job, lambda done: connection.send(("done", done)), stop)
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        connection.send(("failed", explain(error)))
        if job.arm is not None:
            write_status(job.folder, "failed", error=explain(error))
        write_text(job.folder / "traceback.txt", "".join(traceback.format_exception(error)))
        raise SystemExit(1) from error


def _listen(connection: Connection, stop: StopInOrder) -> None:
    try:
        connection.recv()
    except (EOFError, OSError):
        os._exit(1)
    stop.ask()


def quiet() -> None:
    """One thread, and no bars or warnings of libraries between ours."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # of TRL about transformers
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    datasets.disable_progress_bars()


def explain(error: BaseException) -> str:
    """What people need to know of an error; its kind, too, if it is none of ours."""
    if isinstance(error, ConfigError | RunError):
        return str(error)
    if isinstance(error, OSError):
        what = f"cannot write or read {error.filename}" if error.filename else "cannot write"
        return f"{what}: {error.strerror or error}"
    return f"{type(error).__name__}: {error}"
