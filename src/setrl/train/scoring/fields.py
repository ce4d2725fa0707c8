"""Further fields of samples, besides rewards and strategies: how each is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from setrl.support.errors import RunError

Values = Sequence[Any] | np.ndarray

STRATEGIES, PAIRS = "strategies", "pairs"


def read_column(
    place: str, read: Callable[[Any], Any], values: Iterable[Any], verb: str = "hold"
) -> list[Any]:
    """Read each value of a column.

    Raises:
        RunError: Naming the place of the column, what it must hold, and the value.
    """
    try:
        return [read(one) for one in values]
    except ValueError as error:
        raise RunError(f"{place} must {verb} {error}") from None
