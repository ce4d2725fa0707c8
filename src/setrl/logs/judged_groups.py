"""Samples that were logged, as groups that a judge can be asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setrl.errors import DataError
from setrl.files import json_lines
from setrl.logs.groups import Line, read_line

PROMPT_KEYS = ("prompt", "problem", "question")
TEXT_KEYS = ("text", "sample", "completion", "response", "output", "generation", "final")


@dataclass(frozen=True)
class TextKeys:
    """The keys of a file's texts; None looks for the usual ones.

    Attributes:
        text: Of a sample's text.
        prompt: Of a line's prompt.
        group: Of the group that a line belongs to.
    """

    text: str | None = None
    prompt: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class LoggedGroup:
    """One group, and the lines of the file that hold it.

    Attributes:
        prompt: The prompt.
        texts: The texts of its samples.
        records: The lines as they are in the file.
        lines: The lines as they are read; together they have a sample for each text, in order.
    """

    prompt: str
    texts: tuple[str, ...]
    records: tuple[dict[str, Any], ...]
    lines: tuple[Line, ...]

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The samples as the file has them."""
        return [sample for line in self.lines for sample in line.samples]


def read_logged(path: Path, keys: TextKeys) -> list[LoggedGroup]:
    """The groups of a file in the order of their first lines; `setrl.logs.groups` has the forms.

    A text that is null is "", a number is written out.

    Raises:
        DataError: Naming the file, the line, and the key that is missing.
    """
    records: dict[str, list[dict[str, Any]]] = {}
    lines: dict[str, list[Line]] = {}
    groups: dict[str, tuple[str, list[str]]] = {}
    for number, _, record in json_lines.read(path):
        try:
            line = read_line(record, keys.group, default_name=f"line {number}")
            prompt = _text(record, keys.prompt, PROMPT_KEYS, "line", "prompt")
            texts = [_text(one, keys.text, TEXT_KEYS, "sample", "text") for one in line.samples]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}:{number}: {error.args[0]}") from None
        known, all_texts = groups.setdefault(line.name, (prompt, []))
        if known != prompt:
            raise DataError(f"{path}:{number}: group {line.name!r} has two different prompts")
        all_texts.extend(texts)
        records.setdefault(line.name, []).append(record)
        lines.setdefault(line.name, []).append(line)
    if not groups:
        raise DataError(f"{path} holds no groups")
    return [
        LoggedGroup(prompt, tuple(texts), tuple(records[name]), tuple(lines[name]))
        for name, (prompt, texts) in groups.items()
    ]


def _text(
    record: Mapping[str, Any], key: str | None, usual: Sequence[str], owner: str, what: str
) -> str:
    found = next((name for name in ((key,) if key else usual) if name in record), None)
    if found is None:
        wanted = repr(key) if key else " or ".join(map(repr, usual))
        raise KeyError(
            f"a {owner} has no {wanted}; name its key with --{what}. "
            f"It has {', '.join(map(repr, record))}"
        )
    value = record[found]
    if not isinstance(value, str | int | float | None):
        raise TypeError(f"{found} must be a text, got {type(value).__name__}")
    return "" if value is None else str(value)
