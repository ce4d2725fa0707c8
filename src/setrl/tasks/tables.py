"""Rows of a task's data: JSON Lines, a JSON array, CSV, Parquet, or a Hugging Face data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from setrl.logs.rows import Rows
from setrl.support.errors import ConfigError
from setrl.support.installing import install

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".ndjson", ".csv", ".tsv", ".parquet")
OTHER_SUFFIXES = (".gz", ".txt", ".xlsx", ".xls", ".arrow", ".yaml", ".zip")

OF_SAVE_TO_DISK = ("dataset_dict.json", "dataset_info.json")  # one is in each folder that it wrote


@dataclass(frozen=True)
class ProblemTable:
    """Rows of one file or of one split of a data set.

    Attributes:
        where: The file or the data set, for messages.
        rows: The rows, in order; each knows its place for messages.
    """

    where: str
    rows: tuple[tuple[str, Mapping[str, Any]], ...]

    @property
    def fields(self) -> list[str]:
        """The names of all fields, in the order in which they first appear."""
        return list(dict.fromkeys(key for _, row in self.rows for key in row))


def is_file(name: object) -> bool:
    """Return whether a value names a file of problems, not a data set, a split or a size."""
    return isinstance(name, str) and name.endswith(SUFFIXES)


def refuse_other_file(path: Path) -> None:
    """Refuse a file of another kind, which cannot be the name of a data set.

    Raises:
        ConfigError: If it is one.
    """
    if path.suffix.lower() in OTHER_SUFFIXES or path.is_file():
        raise ConfigError(
            f"{path}: a file of problems ends in {', '.join(SUFFIXES)}: save this one as such a "
            "file first"
        )


def read_file(path: Path) -> ProblemTable:
    """Return the rows of a file.

    Raises:
        ConfigError: If the file is missing.
        DataError: If it is damaged, or of no known kind.
    """
    try:
        stat = path.stat()
    except OSError:
        raise ConfigError(f"{path}: no such file") from None
    return _read_file(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _read_file(path: Path, _changed: int, size: int) -> ProblemTable:
    rows = Rows(path, remedy="")
    records = [record for record, _ in rows.scan()] if size else []  # whose split says so
    return ProblemTable(str(path), tuple((rows.where(i), one) for i, one in enumerate(records)))


@lru_cache(maxsize=4)
def read_dataset(name: str, subset: str | None) -> dict[str, ProblemTable]:
    """Return the splits of a Hugging Face data set, by the name on the hub or by a folder.

    Raises:
        ConfigError: If it cannot be loaded.
    """
    try:
        import datasets
    except ImportError:
        raise ConfigError(f"the data set {name} needs datasets: {install('train')}") from None
    try:
        found = (
            datasets.load_from_disk(name)
            if any((Path(name) / one).exists() for one in OF_SAVE_TO_DISK)
            else datasets.load_dataset(name, subset)
        )
    except Exception as error:  # offline, gated, renamed: datasets raises a dozen kinds
        reason = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"cannot load the data set {name} ({type(error).__name__}: {reason}); a file of "
            f"problems ends in {', '.join(SUFFIXES)}"
        ) from error
    parts = found if isinstance(found, dict) else {"train": found}
    return {
        split: ProblemTable(
            f"{name}, split {split}",
            tuple((f"{name}, {split} row {i}", row) for i, row in enumerate(part)),
        )
        for split, part in parts.items()
    }
