"""Parquet files, and data that Zstandard compressed, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setrl.support.errors import ConfigError, DataError
from setrl.support.files.kinds import PARQUET, refuse_other_kinds
from setrl.support.installing import install


def columns(path: Path) -> list[str]:
    """Return the names of a file's columns; no names if it cannot be read."""
    try:
        return list(_import_pyarrow().parquet.read_schema(path).names)
    except (ConfigError, OSError, ValueError):  # the reader of rows says what is wrong
        return []


def each_row(path: Path) -> Iterator[dict[str, Any]]:
    """Return the rows of a file; only a few are in memory at a time.

    Raises:
        ConfigError: When pyarrow is missing.
        DataError: When it is not a Parquet file.
    """
    pyarrow = _import_pyarrow()
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(1000):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        if path.is_file():
            refuse_other_kinds(path, but=PARQUET)  # which says what it is
        raise DataError(f"{path}: is not a Parquet file: {error}") from None


def decompressed(data: bytes, size: int) -> bytes:
    """Return data that Zstandard compressed.

    Args:
        data: The compressed data.
        size: Bytes of the result.

    Raises:
        ConfigError: When pyarrow is missing.
        ValueError: When the data are damaged.
    """
    pyarrow = _import_pyarrow("logs that Zstandard compressed")
    try:
        return bytes(pyarrow.decompress(data, size, codec="zstd", asbytes=True))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"damaged Zstandard data: {error}") from None


def _import_pyarrow(reading: str = "Parquet") -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(f"reading {reading} needs pyarrow: {install('logs')}") from None
    return pyarrow
