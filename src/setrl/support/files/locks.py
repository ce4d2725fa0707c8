"""One process at a time: a lock on a file, which ends with its process, however that ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from setrl.support.errors import RunError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path, remedy: str, holder: Path | None = None) -> Iterator[None]:
    """Hold a file for only this process; it is made if missing, and never written here.

    A system without fcntl has no such lock, and nothing is held there.

    Args:
        path: The file to lock.
        remedy: What another process does with it, and what to do then, for the error.
        holder: What is held by it, for the error; by default the file.

    Raises:
        RunError: If another process holds it, or it is a link.
    """
    with _open_lock(path) as lock:
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{holder or path}: another process {remedy}") from error
        yield


def _open_lock(path: Path) -> IO[bytes]:
    """Open the lock for writing, and write nothing: it may be a link to a file of somebody."""
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "wb")
    except OSError as error:
        if path.is_symlink():
            raise RunError(f"{path} is a link, and setrl made none: remove it") from error
        raise
