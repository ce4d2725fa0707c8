"""What a file is where a log or a data set should be, and how far a compressed one is unpacked.

Its first bytes tell its kind. A small compressed file may hold more than fits into memory.
"""

from __future__ import annotations

import codecs
import gzip
import io
from pathlib import Path
from typing import BinaryIO, cast

from typing_extensions import Buffer, override

from setrl.support.errors import DataError

LEAST = 200_000_000  # bytes that any file may unpack to
MOST_RATIO = 200  # texts shrink to a tenth, numbers to a fiftieth, and zeros to a thousandth
OPENING = 4096  # bytes that tell the kind of a file
CONTROLS = frozenset(range(32)) - {*b"\t\n\v\f\r"}  # bytes that no text has
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
_HTML = (
    "is a page in HTML, as a server answers when a download needs a login: fetch the file itself"
)
_KINDS = {
    GZIP: "is compressed by gzip: decompress it first (gunzip)",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd: decompress it first (unzstd)",
    ZIP: "is a zip archive: unpack it first",
    PARQUET: "is a Parquet file: write it as JSON Lines first",
    codecs.BOM_UTF16_LE: "is text in UTF-16: save it as UTF-8",
    codecs.BOM_UTF16_BE: "is text in UTF-16: save it as UTF-8",
}
_TEXTS = {
    b"version https://git": "is a pointer of Git LFS, not the file itself: `git lfs pull` fetches "
                            "it",
    b"<!doctype": _HTML,
    b"<html": _HTML,
}  # fmt: skip


def text_of(start: bytes) -> bytes:
    """Return the first bytes of the text without a byte order mark and the space after it."""
    return start.removeprefix(codecs.BOM_UTF8).lstrip()


def refuse_other_kinds(path: Path, start: bytes | None = None, but: bytes | None = None) -> None:
    """Refuse a file of another kind than text, or text of another meaning, by what it is.

    Args:
        path: The file.
        start: Its first bytes; by default they are read.
        but: The opening of a kind that is allowed.

    Raises:
        DataError: Says what the file is and what to do with it.
    """
    if start is None:
        with path.open("rb") as file:
            start = file.read(OPENING)
    text = text_of(start)[:20].lower()
    reasons = [
        *(what for mark, what in _KINDS.items() if start.startswith(mark) and mark != but),
        *(what for mark, what in _TEXTS.items() if text.startswith(mark)),
    ]
    if reasons:
        raise DataError(f"{path}: {reasons[0]}")
    is_known = text[:1] in (b"[", b"{") or (but is not None and start.startswith(but))
    if not is_known and CONTROLS & {*start}:
        opening = start[:8].hex(" ")
        raise DataError(f"{path}: is a binary file, not text: it begins with the bytes {opening}")


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
