"""Fingerprints of files: whether a file is still what it was when a run began, saved or ended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

Digests = Mapping[str, str]  # what people call a thing → its fingerprint
PART = 1 << 20  # bytes that are read at once


def digest(path: Path, size: int | None = None) -> str:
    """Return the fingerprint of a file, or of its first `size` bytes."""
    about = path.stat()
    return _cached_digest(
        path, about.st_size if size is None else size, about.st_mtime_ns, about.st_ino
    )


@lru_cache(maxsize=1024)  # a file of weights is large, and asked about more than once
def _cached_digest(path: Path, size: int, _changed: int, _place: int) -> str:
    fingerprint = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (part := file.read(min(PART, size))):
            fingerprint.update(part)
            size -= len(part)
    return fingerprint.hexdigest()[:16]


def digests(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Return the fingerprints of files, by their names inside a folder."""
    return {str(path.relative_to(folder)): digest(path) for path in sorted(paths)}


def changed_file(folder: Path, recorded: Digests) -> str | None:
    """Return the first file of a folder that is missing or not what it was; None: all are right."""
    return next(changed_files(folder, recorded), None)


def changed_files(folder: Path, recorded: Digests) -> Iterator[str]:
    """Yield the files of a folder that are missing or not what they were."""
    for name, fingerprint in recorded.items():
        path = folder / name
        if not path.is_file() or digest(path) != fingerprint:
            yield name
