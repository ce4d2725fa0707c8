"""`run_comparison`: the base model, every arm with every seed, their evaluation, and the report."""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

import torch
from accelerate import PartialState

from setrl import files
from setrl.lm.arm import check_judges, check_model, check_problems, check_trainer_options, train_arm
from setrl.lm.base_model import base_model
from setrl.lm.callbacks import StopInOrder
from setrl.lm.config import ComparisonConfig
from setrl.lm.worker import Job, quiet, work
from setrl.logs.run_folder import TrainingRun
from setrl.report import write_report
from setrl.runs.claim import cache_folder, claimed
from setrl.runs.pool import run_jobs


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
    cache = cache_folder(cache)
    quiet()
    check_trainer_options(config)
    check_model(config)
    check_problems(config)
    check_judges(config)
    if "RANK" in os.environ:
        return _run_on_all_processes(config, run_dir, overwrite, cache)
    with claimed(run_dir, config, overwrite=overwrite):
        base = _prepare_base(config, run_dir, cache, show_progress)
        run_jobs(_jobs(config, run_dir, base), work, config.workers, show_progress)
        return write_report(run_dir)


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
    jobs = [
        Job(config=config, run_dir=run_dir, base=base, arm=arm, seed=seed)
        for seed in config.seeds
        for arm in config.arms
    ]
    if not config.eval_splits:
        return jobs
    return [*jobs, Job(config=config, run_dir=run_dir, base=base)]


def _run_on_all_processes(
    config: ComparisonConfig, run_dir: Path, overwrite: bool, cache: Path
) -> Path:
    state = PartialState(cpu=not torch.cuda.is_available())
    claim = claimed(run_dir, config, overwrite=overwrite)
    with claim if state.is_main_process else nullcontext():
        with state.main_process_first():
            base = _prepare_base(config, run_dir, cache, state.is_main_process)
        stop = StopInOrder(config.num_iterations)
        for job in _jobs(config, run_dir, base):
            if job.arm is not None:
                run = TrainingRun(job.folder)
                train_arm(config, job.arm, job.seed, base, run, lambda _: None, stop)
        state.wait_for_everyone()
        return write_report(run_dir) if state.is_main_process else run_dir / "report.html"
