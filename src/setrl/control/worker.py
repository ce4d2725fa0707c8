"""A job of a control run in a process of its own."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from setrl.control.arm import make_model, train_arm, write_evaluation
from setrl.control.config import ControlConfig
from setrl.control.records import Stop
from setrl.errors import ConfigError, RunError
from setrl.runs.files import write_text
from setrl.runs.run_directory import TrainingRun, training_run, write_status

BASE = "base"  # the folder of what every arm starts from, and its name in figures


@dataclass(frozen=True)
class Job:
    """Train an arm with a seed and evaluate it; with no arm, evaluate what all start from."""

    config: ControlConfig
    run_dir: Path
    cache: Path
    arm: str | None = None
    seed: int = 0

    @property
    def name(self) -> str:
        """What people call it."""
        return BASE if self.arm is None else f"{self.arm}/{self.seed}"

    @property
    def folder(self) -> Path:
        """Where it is recorded."""
        if self.arm is None:
            return self.run_dir / BASE
        return training_run(self.run_dir, self.arm, self.seed).path

    @property
    def cost(self) -> float:
        """Environment steps; the evaluation of the base alone is short."""
        return self.config.steps if self.arm is not None else 0.02 * self.config.steps


def work(job: Job, connection: Connection) -> None:
    """Do a job in this process; tell the other end ("done", steps) and ("failed", why).

    The other end may send anything to ask for the end of the work; if it closes, this process ends
    at once, so that none goes on writing after its parent was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us through the parent
    torch.set_num_threads(1)
    stop = Stop()
    threading.Thread(target=_listen, args=(connection, stop), daemon=True).start()
    try:
        _run(job, connection, stop)
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        connection.send(("failed", explain(error)))
        write_text(job.folder / "traceback.txt", "".join(traceback.format_exception(error)))
        write_status(job.folder, "failed", error=explain(error))
        raise SystemExit(1) from error


def _run(job: Job, connection: Connection, stop: Stop) -> None:
    if job.arm is None:
        _evaluate_base(job)
        connection.send(("done", job.cost))
        return
    train_arm(
        job.config,
        job.arm,
        job.seed,
        job.cache,
        TrainingRun(job.folder),
        lambda steps: connection.send(("done", min(steps, job.cost))),
        stop,
    )


def _evaluate_base(job: Job) -> None:
    """Evaluate the pretrained policy, which is the same for all arms and seeds."""
    if (job.folder / "evaluation.json").exists():
        return
    config = job.config
    model = make_model(config, next(iter(config.arms)), config.pretrain_seed, job.cache)
    job.folder.mkdir(parents=True, exist_ok=True)
    write_evaluation(config.make_task(), model, job.folder, {"arm": BASE, "seed": None})


def _listen(connection: Connection, stop: Stop) -> None:
    try:
        connection.recv()
    except (EOFError, OSError):
        os._exit(1)
    stop.ask()


def explain(error: BaseException) -> str:
    """What people need to know of an error; its kind, too, if it is none of ours."""
    known = isinstance(error, ConfigError | RunError)
    return str(error) if known else f"{type(error).__name__}: {error}"
