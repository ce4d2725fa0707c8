"""A control run: all arms with all seeds, side by side, from wherever they were left."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setrl.control.arm import make_model
from setrl.control.config import ControlConfig, load_config
from setrl.control.worker import Job, explain, work
from setrl.errors import ConfigError, RunError
from setrl.runs import files
from setrl.runs.pool import run_jobs
from setrl.runs.run_directory import provenance, write_status

CACHE = "SETRL_CACHE"
KIND = "control"  # in run.json: what kind of run a folder holds


def run_control(
    config: ControlConfig,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train and evaluate all arms of a control config with all its seeds.

    What is done already is not done again: an interrupted run goes on from its last checkpoints
    and ends with the same weights as one that was never interrupted.

    Args:
        config: The run.
        run_dir: Its folder; made if missing.
        overwrite: Remove the run that is there, and start anew.
        cache: Folder of pretrained policies; by default $SETRL_CACHE, or ~/.cache/setrl.
        show_progress: Whether to draw a progress bar.

    Returns:
        The folder.

    Raises:
        ConfigError: If the folder holds a run with another config, or something else.
        RunError: If an arm failed; the others were trained all the same.
        KeyboardInterrupt: After Ctrl-C, when all checkpoints are written.
    """
    run_dir = Path(run_dir)
    cache = Path(cache or os.environ.get(CACHE) or Path.home() / ".cache" / "setrl")
    with _claimed(config, run_dir, overwrite):
        run_jobs(_jobs(config, run_dir, cache), work, config.workers, show_progress)
    return run_dir


def _jobs(config: ControlConfig, run_dir: Path, cache: Path) -> list[Job]:
    """All arms with one seed before any with the next; first what they all start from."""
    jobs = [Job(config, run_dir, cache, arm, seed) for seed in config.seeds for arm in config.arms]
    if config.make_task().pretrain is None:
        return jobs
    # Pretrained here and once, so that no two processes do it at the same time.
    make_model(config, next(iter(config.arms)), config.pretrain_seed, cache)
    return [Job(config, run_dir, cache), *jobs]


@contextmanager
def _claimed(config: ControlConfig, run_dir: Path, overwrite: bool) -> Iterator[None]:
    """The run directory for this process alone, with the config and the status of the run in it."""
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{run_dir}: another process is at this run") from error
        _check_folder(config, run_dir, overwrite)
        files.write_text(run_dir / "config.yaml", config.to_yaml())
        write_status(run_dir, "running", kind=KIND, name=config.name, **provenance())
        try:
            yield
        except KeyboardInterrupt:
            write_status(run_dir, "interrupted")
            raise
        except Exception as error:
            write_status(run_dir, "failed", error=explain(error))
            raise
        write_status(run_dir, "finished")


def _check_folder(config: ControlConfig, run_dir: Path, overwrite: bool) -> None:
    """Refuse a folder with another run, or with what is no run; empty it if told to."""
    there = [path for path in run_dir.iterdir() if path.name != ".lock"]
    if not there:
        return
    if files.read_json(run_dir / "run.json").get("kind") != KIND:
        raise ConfigError(f"{run_dir} is not empty and holds no control run: give another folder")
    if overwrite:
        for path in there:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif differences := load_config(run_dir / "config.yaml").differences(config):
        raise ConfigError(
            f"{run_dir} holds a run with another config:\n  "
            + "\n  ".join(differences)
            + "\ngive another --run-dir, or --overwrite to remove that run and start anew"
        )
