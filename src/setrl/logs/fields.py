"""What the readers of logs share: files, lines, and fields that may not be there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setrl.samples.values import read_answer, read_count, read_score
from setrl.support.errors import ConfigError, DataError


def log_files(path: Path, patterns: Sequence[str]) -> list[Path]:
    """Return a file, or the files of a folder that match one of the patterns.

    Raises:
        DataError: When no file matches.
    """
    if not path.is_dir():
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
        return [path]
    found = sorted({file for pattern in patterns for file in path.glob(pattern)})
    if not found:
        raise DataError(f"{path}: no {' or '.join(patterns)} in it")
    return found


def field(record: Any, key: str, where: str) -> Any:
    """Return a field that must be there.

    Raises:
        DataError: Naming the fields that the record has.
    """
    try:
        return record[key]
    except (KeyError, TypeError):
        keys = ", ".join(record) if isinstance(record, dict) else type(record).__name__
        raise DataError(f"{where}: has no {key!r}; it has {keys}") from None


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn the error of a record that its tool would not write into a data error.

    Raises:
        DataError: Instead of the error that Python raises.
    """
    try:
        yield
    except (ConfigError, DataError):
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(
            f"{where}: is not of the form that the tool writes ({type(error).__name__}: {error})"
        ) from error


def whole(record: Any, key: str, where: str) -> int:
    """Return a whole number that must be there, such as a step.

    Raises:
        DataError: When it is not there, or something else.
    """
    found = read_count(field(record, key, where))
    if found is None:
        raise DataError(f"{where}: {key} must be a whole number, got {record[key]!r}")
    return found


def choose_score(names: Sequence[str], wanted: str | None, where: str) -> str:
    """Return the one score of a log, or the one that is wanted.

    Raises:
        ConfigError: When there are several and none is named, or the named one is not there.
    """
    if wanted is not None:
        if wanted not in names:
            raise ConfigError(f"{where} has no score {wanted!r}; it has {', '.join(names)}")
        return wanted
    if len(names) != 1:
        found = f"has the scores {', '.join(names)}" if names else "has no scores"
        raise ConfigError(f"{where} {found}: name one with --reward")
    return names[0]


def number(value: Any, where: str) -> float | None:
    """Return a score as a number, or a verdict as 1 or 0; None if it is unknown.

    Raises:
        DataError: When it is neither.
    """
    try:
        return read_score(value)
    except ValueError as error:
        raise DataError(f"{where}: a score must be {error}") from None


def text_of(value: Any) -> str | None:
    """Return a gold, an id or a setting as text; None for null and NaN.

    >>> text_of(3.0), text_of("7/2"), text_of(None), text_of(["7", "7.0"])
    ('3', '7/2', None, "['7', '7.0']")
    """
    if isinstance(value, str):
        return value
    try:
        return read_answer(value)
    except ValueError:  # some golds are lists
        return str(value)
