"""A control run: all arms with all seeds, side by side, from wherever they were left."""

from __future__ import annotations

import sys
from pathlib import Path

from setrl.control.arm import make_model
from setrl.control.config import ControlConfig
from setrl.control.worker import Job, work
from setrl.runs.claim import cache_folder, claimed
from setrl.runs.pool import run_jobs


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
    with claimed(run_dir, config, overwrite=overwrite):
        jobs = _jobs(config, run_dir, cache_folder(cache), show_progress)
        run_jobs(jobs, work, config.workers, show_progress)
    return run_dir


def _jobs(config: ControlConfig, run_dir: Path, cache: Path, show_progress: bool) -> list[Job]:
    """All arms with one seed before any with the next; first what they all start from."""
    jobs = [
        Job(config=config, run_dir=run_dir, cache=cache, arm=arm, seed=seed)
        for seed in config.seeds
        for arm in config.arms
    ]
    if config.make_task().pretrain is None:
        return jobs
    if show_progress:
        print(f"pretraining what all arms start from, unless it is in {cache}", file=sys.stderr)
    # Pretrained here and once, so that no two processes do it at the same time.
    make_model(config, next(iter(config.arms)), config.pretrain_seed, cache)
    return [Job(config=config, run_dir=run_dir, cache=cache), *jobs]
