"""Judgements on disk: no process asks again about what was judged once."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from setrl.errors import DataError

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
    """Clusters by the hash of the request; for any number of threads and processes at once.

    A SQLite file with a write-ahead log, which needs a local file system. Each judgement is
    written at once, so that a killed process loses no finished one. The first judgement of a
    request stays: all processes see the same clusters for it. Failures are not kept.

    Args:
        path: The file, made if missing; None keeps judgements in memory, for this object only.

    Raises:
        DataError: If the file cannot be made, is not such a cache, or has another version.
    """

    def __init__(self, path: str | Path | None):
        self._lock = threading.Lock()
        try:
            self._database = _opened(path)
        except (OSError, sqlite3.DatabaseError, DataError) as error:
            raise DataError(f"{path} cannot be used as a cache of judgements: {error}") from None

    def get(self, key: str) -> tuple[int, ...] | None:
        """Return the clusters in the order of the shown samples; None if they are unknown."""
        query = "SELECT clusters FROM judgements WHERE key = ?"
        with self._lock:
            row = self._database.execute(query, (key,)).fetchone()
        return tuple(json.loads(row[0])) if row else None

    def put(self, key: str, clusters: Sequence[int], model: str, style: str) -> tuple[int, ...]:
        """Keep clusters, unless another process was first; the clusters that are kept."""
        row = (key, json.dumps(list(clusters)), model, style, time.time())
        with self._lock:
            self._database.execute("INSERT OR IGNORE INTO judgements VALUES (?,?,?,?,?)", row)
        return self.get(key) or tuple(clusters)

    def __len__(self) -> int:
        with self._lock:
            return self._database.execute("SELECT COUNT(*) FROM judgements").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def _opened(path: str | Path | None) -> sqlite3.Connection:
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=LOCKED_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    _use_write_ahead_log(database)
    # Consistent after a crash, without an fsync per judgement.
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("BEGIN IMMEDIATE")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA):
        database.execute("ROLLBACK")
        raise DataError(f"it has version {version}, and this setrl reads version {SCHEMA}")
    database.execute(TABLE)
    database.execute(f"PRAGMA user_version = {SCHEMA}")
    database.execute("COMMIT")


def _use_write_ahead_log(database: sqlite3.Connection) -> None:
    """Try until it succeeds: SQLite does not queue processes that all switch at the same time."""
    last = time.monotonic() + LOCKED_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.02)
