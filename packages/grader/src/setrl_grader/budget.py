"""The budget of a comparison: a count of work, not of seconds, so a busy machine grades alike.

Each operation that may take long says what it costs before it is done. One step of the budget is
about a microsecond of a usual processor.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STEPS = 1_000_000


class BudgetError(Exception):
    """The comparison takes more than its budget."""


class Budget(threading.local):
    """The budget of each thread; without one, all is allowed."""

    left = math.inf


_BUDGET = Budget()


@contextmanager
def budget(steps: float) -> Iterator[Budget]:
    """Let what is within spend at most so many steps: the operation after that is not begun."""
    before, _BUDGET.left = _BUDGET.left, steps
    try:
        yield _BUDGET
    finally:
        _BUDGET.left = before


def spend(steps: float) -> None:
    """Pay for an operation before it is done.

    Raises:
        BudgetError: If the budget is used up.
    """
    _BUDGET.left -= steps
    if _BUDGET.left < 0:
        raise BudgetError


def of_digits(digits: float, weight: float = 1) -> float:
    """Return what an operation on numbers of so many digits costs; a product has the weight 1."""
    return 5 + weight * (digits / 250) ** 2
