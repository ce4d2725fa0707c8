"""A run's folder, claimed by one process at a time; its config may gain only arms and seeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from setrl.logs.run import CONFIG, RECORD, Run
from setrl.support import files
from setrl.support.errors import ConfigError, RunError, explain
from setrl.support.files.locks import locked
from setrl.support.files.written import remove_written
from setrl.support.wording import first_of
from setrl.train.runs.config import RunConfig
from setrl.train.runs.provenance import provenance
from setrl.train.runs.resume import Status, write_status
from setrl.train.runs.written import REPORT, refuse_page_of_others, run_tree

try:
    import fcntl
except ImportError as error:
    raise ConfigError(
        "a run locks its folder with fcntl, which this system lacks: use Linux or macOS; on "
        "Windows, WSL"
    ) from error

LOCK = ".lock"


@contextmanager
def claimed(run_dir: Path, config: RunConfig, *, overwrite: bool = False) -> Iterator[None]:
    """Hold a run's folder for only this process, and keep the run's config and status in it.

    Args:
        run_dir: The folder; made if missing.
        config: The config of the run; if the folder holds a run, it must be the same, up to arms
            and seeds that are added.
        overwrite: Remove the run of this kind in the folder, but no file that setrl did not write.

    Raises:
        ConfigError: If the folder holds a run with another config, or something else.
        RunError: If another process holds it, or files cannot be written.
    """
    refuse_other_run(run_dir, config, overwrite)  # before a lock is put into a folder of others
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        with _lock_folder(run_dir):
            _check_folder(run_dir, config, overwrite)
            files.write_text(run_dir / CONFIG, config.to_yaml())
            write_status(run_dir, "running", name=config.name, kind=config.kind, **provenance())
            with _write_status_at_end(run_dir):
                yield
    except OSError as error:
        raise RunError(f"{explain(error)}; once fixed, the same command resumes the run") from error


@contextmanager
def _lock_folder(run_dir: Path) -> Iterator[None]:
    remedy = "is running it: wait for it, or give another folder"
    with locked(run_dir / LOCK, remedy, holder=run_dir):
        yield


def is_claimed(run_dir: Path) -> bool:
    """Whether a process holds a run's folder; nothing is written."""
    try:
        with (run_dir / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is no lock, or no folder
        return False
    return False


@contextmanager
def _write_status_at_end(run_dir: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _write_status_if_recorded(run_dir, "interrupted")
        raise
    except BaseException as error:  # code of a user may raise anything, `SystemExit` too
        with suppress(OSError):  # on a full disk the first error says more
            _write_status_if_recorded(run_dir, "failed", error=explain(error))
        raise
    if not _write_status_if_recorded(run_dir, "finished"):
        raise RunError(f"{run_dir / RECORD} is missing: it was removed while the run went on")


def _write_status_if_recorded(run_dir: Path, status: Status, **about: Any) -> bool:
    """Write the status into the run's record, unless somebody removed the record or the folder."""
    if not (run_dir / RECORD).exists():
        return False
    write_status(run_dir, status, **about)
    return True


def _check_folder(run_dir: Path, config: RunConfig, overwrite: bool) -> None:
    """Refuse a folder with another run, or without a run of setrl; remove this run if asked to."""
    held_config = refuse_other_run(run_dir, config, overwrite)
    if held_config is not None and overwrite:
        remove_written(run_dir, run_tree(held_config.arms))


def refuse_other_run(run_dir: Path, config: RunConfig, overwrite: bool = False) -> RunConfig | None:
    """Refuse a folder with another run, or without a run of setrl; nothing is written or removed.

    Returns:
        The config of the run in the folder; None if the folder has no run.

    Raises:
        ConfigError: If the folder holds something else, or another run that is to stay.
    """
    _refuse_undecodable(run_dir)
    if run_dir.exists() and not run_dir.is_dir():
        raise ConfigError(f"{run_dir} is a file: give a folder for the run")
    paths = run_dir.iterdir() if run_dir.is_dir() else ()
    content = sorted(path.name for path in paths if path.name != LOCK)
    if not content:
        return None
    kind = Run(run_dir).kind
    if kind is None or not (run_dir / CONFIG).exists():
        raise ConfigError(
            f"{run_dir} is not empty and holds no run of setrl ({first_of(content, 3)}): "
            "give another folder"
        )
    if kind != config.kind:
        raise ConfigError(
            f"{run_dir} holds a {kind} run, not a {config.kind} run: give another folder"
        )
    refuse_page_of_others(run_dir / REPORT)
    held_config = config.load(run_dir / CONFIG)
    if not overwrite and (differences := held_config.differences(config)):
        raise ConfigError(
            f"{run_dir} holds a run with another config:\n  "
            + "\n  ".join(differences)
            + "\ngive another --run-dir, or --overwrite to remove that run and start again "
            "(only arms and seeds can be added to a run)"
        )
    return held_config


def _refuse_undecodable(run_dir: Path) -> None:
    try:
        os.fsencode(run_dir.absolute()).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{run_dir.absolute()}: this path is not UTF-8, and tokenizers and safetensors open no "
            "file in it: give another folder"
        ) from error
