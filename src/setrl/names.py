"""Names → values: one message for every name that is not known."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")


def look_up(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The value that a name stands for; unknown names are answered with the near miss and all.

    >>> look_up("method", "grop", {"grpo": 1, "rloo": 2})
    Traceback (most recent call last):
    ValueError: unknown method 'grop'; did you mean 'grpo'? Known: grpo, rloo
    """
    if isinstance(name, str) and name in known:
        return known[name]
    near = get_close_matches(str(name), known, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"unknown {kind} {name!r}{guess} Known: {', '.join(known)}")
