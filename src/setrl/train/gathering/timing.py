"""The seconds of each part of a step."""

from __future__ import annotations

import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager


@contextmanager
def timed(seconds: MutableMapping[str, float], part: str) -> Iterator[None]:
    """Note how long the block takes as the seconds of a part."""
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start
