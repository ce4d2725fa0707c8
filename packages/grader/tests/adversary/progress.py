"""How far a long run is, and how long the rest takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

EVERY = 5.0  # seconds between two lines

T = TypeVar("T")


def told(rows: Sequence[T], what: str) -> Iterator[T]:
    """Yield rows, and write every few seconds how many are done and how long the rest takes."""
    start = last = time.monotonic()
    for done, row in enumerate(rows):
        now = time.monotonic()
        if now - last > EVERY:
            left = (now - start) / done * (len(rows) - done)
            print(f"{what}: {done:,} of {len(rows):,}, {left:.0f} s left", file=sys.stderr)
            last = now
        yield row
