"""Long work shows its progress where somebody looks, and nowhere else."""

import pytest

from setrl.support.files import progress


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "SOON", 0)
    monkeypatch.setattr(progress, "IN_A_LOG", {"mininterval": 0, "maxinterval": 0})


@pytest.fixture
def looked_at():
    with progress.looked_at():
        yield


def test_the_library_is_silent(at_once, capsys):
    assert list(progress.watched("abc", "spell", 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_a_command_shows_what_is_left(at_once, looked_at, capsys):
    assert list(progress.watched("abcd", "spell", 4, unit="letter")) == ["a", "b", "c", "d"]
    assert "spell:  50%|█████     | 2/4 [" in capsys.readouterr().err


def test_bytes_are_counted_where_the_reader_is(at_once, looked_at, capsys):
    place = iter(range(0, 10**6, 100))
    read = progress.watched(range(2001), "read", 400_000, at=lambda: next(place))
    assert len(list(read)) == 2001
    assert "read:  50%|█████     | 200k/400k [" in capsys.readouterr().err


def test_quick_work_shows_nothing(looked_at, capsys):
    assert list(progress.watched([1, 2], "count", 2)) == [1, 2]
    assert capsys.readouterr().err.strip("\r ") == ""


def test_after_a_command_the_library_is_silent_again(setrl):
    setrl("doctor", "--help")
    assert not progress.WATCHED.get()
