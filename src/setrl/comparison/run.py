"""`run_comparison`: the base model, every arm with every seed, their evaluation, and the report."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from accelerate import PartialState

from setrl.comparison.worker import Job, explain, quiet, work
from setrl.errors import ConfigError, RunError
from setrl.report import write_report
from setrl.runs import files
from setrl.runs.pool import run_jobs
from setrl.runs.run_directory import TrainingRun, provenance, write_status
from setrl.training.arm import check_judges, check_problems, check_trainer_options, train_arm
from setrl.training.base_model import base_model
from setrl.training.callbacks import StopInOrder
from setrl.training.config import ComparisonConfig, load_config

CACHE = "SETRL_CACHE"  # the environment variable that names the folder of base models


def run_comparison(
    config: ComparisonConfig,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train every arm with every seed, evaluate all, and write the report.

    Launched on several processes (`accelerate launch`, `torchrun`), arms are trained one after
    another by all of them, and evaluation is left to `setrl evaluate`.

    What is done already is not done again: an interrupted comparison goes on from its last
    checkpoints and ends with the same weights as one that was never interrupted.

    Args:
        config: The comparison.
        run_dir: Its folder; made if missing.
        overwrite: Remove the run that is there, and start anew.
        cache: Folder of base models; by default $SETRL_CACHE, or ~/.cache/setrl.
        show_progress: Whether to draw a progress bar.

    Returns:
        The path of the report.

    Raises:
        ConfigError: If the folder holds a run with another config, or something else.
        RunError: If an arm failed; the others were trained all the same.
        KeyboardInterrupt: After Ctrl-C, when all checkpoints are written.
    """
    run_dir = Path(run_dir)
    cache = Path(cache or os.environ.get(CACHE) or Path.home() / ".cache" / "setrl")
    quiet()
    check_trainer_options(config)
    check_problems(config)
    check_judges(config)
    try:
        if "RANK" in os.environ:
            return _run_on_all_processes(config, run_dir, overwrite, cache)
        with _claimed(config, run_dir, overwrite):
            base = _prepare_base(config, run_dir, cache, show_progress)
            run_jobs(_jobs(config, run_dir, base), work, config.workers, show_progress)
            return write_report(run_dir)
    except OSError as error:
        raise RunError(f"{explain(error)}; the same command goes on from what is kept") from error


@contextmanager
def _claimed(config: ComparisonConfig, run_dir: Path, overwrite: bool) -> Iterator[None]:
    """The run directory for this process alone, with the config and the status of the run in it."""
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{run_dir}: another process is running this comparison") from error
        _check_folder(config, run_dir, overwrite)
        files.write_text(run_dir / "config.yaml", config.to_yaml())
        write_status(run_dir, "running", name=config.name, **provenance())
        try:
            yield
        except KeyboardInterrupt:
            write_status(run_dir, "interrupted")
            raise
        except Exception as error:
            write_status(run_dir, "failed", error=explain(error))
            raise
        write_status(run_dir, "finished")


def _check_folder(config: ComparisonConfig, run_dir: Path, overwrite: bool) -> None:
    """Refuse a folder with another run, or with what is no run; empty it if told to."""
    there = [path for path in run_dir.iterdir() if path.name != ".lock"]
    if there and not (run_dir / "config.yaml").exists():
        raise ConfigError(f"{run_dir} is not empty and holds no run: give another folder")
    if there and overwrite:
        for path in there:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif there and (differences := load_config(run_dir / "config.yaml").differences(config)):
        raise ConfigError(
            f"{run_dir} holds a run with another config:\n  "
            + "\n  ".join(differences)
            + "\ngive another --run-dir, or --overwrite to remove that run and start anew"
        )


def _prepare_base(config: ComparisonConfig, run_dir: Path, cache: Path, show_progress: bool) -> str:
    """The folder of the base model in the run directory, or the name of the model in the config."""
    if config.model is not None:
        files.write_json(
            run_dir / "base" / "base.json", {"schema_version": 1, "path": config.model}
        )
        return config.model
    folder = run_dir / "base"
    if not (folder / "config.json").exists():
        made = base_model(config, cache, show_progress)
        with files.writing_folder(folder) as partial:
            shutil.copytree(made, partial, dirs_exist_ok=True)
    return str(folder)


def _jobs(config: ComparisonConfig, run_dir: Path, base: str) -> list[Job]:
    """All arms with one seed before any with the next, so that what is there can be compared."""
    jobs = [Job(config, run_dir, base, arm, seed) for seed in config.seeds for arm in config.arms]
    return [*jobs, Job(config, run_dir, base)] if config.eval_splits else jobs


def _run_on_all_processes(
    config: ComparisonConfig, run_dir: Path, overwrite: bool, cache: Path
) -> Path:
    state = PartialState(cpu=not torch.cuda.is_available())
    claim = _claimed(config, run_dir, overwrite) if state.is_main_process else nullcontext()
    with claim:
        with state.main_process_first():
            base = _prepare_base(config, run_dir, cache, state.is_main_process)
        stop = StopInOrder(config.num_iterations)
        for job in _jobs(config, run_dir, base):
            if job.arm is not None:
                run = TrainingRun(job.folder)
                train_arm(config, job.arm, job.seed, base, run, lambda _: None, stop)
        state.wait_for_everyone()
        return write_report(run_dir) if state.is_main_process else run_dir / "report.html"
