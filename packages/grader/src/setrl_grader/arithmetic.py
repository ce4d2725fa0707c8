"""mpmath's arithmetic for the grader alone: nobody else's digits change, and no other thread's."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from mpmath import MPContext, MPIntervalContext

P = ParamSpec("P")
T = TypeVar("T")

mp, iv = MPContext(), MPIntervalContext()

_lock = threading.Lock()


def alone(function: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time call a function, which begins in sixteen digits."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        with _lock, mp.workprec(53):
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


def _unlock() -> None:
    """Begin anew in a forked child: the lock may be held by a thread that is not there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_unlock)
