"""Parquet files, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setrl.errors import ConfigError, DataError


def rows(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns of a file, in order, and its rows.

    Raises:
        ConfigError: When pyarrow is missing.
        DataError: When it is no Parquet file.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError("reading Parquet needs pyarrow: pip install 'setrl[train]'") from None
    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: is not a Parquet file: {error}") from None
    return table.column_names, table.to_pylist()
