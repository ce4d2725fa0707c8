"""Judgements on disk: no process asks again about what was judged once."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setrl.samples.values import DEGENERATE
from setrl.support.errors import DataError
from setrl.support.wording import first_of

SCHEMA = 1
LOCKED_S = 30.0  # how long to wait for another process that writes
TABLE = """
CREATE TABLE IF NOT EXISTS judgements (
    key TEXT PRIMARY KEY,       -- hash of the whole request: model, text, parameters
    clusters TEXT NOT NULL,     -- JSON list: the label of each sample, in the order shown
    model TEXT NOT NULL,
    style TEXT NOT NULL,        -- name@version of the instructions
    written REAL NOT NULL       -- Unix time
) WITHOUT ROWID
"""


class JudgementCache:
    """Labels by the hash of the request; for any number of threads and processes at once.

    A SQLite file with a write-ahead log, which needs a local file system. Each judgement is
    written at once, so that a killed process loses no finished one. The first judgement of a
    request stays: all processes see the same labels for it. Failures are not kept.

    Args:
        path: The file, made if missing; None keeps judgements in memory, for this object only.

    Raises:
        DataError: If the file cannot be made, is not such a cache, or has another version.
    """

    def __init__(self, path: str | Path | None):
        self._lock = threading.Lock()
        try:
            self._database = _open_database(path)
        except (OSError, sqlite3.DatabaseError, ValueError, DataError) as error:
            raise DataError(
                f"{path} cannot be used as a cache of judgements: {error}; name another file, and "
                "what this one holds is asked again"
            ) from None

    def get(self, key: str, num_samples: int | None = None) -> tuple[int, ...] | None:
        """Return the labels in the order of the shown samples; None if they are unknown.

        Args:
            key: The hash of the request.
            num_samples: N: a row with another number of labels is damaged, and thus unknown.
        """
        query = "SELECT clusters FROM judgements WHERE key = ?"
        row = self._fetch_row(query, key)
        return _read_labels(row[0], num_samples) if row else None

    def put(self, key: str, labels: Sequence[int], model: str, style: str) -> tuple[int, ...]:
        """Keep labels, unless another process was first; the labels that are kept.

        A damaged row is replaced.
        """
        row = (key, json.dumps(list(labels)), model, style, time.time())
        for rule in ("IGNORE", "REPLACE"):
            self._fetch_row(f"INSERT OR {rule} INTO judgements VALUES (?,?,?,?,?)", *row)
            if (kept_labels := self.get(key, len(labels))) is not None:
                return kept_labels
        return tuple(labels)

    def __len__(self) -> int:
        return int(self._fetch_row("SELECT COUNT(*) FROM judgements")[0])

    def _fetch_row(self, query: str, *values: object) -> Any:
        """Return the first row. Only the first of several failures in a row waits for a lock.

        Otherwise each judgement would, in turn, as long as another process holds the file.
        """
        with self._lock:
            try:
                row = self._database.execute(query, values).fetchone()
            except sqlite3.OperationalError:
                self._set_wait_s(0)
                raise
            self._set_wait_s(LOCKED_S)
            return row

    def _set_wait_s(self, seconds: float) -> None:
        self._database.execute(f"PRAGMA busy_timeout = {1000 * seconds:.0f}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def _read_labels(text: Any, num_samples: int | None) -> tuple[int, ...] | None:
    """Read the labels of a row; None if the row is damaged."""
    try:
        labels = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(labels, list) or num_samples not in (None, len(labels)):
        return None
    are_labels = all(type(label) is int and label >= DEGENERATE for label in labels)
    return tuple(labels) if are_labels else None


def _open_database(path: str | Path | None) -> sqlite3.Connection:
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        _create_private_file(Path(path))
    database = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=LOCKED_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _prepare_database(database)
    except BaseException:
        database.close()
        raise
    return database


def _create_private_file(path: Path) -> None:
    """Make a missing file that only its owner can read: SQLite gives its log the same rights."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _prepare_database(database: sqlite3.Connection) -> None:
    _use_write_ahead_log(database)
    # Consistent after a crash, without an fsync per judgement.
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("BEGIN IMMEDIATE")
    database.execute(TABLE)
    database.execute(f"PRAGMA user_version = {SCHEMA}")
    database.execute("COMMIT")


def _refuse_database_of_others(database: sqlite3.Connection) -> None:
    """Refuse a database that has other tables and not ours, or another version of ours."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA):
        raise DataError(f"it has version {version}, and this setrl reads version {SCHEMA}")
    tables = [name for [name] in database.execute("SELECT name FROM sqlite_master ORDER BY name")]
    if "judgements" in tables:
        database.execute("SELECT key, clusters, model, style, written FROM judgements LIMIT 1")
    elif tables:
        raise DataError(f"it is a database of something else, with {first_of(tables)}")


def _use_write_ahead_log(database: sqlite3.Connection) -> None:
    """Try until it succeeds: SQLite does not queue processes that all switch at the same time."""
    last = time.monotonic() + LOCKED_S
    while True:
        try:
            _refuse_database_of_others(database)
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.02)
