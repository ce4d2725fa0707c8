"""A lock that a forked child finds open: the thread that held it is not there."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ForkedLock:
    """A lock of a module, which lives as long as the process; each child has a new one."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let one thread at a time do what is within."""
        with self._lock:
            yield
