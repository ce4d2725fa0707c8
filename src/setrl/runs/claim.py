"""A run's folder, for one process at a time and one config for good."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setrl import files
from setrl.errors import ConfigError, RunError, explain
from setrl.logs.run_folder import CONFIG, kind_of, write_status
from setrl.runs.config import RunConfig
from setrl.runs.provenance import provenance
from setrl.runs.written import REPORT, refuse_page_of_others, remove_written, run_tree

LOCK = ".lock"


@contextmanager
def claimed(run_dir: Path, config: RunConfig, *, overwrite: bool = False) -> Iterator[None]:
    """The run directory for this process alone, with the config and the status of the run in it.

    Args:
        run_dir: The folder; made if missing.
        config: The run's, which the folder must have or is given.
        overwrite: Remove the run of this kind that is there; files that setrl did not write stay.

    Raises:
        ConfigError: If the folder holds a run with another config, or something else.
        RunError: If another process is at it, or the disk is full or refuses.
    """
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        with _locked(run_dir):
            _check_folder(run_dir, config, overwrite)
            files.write_text(run_dir / CONFIG, config.to_yaml())
            write_status(run_dir, "running", name=config.name, kind=config.kind, **provenance())
            with _status_at_the_end(run_dir):
                yield
    except OSError as error:
        raise RunError(f"{explain(error)}; the same command goes on from what is kept") from error


@contextmanager
def _locked(run_dir: Path) -> Iterator[None]:
    with (run_dir / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{run_dir}: another process is at this run") from error
        yield


@contextmanager
def _status_at_the_end(run_dir: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        write_status(run_dir, "interrupted")
        raise
    except Exception as error:
        write_status(run_dir, "failed", error=explain(error))
        raise
    write_status(run_dir, "finished")


def _check_folder(run_dir: Path, config: RunConfig, overwrite: bool) -> None:
    """Refuse a folder with another run, or with what is no run; remove this one if asked to."""
    there = sorted(path.name for path in run_dir.iterdir() if path.name != LOCK)
    if not there:
        return
    kind = kind_of(run_dir)
    if kind is None or not (run_dir / CONFIG).exists():
        raise ConfigError(
            f"{run_dir} is not empty and holds no run of setrl ({_first(there)}): "
            "give another folder"
        )
    if kind != config.kind:
        raise ConfigError(
            f"{run_dir} holds a {kind} run, not a {config.kind} run: give another folder"
        )
    refuse_page_of_others(run_dir / REPORT)
    held = config.load(run_dir / CONFIG)
    if overwrite:
        remove_written(run_dir, run_tree(held.arms))
    elif differences := held.differences(config):
        raise ConfigError(
            f"{run_dir} holds a run with another config:\n  "
            + "\n  ".join(differences)
            + "\ngive another --run-dir, or --overwrite to remove that run and start anew"
        )


def _first(names: list[str], most: int = 3) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")
