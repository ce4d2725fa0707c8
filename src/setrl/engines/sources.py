"""Where further fields of samples come from: functions of the user, or columns of the data.

A function has the interface of TRL's reward functions and returns one value for each sample; the
function of `pairs` is called with the samples of one prompt and returns a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setrl import names
from setrl.engines.functions import checked_field
from setrl.errors import RunError
from setrl.scoring.fields import KNOWN, PAIRS, READERS, Values

Source = Callable[..., Any] | str
NOT_COLUMNS = ("prompts", "completions", "completion_ids", "trainer_state", "environments")


def functions_of(sources: Mapping[str, Source]) -> dict[str, Callable[..., Any]]:
    """Return one function for each field, whose errors name the function or the column.

    Raises:
        ValueError: If there is no such field.
        TypeError: If a source is neither a function nor the name of a column.
    """
    for name, source in sources.items():
        _check(name, source)
    return {
        name: _column(source, name) if isinstance(source, str) else checked_field(source, name)
        for name, source in sources.items()
    }


def _check(name: str, source: Source) -> None:
    if name == "clusters":
        raise ValueError("clusters are no entry of fields: pass cluster_func=... or judge=...")
    names.look_up("field", name, dict.fromkeys(KNOWN))
    if not callable(source) and not isinstance(source, str):
        raise TypeError(
            f"fields[{name!r}] must be a function or the name of a column, got {source!r}"
        )
    if name == PAIRS and isinstance(source, str):
        raise TypeError(
            "fields['pairs'] must be a function, which gets the samples of one prompt and "
            f"returns a number for each pair of them, got the column {source!r}"
        )


def _column(source: str, name: str) -> Callable[..., Values]:
    """Make a function that returns a column of the samples' rows."""

    def read(**arguments: Any) -> Values:
        if source not in arguments:
            raise RunError(
                f"fields[{name!r}]: the samples have no column {source!r}; they have "
                f"{', '.join(repr(one) for one in arguments if one not in NOT_COLUMNS)}"
            )
        try:
            return [READERS[name](value) for value in arguments[source]]
        except ValueError as error:
            raise RunError(f"the column {source!r} of fields[{name!r}] must hold {error}") from None

    return read
