"""Fields of a row: found by name or by a path, put into a template, and missing ones named."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from setrl.errors import DataError

_MISSING = object()
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
        if isinstance(value, list) and value and all(map(_is_number, value)):
            return ", ".join(map(str, value))
        return as_text(value, found["field"], where)

    return _FIELD.sub(text, template)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(value: Any, field: str, where: str) -> str:
    """Return a prompt, or a part of it, as text; a single message of a user is its text.

    Raises:
        DataError: If a prompt cannot hold the value.
    """
    if isinstance(value, str) and value.strip():
        return value
    if _is_number(value):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1:
        [message] = value
        if isinstance(message, Mapping) and message.get("role") == "user":
            return as_text(message.get("content"), f"{field}[0].content", where)
    shown = textwrap.shorten(repr(value), 80, placeholder=" …")
    what = "is empty" if value is None or value == "" or value == [] else f"is {shown}"
    raise DataError(
        f"{where}: the field {field!r} {what}, and must be a string, a number, or one message of a "
        "user (put a system message under `system`)"
    )
