"""Further fields of samples, besides rewards and strategies: how each is read, and its array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from setrl.samples.values import numbered, read_answer, read_label, read_number
from setrl.support.errors import RunError

Values = Sequence[Any]

READERS: dict[str, Callable[[Any], Any]] = {
    "answers": read_answer,
    "proxy": read_number,
    "second": read_number,
    "families": read_label,
}
FAMILIES, PAIRS = "families", "pairs"
KNOWN = (*READERS, PAIRS)


def read_column(name: str, read: Callable[[Any], Any], values: Values) -> list[Any]:
    """Read each value of a column.

    Raises:
        RunError: Naming the column and the value.
    """
    try:
        return [read(one) for one in values]
    except ValueError as error:
        raise RunError(f"{name} must hold {error}") from None


def as_array(name: str, values: Values, num_samples: int) -> np.ndarray:
    """Return the values of all samples as (B, N), or (B, N, N) for `pairs`; NaN or None is unknown.

    Raises:
        RunError: If a value is not what the field holds.
    """
    if name == PAIRS:
        unknown_NN = np.full((num_samples, num_samples), np.nan)
        return np.stack([unknown_NN if one is None else np.asarray(one) for one in values])
    read = read_column(f"fields[{name!r}]", READERS[name], values)
    if name == FAMILIES:
        return numbered(read).reshape(-1, num_samples)
    kind = object if name == "answers" else np.float64
    return np.array(read, dtype=kind).reshape(-1, num_samples)
