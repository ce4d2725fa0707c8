"""Recorded figures against new ones, one line a difference.

A file has the parts "exact", equal to the bit, and "close", numbers equal to 1e-12. On a machine
with other versions or another processor, hashes (the key "bits") are left out and all numbers are
compared to 1e-3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

CLOSE, ELSEWHERE = 1e-12, 1e-3


def differences(
    old: dict[str, Any], new: dict[str, Any], renamed: Mapping[str, str], same_machine: bool
) -> Iterator[str]:
    """A line for each difference: where it is, the recorded value and the new one."""
    for part, usual in (("exact", 0.0), ("close", CLOSE)):
        tolerance = usual if same_machine else ELSEWHERE
        names = {key: renamed.get(key, key) for key in _keys(old.get(part, {}))}
        yield from _compare(f"/{part}", old.get(part, {}), new.get(part, {}), names, tolerance)


def _keys(tree: Any) -> set[str]:
    """All keys, at all depths."""
    if isinstance(tree, dict):
        return set(tree).union(*map(_keys, tree.values()))
    return set().union(*map(_keys, tree)) if isinstance(tree, list) else set()


def _compare(
    at: str, old: Any, new: Any, names: Mapping[str, str], tolerance: float
) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _compare_dicts(at, old, new, names, tolerance)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _compare(f"{at}[{place}]", one, other, names, tolerance)
    elif not _same(old, new, tolerance):
        yield f"{at}: {_short(old)} → {_short(new)}"


def _compare_dicts(
    at: str, old: dict[str, Any], new: dict[str, Any], names: Mapping[str, str], tolerance: float
) -> Iterator[str]:
    now = {names[key]: value for key, value in old.items()}
    for key in now.keys() | new.keys():
        if key == "bits" and tolerance == ELSEWHERE:
            continue
        if key not in now or key not in new:
            yield f"{at}/{key}: {'is new' if key in new else 'is gone'}"
        else:
            yield from _compare(f"{at}/{key}", now[key], new[key], names, tolerance)


def _same(old: Any, new: Any, tolerance: float) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int) and tolerance:
        return isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)
    return bool(old == new) or (old != old and new != new)  # NaN is NaN


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
