"""What is cleared in the cache is what setrl wrote and can make again, and nothing else."""

import os
import time

import pytest

from setrl.support.files import cache

HASH = "0123456789ab"
RECORD = '{"schema_version": 1, "source": "x"}'


@pytest.fixture
def folder(tmp_path):
    """A cache with everything that setrl writes into it."""
    for name, record, weights in (
        (f"base-polynomial-{HASH}", "base.json", "model.safetensors"),
        (f"policy-four_rooms-{HASH}", "pretrain.json", "policy.safetensors"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / record).write_text(RECORD)
        (tmp_path / name / weights).write_bytes(b"0" * 1000)
    (tmp_path / "seal.key").write_bytes(b"key")
    return tmp_path


def left(folder):
    cache.clear(cache.entries(folder))
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_the_folder_is_the_argument_or_the_variable_or_in_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SETRL_CACHE", raising=False)
    assert cache.cache_folder() == tmp_path / ".cache" / "setrl"
    monkeypatch.setenv("SETRL_CACHE", "/there")
    assert str(cache.cache_folder()) == "/there"
    assert str(cache.cache_folder("/here")) == "/here"


def test_what_setrl_writes_is_listed_with_its_size_and_cleared_but_for_the_key(folder):
    found = {one.path.name: (one.what, one.size) for one in cache.entries(folder)}
    size = 1000 + len(RECORD)
    assert found == {
        f"base-polynomial-{HASH}": ("base model", size),
        f"policy-four_rooms-{HASH}": ("pretrained policy", size),
        "seal.key": ("the key of seals, without which no control run can be resumed", 3),
    }
    assert left(folder) == ["seal.key"]


def test_a_cache_that_is_not_there_is_empty(tmp_path):
    assert cache.entries(tmp_path / "none") == []


def test_files_of_others_stay_and_so_does_their_folder(folder):
    (folder / f"base-polynomial-{HASH}" / "notes.txt").write_text("mine")
    (folder / "thesis.tex").write_text("mine")
    (folder / "base-jump-2026").mkdir()
    assert left(folder) == [
        "base-jump-2026",
        f"base-polynomial-{HASH}",
        f"base-polynomial-{HASH}/notes.txt",
        "seal.key",
        "thesis.tex",
    ]


@pytest.mark.parametrize("record", [None, "{", "[]", '{"schema_version": 1}'])
def test_a_folder_without_our_record_stays(folder, record):
    base = folder / f"base-polynomial-{HASH}"
    if record is None:
        (base / "base.json").unlink()
    else:
        (base / "base.json").write_text(record)
    assert f"base-polynomial-{HASH}/model.safetensors" in left(folder)


def test_links_are_not_followed(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "base.json").write_text(RECORD)
    (elsewhere / "model.safetensors").write_bytes(b"0")
    link = folder / "base-linked-abcdefabcdef"
    link.symlink_to(elsewhere)
    entry = next(one for one in cache.entries(folder) if one.path == link)
    assert entry.tree is None
    assert entry.size < 1000
    assert link.name in left(folder)
    assert len(list(elsewhere.iterdir())) == 2


@pytest.mark.parametrize(("age_s", "stays"), [(7200, False), (60, True)])
def test_what_a_killed_process_left_is_cleared_unless_somebody_may_write_it(folder, age_s, stays):
    unfinished = folder / f".base-sums-{HASH}.{'f' * 32}.partial"
    unfinished.mkdir()
    (unfinished / "model.safetensors").write_bytes(b"0")
    then = time.time() - age_s
    os.utime(unfinished, (then, then))
    assert (unfinished.name in left(folder)) is stays
