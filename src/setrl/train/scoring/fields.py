"""Further fields of samples, besides rewards and strategies: how each is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from setrl.support.errors import RunError

Values = Sequence[Any] | np.ndarray

STRATEGIES, PAIRS = "strategies", "pairs"
KNOWN = ("answers", "proxy", "second", "families", PAIRS)


def read_column(name: str, read: Callable[[Any], Any], values: Values) -> list[Any]:
    """Read each value of a column.

    Raises:
        RunError: Naming the column and the value.
    """
    try:
        return [read(one) for one in values]
    except ValueError as error:
        raise RunError(f"{name} must hold {error}") from None
