"""Files and folders that are written whole or not at all."""

import json

import pytest

from setrl.support import files
from setrl.support.files import atomic


def test_a_folder_appears_when_it_is_whole(tmp_path):
    with files.writing_folder(tmp_path / "a" / "model") as partial:
        (partial / "weights").write_text("1")
        assert not (tmp_path / "a" / "model").exists()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["model"]
    assert (tmp_path / "a" / "model" / "weights").read_text() == "1"


def test_a_folder_that_fails_leaves_the_old_one(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_text("old")

    def fail():
        with files.writing_folder(folder) as partial:
            (partial / "weights").write_text("new")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert (folder / "weights").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_file_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    files.write_json(path, {"a": 1})

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        files.write_json(path, {"a": 2})
    assert files.read_json(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_json_has_no_nan(tmp_path):
    value = {"a": [float("inf"), 1.5], "b": {"c": float("nan")}}
    plain = {"a": [None, 1.5], "b": {"c": None}}
    assert json.loads(files.json_text(value)) == plain
    files.write_json(tmp_path / "value.json", value)
    assert files.read_json(tmp_path / "value.json") == plain
