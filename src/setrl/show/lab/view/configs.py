"""How two configs differ: the keys whose values are not the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MISSING = "–"


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of two configs whose values differ, as text, and how many are equal.

    >>> differences({"arms": {"a": {"k": 4}}, "steps": 2}, {"arms": {"a": {"k": 8}}, "steps": 2})
    {'different': [['arms.a.k', '4', '8']], 'equal': 1}
    """
    one, other = dict(_flat(first)), dict(_flat(second))
    keys = list(dict.fromkeys((*one, *other)))
    rows = [[key, one.get(key, MISSING), other.get(key, MISSING)] for key in keys]
    different = [row for row in rows if row[1] != row[2]]
    return {"different": different, "equal": len(rows) - len(different)}


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path and text of every value; an empty mapping or list is a value."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, str(value)
