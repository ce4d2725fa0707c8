"""How far a compressed file is unpacked: a small one may hold more than fits into memory."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import BinaryIO, cast

from typing_extensions import Buffer, override

from setrl.support.errors import DataError

LEAST = 200_000_000  # bytes that any file may unpack to
MOST_RATIO = 200  # texts shrink to a tenth, numbers to a fiftieth, and zeros to a thousandth


def most_unpacked(packed: int) -> int:
    """Return how many bytes may come out of so many compressed ones."""
    return max(LEAST, MOST_RATIO * packed)


def open_gzip(path: Path) -> BinaryIO:
    """Open a compressed file for reading.

    Raises:
        DataError: While it is read, once it has unpacked to more than 200 MB and to more than 200
            times its size.
    """
    return cast("BinaryIO", io.BufferedReader(_Bounded(path)))


class _Bounded(io.RawIOBase):
    """The unpacked bytes of a file, up to the limit."""

    def __init__(self, path: Path):
        self._path, self._inner = path, gzip.GzipFile(path)
        self._most = most_unpacked(path.stat().st_size)

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        count = self._inner.readinto(buffer)
        if self._inner.tell() > self._most:
            raise DataError(
                f"{self._path}: unpacks to more than {self._most // 1_000_000:,} MB, over "
                f"{MOST_RATIO} times its size: unpack it yourself (gunzip) if it is right"
            )
        return count

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._inner.seek(offset, whence)

    @override
    def close(self) -> None:
        self._inner.close()
        super().close()
