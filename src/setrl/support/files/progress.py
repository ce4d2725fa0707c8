"""The progress bar of long work, with the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds between updates, and seconds after which the bar is shown although nothing has moved.
ON_A_TERMINAL = {"mininterval": 0.5, "maxinterval": 10.0}
IN_A_LOG = {"mininterval": 30.0, "maxinterval": 30.0}


STEP = 100_000  # bytes after which the bar moves
SOON = 3.0  # seconds after which people want to know how long it will take
WATCHED: ContextVar[bool] = ContextVar("WATCHED", default=False)
"""Whether somebody looks: in commands; the library and its threads are silent."""


@contextmanager
def looked_at() -> Iterator[None]:
    """Show the progress of long work inside the context."""
    token = WATCHED.set(True)
    try:
        yield
    finally:
        WATCHED.reset(token)


def watched(
    items: Iterable[T],
    what: str,
    total: int | None,
    *,
    unit: str = "",
    at: Callable[[], int] | None = None,
) -> Iterator[T]:
    """Yield the items; a command shows the progress and the time left if they take long.

    Args:
        items: What is worked on, one after the other.
        what: The name of the work.
        total: The number of items, or of bytes; None if it is not known.
        unit: What an item is.
        at: Returns the byte that is reached, if bytes are counted.
    """
    if not WATCHED.get():
        yield from items
        return
    scaled = {"unit": "B", "unit_scale": True} if at else {"unit": f" {unit}"}
    with progress_bar(True, desc=what, total=total, delay=SOON, leave=False, **scaled) as bar:
        for item in items:
            yield item
            done = 1 if at is None else at() - bar.n
            if at is None or done >= STEP:
                bar.update(done)


def progress_bar(show: bool, **options: Any) -> Any:
    """Return tqdm's bar with our options; in a log it prints twice a minute."""
    from tqdm import tqdm

    pace = ON_A_TERMINAL if sys.stderr.isatty() else IN_A_LOG
    return tqdm(disable=not show, **(options | pace))
