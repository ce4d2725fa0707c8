"""Fields of a row: found by name or by a path, put into a template, and missing ones named."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from setrl.samples.conversation import Conversation, message_text
from setrl.support.errors import DataError

_MISSING = object()
ROLES = ("system", "user", "assistant", "tool")
# {{name}} stays {name}, {{}} stays {}; LaTeX such as \boxed{} and x^{2} is not a field.
_FIELD = re.compile(r"\{\{(?P<kept>\w*)\}\}|\{(?P<field>[A-Za-z_][\w.]*)\}")


def find(row: Mapping[str, Any], field: str, where: str) -> Any:
    """Return the value of a field; "a.b" is the field b inside the field a.

    >>> find({"reward_model": {"ground_truth": "18"}}, "reward_model.ground_truth", "x.jsonl:1")
    '18'

    Raises:
        DataError: If the row lacks it, with the names of the fields that there are.
    """
    value = _found(row, field)
    if value is _MISSING:
        raise DataError(f"{where}: has no field {field!r}; it has {', '.join(row) or 'none'}")
    return value


def has(row: Mapping[str, Any], field: str) -> bool:
    """Return whether a row has a field, whatever its value."""
    return _found(row, field) is not _MISSING


def _found(row: Mapping[str, Any], field: str) -> Any:
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
    return [found["field"] for found in _FIELD.finditer(template) if found["field"]]


def filled(template: str, row: Mapping[str, Any], where: str) -> str:
    r"""Return a template with the values of a row; numbers of a list are joined with commas.

    >>> filled("{a} + {b.c} = \\boxed{} {{a}}", {"a": [1, 3], "b": {"c": 2}}, "x.jsonl:1")
    '1, 3 + 2 = \\boxed{} {a}'
    """

    def text(found: re.Match[str]) -> str:
        if found["field"] is None:
            return f"{{{found['kept']}}}"
        value = find(row, found["field"], where)
        if is_numbers(value):
            return ", ".join(map(str, value))
        return as_text(value, found["field"], where)

    return _FIELD.sub(text, template)


def is_numbers(value: Any) -> bool:
    """Return whether a value is a list of numbers, which a template joins with commas."""
    return isinstance(value, list) and bool(value) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(value: Any, field: str, where: str) -> str:
    """Return a prompt, or a part of it, as text.

    A single message of a user is its text; several messages are a `Conversation`.

    Raises:
        DataError: If a prompt cannot hold the value.
    """
    if why := why_no_text(value):
        shown = textwrap.shorten(repr(value), 80, placeholder=" …")
        raise DataError(f"{where}: the field {field!r} {why}, got {shown}")
    if isinstance(value, str) or _is_number(value):
        return str(value)
    only = value[0] if len(value) == 1 else {}
    is_plain = only.get("role") == "user" and isinstance(only.get("content"), str)
    return str(only["content"]) if is_plain else Conversation(value)


def why_no_text(value: Any) -> str | None:
    """Return why a prompt cannot hold a value; None if it can."""
    if (isinstance(value, str) and value.strip()) or _is_number(value):
        return None
    if value is None or isinstance(value, str) or value == []:
        return "is empty"
    if not isinstance(value, Sequence):
        return "must be a string, a number, or messages"
    if not all(isinstance(one, Mapping) and one.get("role") in ROLES for one in value):
        return f"must be a string, a number, or messages with a role of {', '.join(ROLES)}"
    if value[-1]["role"] == "assistant" or not message_text(value[-1]).strip():
        return "ends with an answer or an empty message, to which no model can reply"
    return None
