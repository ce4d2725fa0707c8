"""Rows of a task's data: JSON Lines, a JSON array, CSV, Parquet, or a Hugging Face data set.

The fields of a row are found by name or by a path, and put into a template; missing ones are named.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from setrl.logs.rows import Rows
from setrl.samples.conversation import Conversation, message_text
from setrl.support.errors import ConfigError, DataError
from setrl.support.installing import install

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".ndjson", ".csv", ".tsv", ".parquet")
OTHER_SUFFIXES = (".gz", ".txt", ".xlsx", ".xls", ".arrow", ".yaml", ".zip")

OF_SAVE_TO_DISK = ("dataset_dict.json", "dataset_info.json")  # one is in each folder that it wrote

_MISSING = object()
ROLES = ("system", "user", "assistant", "tool")
# {{name}} stays {name}, {{}} stays {}; LaTeX such as \boxed{} and x^{2} is not a field.
_FIELD = re.compile(r"\{\{(?P<kept>\w*)\}\}|\{(?P<field>[A-Za-z_][\w.]*)\}")


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
    return _read_unchanged_file(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _read_unchanged_file(path: Path, _changed: int, size: int) -> ProblemTable:
    rows = Rows(path, remedy="")
    scan = rows.scan() if size else ()  # the split of an empty file says so
    records = [record for batch, _ in scan for record in batch]
    return ProblemTable(str(path), tuple((rows.where(i), row) for i, row in enumerate(records)))


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
        dataset = (
            datasets.load_from_disk(name)
            if any((Path(name) / file).exists() for file in OF_SAVE_TO_DISK)
            else datasets.load_dataset(name, subset)
        )
    except Exception as error:  # offline, gated, renamed: datasets raises a dozen kinds
        reason = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"cannot load the data set {name} ({type(error).__name__}: {reason}); a file of "
            f"problems ends in {', '.join(SUFFIXES)}"
        ) from error
    parts = dataset if isinstance(dataset, dict) else {"train": dataset}
    return {
        split: ProblemTable(
            f"{name}, split {split}",
            tuple((f"{name}, {split} row {i}", row) for i, row in enumerate(part)),
        )
        for split, part in parts.items()
    }


def find_field(row: Mapping[str, Any], field: str, where: str) -> Any:
    """Return the value of a field; "a.b" is the field b inside the field a.

    >>> find_field({"reward_model": {"ground_truth": "18"}}, "reward_model.ground_truth", "x")
    '18'

    Raises:
        DataError: If the row lacks it, with the names of the fields that there are.
    """
    value = _find_value(row, field)
    if value is _MISSING:
        raise DataError(f"{where}: has no field {field!r}; it has {', '.join(row) or 'none'}")
    return value


def has_field(row: Mapping[str, Any], field: str) -> bool:
    """Return whether a row has a field, whatever its value."""
    return _find_value(row, field) is not _MISSING


def _find_value(row: Mapping[str, Any], field: str) -> Any:
    value: Any = row.get(field, _MISSING)
    if value is _MISSING and "." in field:
        value = row
        for part in field.split("."):
            value = value.get(part, _MISSING) if isinstance(value, Mapping) else _MISSING
    return value


def first_known(fields: Sequence[str], usual: Sequence[str]) -> str | None:
    """Return the first of the usual names that is a field."""
    return next((name for name in usual if name in fields), None)


def template_fields(template: str) -> list[str]:
    r"""Return the fields that a template names; an empty list for the name of a field.

    >>> template_fields("{question} Answer in \\boxed{}."), template_fields("question")
    (['question'], [])
    """
    return [match["field"] for match in _FIELD.finditer(template) if match["field"]]


def fill_template(template: str, row: Mapping[str, Any], where: str) -> str:
    r"""Return a template with the values of a row; numbers of a list are joined with commas.

    >>> fill_template("{a} + {b.c} = \\boxed{} {{a}}", {"a": [1, 3], "b": {"c": 2}}, "x.jsonl:1")
    '1, 3 + 2 = \\boxed{} {a}'
    """

    def text(match: re.Match[str]) -> str:
        if match["field"] is None:
            return f"{{{match['kept']}}}"
        value = find_field(row, match["field"], where)
        if is_numbers(value):
            return ", ".join(map(str, value))
        return as_prompt(value, match["field"], where)

    return _FIELD.sub(text, template)


def is_numbers(value: Any) -> bool:
    """Return whether a value is a list of numbers, which a template joins with commas."""
    return isinstance(value, list) and bool(value) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_prompt(value: Any, field: str, where: str) -> str:
    """Return a prompt, or a part of it, as text.

    A single message of a user is its text; several messages are a `Conversation`.

    Raises:
        DataError: If a prompt cannot hold the value.
    """
    if why := why_no_prompt(value):
        shown = textwrap.shorten(repr(value), 80, placeholder=" …")
        raise DataError(f"{where}: the field {field!r} {why}, got {shown}")
    if isinstance(value, str) or _is_number(value):
        return str(value)
    only = value[0] if len(value) == 1 else {}
    is_plain = only.get("role") == "user" and isinstance(only.get("content"), str)
    return str(only["content"]) if is_plain else Conversation(value)


def why_no_prompt(value: Any) -> str | None:
    """Return why a prompt cannot hold a value; None if it can."""
    if (isinstance(value, str) and value.strip()) or _is_number(value):
        return None
    if value is None or isinstance(value, str) or value == []:
        return "is empty"
    if not isinstance(value, Sequence):
        return "must be a string, a number, or messages"
    if not all(isinstance(message, Mapping) and message.get("role") in ROLES for message in value):
        return f"must be a string, a number, or messages with a role of {', '.join(ROLES)}"
    if value[-1]["role"] == "assistant" or not message_text(value[-1]).strip():
        return "ends with an answer or an empty message, to which no model can reply"
    return None
