"""mpmath's arithmetic for the grader alone: nobody else's digits change, and no other thread's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from mpmath import MPContext, MPIntervalContext

from setrl_grader.forks import ForkedLock

P = ParamSpec("P")
T = TypeVar("T")

mp, iv = MPContext(), MPIntervalContext()

_lock = ForkedLock()


def alone(function: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time call a function, which begins in sixteen digits."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        with _lock.held(), mp.workprec(53):
            iv.prec = 53  # a child may be forked between two precisions
            return function(*arguments, **named)

    return call


@contextmanager
def in_digits(digits: int) -> Iterator[None]:
    """Compute numbers and bounds in so many digits."""
    before, iv.dps = iv.prec, digits
    try:
        with mp.workdps(digits):
            yield
    finally:
        iv.prec = before
