"""What a training run writes about itself, and from where it goes on after an interruption."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from setrl.logs.run import RECORD, SCHEMA_VERSION, Seed
from setrl.support import files
from setrl.support.errors import DataError, RunError
from setrl.support.files import json_lines
from setrl.support.files.digests import changed_file, changed_files, digest, digests
from setrl.support.files.written import remove_written
from setrl.train.runs.written import CHECKPOINT, COMPLETE, GIVEN_UP

LOGGED = "logged"  # in the record of a training run: fingerprints of its rollouts

log = logging.getLogger(__name__)

Status = Literal["running", "finished", "failed", "interrupted"]


def write_status(folder: Path, status: Status, **about: Any) -> None:
    """Write a folder's run.json: when it was created, its status, and further facts."""
    path = folder / RECORD
    now = datetime.now(UTC).isoformat(timespec="seconds")
    old = files.read_json(path)
    created = {"schema_version": SCHEMA_VERSION, "created": old.get("created", now)}
    error = {} if status == "failed" else {"error": None}
    files.write_json(path, {**old, **created, "status": status, "changed": now, **error, **about})


def last_checkpoint(run: Seed) -> int | None:
    """Return the step of the latest complete checkpoint, or None."""
    complete = [step for step, folder in run.checkpoints.items() if _is_complete(folder)]
    return complete[-1] if complete else None


def usable_checkpoint(run: Seed) -> Path | None:
    """Return the latest complete checkpoint that can be resumed, or None.

    Its files, and the metrics until its step, are what they were when it was written. Later
    checkpoints are given up, with a warning that says what is wrong.
    """
    whole, damaged = _find_newest_whole(run)
    for folder, file in damaged.items():
        with suppress(FileNotFoundError):  # another process of this run was first
            (folder / COMPLETE).rename(folder / GIVEN_UP)
        after = whole.name if whole else "the start"
        log.warning("%s is damaged: training repeats the steps after %s", file, after)
    return whole


def _find_newest_whole(run: Seed) -> tuple[Path | None, dict[Path, Path]]:
    """Return the latest checkpoint without damage, and for each later one a damaged file."""
    damaged: dict[Path, Path] = {}
    for folder in filter(_is_complete, reversed(run.checkpoints.values())):
        if (file := _find_damaged_file(run, folder)) is None:
            return folder, damaged
        damaged[folder] = file
    return None, damaged


def _find_damaged_file(run: Seed, checkpoint: Path) -> Path | None:
    """Return the first file that is not what it was when a checkpoint was written."""
    metrics = run.metrics_file
    try:
        record = files.read_json(checkpoint / COMPLETE)
        rows = record["metrics"]
        if (name := changed_file(checkpoint, record["files"])) is not None:
            return checkpoint / name
        is_whole = digest(metrics, rows["bytes"]) == rows["digest"]
    except (OSError, DataError, KeyError, TypeError):
        return checkpoint / COMPLETE if metrics.is_file() else metrics
    return None if is_whole else metrics


def train_on(
    run: Seed,
    mark: Path,
    steps: int,
    on_step: Callable[[int], None],
    train: Callable[[Path | None], int],
    writes: bool = True,
    **about: Any,
) -> bool:
    """Train from the last usable checkpoint, unless all steps are done, and record how it ended.

    Args:
        run: The training run.
        mark: What is there once training is done.
        steps: How many steps there are.
        on_step: Called with the number of steps, if all are done.
        train: Trains from a checkpoint, or from the start, and returns how many steps are done;
            once all are, it writes the mark.
        writes: Whether this process writes the record; of several, one does.
        about: What else the record says.

    Returns:
        Whether all steps are done; False if training was stopped.
    """
    if is_done(run, mark, steps):
        on_step(steps)
        return True
    checkpoint = usable_checkpoint(run)
    if writes:
        remove_incomplete(run)
        write_status(run.path, "running", steps=steps, **about)
    done = train(checkpoint)
    if writes:
        end_run(run, done >= steps, done)
    return done >= steps


def is_done(run: Seed, mark: Path, steps: int) -> bool:
    """Return whether training is done, and its files are what they were.

    If a file is damaged, the steps after the last usable checkpoint are to be done again, which
    writes it again.

    Args:
        run: The training run.
        mark: What is there once training is done.
        steps: All steps: a run that did fewer, which were all at the time, goes on.

    Raises:
        RunError: Naming the damaged file, if no checkpoint is left.
    """
    if not mark.exists():
        return False
    record = files.read_json(run.path / RECORD)
    if record.get("steps", steps) < steps:
        mark.unlink()
        return False
    wrote = record.get("wrote")
    damaged = None if wrote is None else changed_file(run.path, wrote)
    if damaged is None:  # a process may have been killed between the last file and the record
        if wrote is None:
            end_run(run, True, run.last_step)
        else:
            write_status(run.path, "finished")
        for name in changed_logs(run):
            log.warning("%s is missing, or is not what this run wrote", run.path / name)
        return True
    message = f"{run.path / damaged} is missing, or is not what this run wrote"
    checkpoint, _ = _find_newest_whole(run)
    if checkpoint is None:
        raise RunError(
            f"{message}, and no checkpoint is left: put the file back, or remove {run.path} to "
            "train this arm with this seed again"
        )
    log.warning("%s: it is made again from %s", message, checkpoint.name)
    return False


def end_run(run: Seed, finished: bool, step: int) -> None:
    """Record that training ended; of a finished run, also what it wrote, to notice damage."""
    if not finished:
        write_status(run.path, "interrupted", step=step)
        return
    paths = [path for path in run.final.rglob("*") if path.is_file() and path.suffix != ".md"]
    paths += [path for path in (run.metrics_file, run.outcome_file) if path.is_file()]
    about = {"wrote": digests(run.path, paths), LOGGED: digests(run.path, run.rollouts.values())}
    write_status(run.path, "finished", step=step, **about)


def changed_logs(run: Seed) -> list[str]:
    """Return the logged samples of a finished run that are missing or not what it wrote."""
    fingerprints = files.read_json(run.path / RECORD).get(LOGGED)
    return list(changed_files(run.path, fingerprints)) if isinstance(fingerprints, dict) else []


def remove_incomplete(run: Seed) -> None:
    """Remove the checkpoints that were not written completely, up to the last logged step.

    A step is logged before its checkpoint is saved, where only its row may have been cut off: what
    is beyond is of somebody, as are other files than those of checkpoints.
    """
    logged = Seed(run.path).last_step + 1
    for step, folder in run.checkpoints.items():
        was_saved = step <= logged or (folder / GIVEN_UP).exists()
        if was_saved and not _is_complete(folder):
            remove_checkpoint(folder)


def remove_older(run: Seed, kept: int) -> None:
    """Remove all complete checkpoints but the last few."""
    for folder in list(filter(_is_complete, run.checkpoints.values()))[:-kept]:
        remove_checkpoint(folder)


def remove_checkpoint(folder: Path) -> None:
    """Remove what a run wrote into the folder of a checkpoint."""
    remove_written(folder.parent, {folder.name: CHECKPOINT})


def mark_complete(run: Seed, step: int) -> None:
    """Record that the checkpoint of a step was written completely, and what belongs to it."""
    folder, metrics = run.checkpoint(step), run.metrics_file
    rows = {"bytes": metrics.stat().st_size, "digest": digest(metrics)}
    fingerprints = digests(folder, filter(_is_ours, folder.iterdir()))
    files.write_json(folder / COMPLETE, {"files": fingerprints, "metrics": rows})


def truncate(run: Seed, step: int) -> None:
    """Remove the records of later steps, so that a resumed run records them once."""
    run.metrics_file.touch()
    for line in json_lines.read(run.metrics_file, torn="cut"):
        if line.record["step"] > step:
            os.truncate(run.metrics_file, line.start)
            break
    for later, path in run.rollouts.items():
        if later > step:
            path.unlink()


def _is_complete(checkpoint: Path) -> bool:
    return (checkpoint / COMPLETE).exists()


def _is_ours(path: Path) -> bool:
    """Return whether the process that completes a checkpoint wrote this file of it."""
    return path.is_file() and path.name != COMPLETE and not path.match("rng_state_*.pth")
