"""What a value in a log may be: a verdict, text, a name, a number, or a list of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setrl.samples.conversation import is_messages, prompt_text
from setrl.samples.values import read_answer, read_count, read_score, read_tokens, written_number


def all_are(values: Mapping[int, Any], is_one: Callable[[Any], bool]) -> bool:
    """Return whether a column has values, and all values that are not null have the kind."""
    present = [value for value in values.values() if value is not None]
    return bool(present) and all(map(is_one, present))


def or_list(is_one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of a value, or of every value in a list."""

    def is_it(value: Any) -> bool:
        if isinstance(value, list) and not is_messages(value):
            return bool(value) and all(item is None or is_one(item) for item in value)
        return is_one(value)

    return is_it


def is_list_of_objects(value: Any) -> bool:
    """Return whether a value is a list of objects other than messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
        and not is_messages(value)
    )


def is_text(value: Any) -> bool:
    """Return whether a value is text or a conversation."""
    return isinstance(value, str) or is_messages(value)


def is_label(value: Any) -> bool:
    """Return whether a value is text or a number, true and false among them."""
    return isinstance(value, str | int | float)


def is_name(value: Any) -> bool:
    """Return whether a value may name a problem: text, a number, or a conversation."""
    return (isinstance(value, str | int | float) and not isinstance(value, bool)) or is_messages(
        value
    )


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number from 0, or its digits; true and false are not."""
    return not _why_unreadable(read_count, value)


def is_tokens(value: Any) -> bool:
    """Return whether a value is a number of tokens, the tokens themselves, or a list of either."""
    if isinstance(value, list):
        return not value or is_tokens(value[0])
    return is_whole(value)


def tokens_in(record: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Return how many tokens a record of a sample has, under the first of some names."""
    by_name = {plain_name(key): value for key, value in record.items()}
    return next((count for name in names if (count := read_tokens(by_name.get(name))) is not None),
                None)  # fmt: skip


def plain_name(path: str) -> str:
    """Return the last part of a field's path in plain letters."""
    return re.sub(r"[^a-z0-9]", "", path.rpartition(".")[2].lower())


def is_verdict(value: Any) -> bool:
    """Return whether a value may say that a sample is correct or wrong."""
    return not why_no_verdict(value)


def why_no_verdict(value: Any) -> str:
    """Return why a value cannot say whether a sample is correct; empty if it can."""
    return _why_unreadable(read_score, value)


def _why_unreadable(read: Callable[[Any], Any], value: Any) -> str:
    """Return why a reader refuses a value; empty if it does not."""
    try:
        read(value)
    except ValueError as error:
        return str(error)
    return ""


def kind(value: Any) -> str:
    """Return the kind of a verdict, in words."""
    example = value[0] if isinstance(value, list) and value else value
    if isinstance(example, bool):
        return "true or false"
    return "a word" if math.isnan(written_number(str(example))) else "a number"


def shown(value: Any) -> str:
    """Return a value in one short line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if is_messages(value):
        text = prompt_text(value)
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:39]}…"


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


def group_name(values: Sequence[Any]) -> str:
    """Return the name of a group; 7, 7.0 and "7" are one.

    Raises:
        ValueError: If a part of it is missing.
    """
    parts = []
    for value in values:
        part = prompt_text(value) if is_messages(value) else text_of(value)
        if part is None or isinstance(value, bool | dict) or (isinstance(value, list) and (
            not is_messages(value))):  # fmt: skip
            raise ValueError(f"the group must be text or a number, got {json.dumps(value)}")
        parts.append(part)
    return "/".join(parts)
