"""What `setrl credit` says in a row: the method of each column of advantages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeGuard

from setrl.logs.paths import value_at
from setrl.support.wording import plural

CREDIT = "credit"  # the key of a row


def credit_record(row: Mapping[str, Any], list_path: str | None = None) -> dict[str, Any]:
    """Return column of advantages → its method, its arguments, and whether the group was skipped.

    Earlier versions wrote one record for the whole row. It describes the column that they added
    last: advantage_METHOD if the samples have it, otherwise advantage.

    >>> said = {"method": "maxpo", "set_size": 4, "skipped": False}
    >>> [*credit_record({"advantage": 0.1, "credit": {"advantage": said}})]
    ['advantage']
    >>> [*credit_record({"advantage": 0.1, "advantage_maxpo": 0, "credit": said})]
    ['advantage_maxpo']

    Args:
        row: The row, or one object of its list.
        list_path: The field of the list of objects that are samples; None if the row has none.
    """
    said = row.get(CREDIT)
    if not isinstance(said, dict):
        return {}
    columns = {key: one for key, one in said.items() if is_of_method(one)}
    earlier = {key: one for key, one in said.items() if key not in columns}
    if not is_of_method(earlier):
        return said
    own = f"advantage_{earlier['method']}"
    is_own = own not in columns and bool({own, plural(own)} & {*_sample(row, list_path)})
    return {own if is_own else "advantage": earlier, **columns}


def is_of_method(said: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether `setrl credit` wrote it of one column."""
    return isinstance(said, dict) and {"method", "skipped"} <= said.keys()


def _sample(row: Mapping[str, Any], list_path: str | None) -> Mapping[str, Any]:
    """Return the first object of a row that holds a sample."""
    found: Any = row
    with suppress(KeyError, IndexError):
        found = row if list_path is None else value_at(row, list_path)
        found = found[0] if isinstance(found, list) else found
    return found if isinstance(found, dict) else {}
