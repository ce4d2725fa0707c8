"""What threads and processes have for themselves: the budget of a comparison, and locks.

A budget counts work, not seconds, so a busy machine grades alike. Each operation that may take long
says what it costs before it is done. One step is about a microsecond of a usual processor.
"""

from __future__ import annotations

import math
import os
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
    """Let what is within spend at most so many steps, and no more than the budget around it has.

    The operation after that is not begun.
    """
    before = _BUDGET.left
    _BUDGET.left = least = min(steps, before)
    try:
        yield _BUDGET
    finally:
        _BUDGET.left = before - (least - _BUDGET.left)


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


class ForkedLock:
    """A module's lock, which a forked child finds open: the thread that held it is not there."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.Lock()
