import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from setrl.judges.cache import JudgementCache
from setrl.support.errors import DataError


def test_what_was_put_is_there_after_reopening(tmp_path):
    cache = JudgementCache(tmp_path / "new" / "judge.sqlite")
    assert cache.get("a") is None
    assert cache.put("a", (0, -1, 1), "model", "style") == (0, -1, 1)
    cache.close()
    again = JudgementCache(tmp_path / "new" / "judge.sqlite")
    assert again.get("a") == (0, -1, 1)
    assert len(again) == 1
    again.close()


def test_the_first_one_stays():
    cache = JudgementCache(None)
    cache.put("a", (0, 0), "model", "style")
    assert cache.put("a", (0, 1), "model", "style") == (0, 0)
    assert cache.get("a") == (0, 0)
    cache.close()


PUT_MANY = """
import json, sys
from setrl.judges.cache import JudgementCache
cache = JudgementCache(sys.argv[1])
kept = [cache.put(f"key {i}", (int(sys.argv[2]), i), "model", "style") for i in range(50)]
print(json.dumps(kept))
"""


def test_processes_that_write_at_once_agree(tmp_path):
    command = [sys.executable, "-c", PUT_MANY, tmp_path / "judge.sqlite"]
    jobs = [subprocess.Popen([*command, str(i)], stdout=subprocess.PIPE) for i in range(3)]
    one, two, three = (json.loads(job.communicate()[0]) for job in jobs)
    assert one == two == three
    assert [labels[1] for labels in one] == list(range(50))


def test_threads_share_one_cache(tmp_path):
    cache = JudgementCache(tmp_path / "judge.sqlite")

    def put(start):
        for i in range(100):
            cache.put(f"key {start + i}", (start, i), "model", "style")

    threads = [threading.Thread(target=put, args=(start,)) for start in (0, 50, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 200
    cache.close()


def test_another_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for the head of one" * 20)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"notes\.txt cannot be used as a cache"):
        JudgementCache(path)
    assert path.read_bytes() == before


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "judge.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 7")
    database.close()
    with pytest.raises(DataError, match=r"version 7.*reads version 1"):
        JudgementCache(path)


def test_a_damaged_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "judge.sqlite"
    JudgementCache(path).close()
    whole = path.read_bytes()
    at = whole.index(b"CREATE TABLE")  # which SQLite quotes in its error
    for damaged in (whole[:at] + b"\xf4" + whole[at + 1 :], whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"judge\.sqlite cannot be used .* name another file"):
            JudgementCache(path)
        assert path.read_bytes() == damaged


def test_a_table_of_other_columns_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "judge.sqlite")) as database:
        database.execute("CREATE TABLE judgements (key TEXT)")
    with pytest.raises(DataError, match=r"cannot be used as a cache .* no such column"):
        JudgementCache(tmp_path / "judge.sqlite")


@pytest.mark.parametrize("table", ["notes (text)", "judgements (key TEXT)"])
def test_a_database_of_something_else_stays_as_it_was(tmp_path, table):
    """It got a table, a version and a write-ahead log."""
    path = tmp_path / "mine.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE {table}")
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"mine.sqlite cannot .*(else, with notes|no such column)"):
        JudgementCache(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["mine.sqlite"]


def test_only_the_first_judgement_waits_for_a_file_that_stays_locked(tmp_path, monkeypatch):
    monkeypatch.setattr("setrl.judges.cache.LOCKED_S", 0.2)
    path = tmp_path / "judge.sqlite"
    with (
        closing(JudgementCache(path)) as cache,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        for key in "abcdefgh":
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                cache.put(key, (0, 1), "model", "style")
        assert 0.2 <= time.monotonic() - began < 1.0
        other.execute("ROLLBACK")
        assert cache.put("a", (0, 1), "model", "style") == (0, 1)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/judge.sqlite cannot be used as a cache"):
        JudgementCache(tmp_path / "file" / "judge.sqlite")
    with pytest.raises(DataError, match=r"cannot be used as a cache .*unable to open"):
        JudgementCache(tmp_path)


@pytest.mark.parametrize(
    "row",
    ["", "[0", "5", "null", '["a", 0]', "[0]", "[-2, 0]", "[true, 0]", "[" * 100_000, b"x", 7],
)
def test_a_damaged_row_is_unknown_and_is_replaced(tmp_path, row):
    cache = JudgementCache(tmp_path / "judge.sqlite")
    cache.put("a", (0, 1), "model", "style")
    with sqlite3.connect(tmp_path / "judge.sqlite") as other:
        other.execute("UPDATE judgements SET clusters = ?", (row,))
    assert cache.get("a", 2) is None
    assert cache.put("a", (1, 0), "model", "style") == (1, 0)
    assert cache.get("a") == (1, 0)
    cache.close()


def test_nobody_else_can_read_judgements(tmp_path):
    path = tmp_path / "judge.sqlite"
    with closing(JudgementCache(path)) as cache:
        cache.put("a", [0, 1], "model", "style")
        assert {one.stat().st_mode & 0o777 for one in tmp_path.iterdir()} == {0o600}
        assert len(list(tmp_path.iterdir())) > 1
    path.chmod(0o640)
    with closing(JudgementCache(path)) as cache:
        assert cache.get("a") == (0, 1)
    assert path.stat().st_mode & 0o777 == 0o640
