"""Fingerprints of a run's problems, by which a changed file of problems is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.tasks import Task

TASK = "task.json"  # in the folder of the base


def digests(task: Task, splits: Sequence[str], path: Path) -> dict[str, str]:
    """Return the fingerprint of each split, with the fingerprints that a file holds already.

    Raises:
        ConfigError: If the problems of a split are not those that the run began with.
    """
    known: dict[str, str] = files.read_json(path).get("digests", {})
    found = {split: task.digest(split) for split in splits}
    for split, digest in found.items():
        if known.get(split, digest) != digest:
            raise ConfigError(
                f"the problems of the split {split!r} of {task.name} have changed since this "
                "run began: put the file back, or give another --run-dir"
            )
    return {**known, **found} if any(found.values()) else {}


def keep_digests(task: Task, splits: Sequence[str], path: Path) -> None:
    """Write the fingerprints of a run that begins or goes on."""
    if found := digests(task, splits, path):
        files.write_json(path, {"schema_version": 1, "digests": found})
