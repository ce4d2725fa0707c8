import json

import pytest

from setrl import files


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

    monkeypatch.setattr(files.os, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        files.write_json(path, {"a": 2})
    assert files.read_json(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_lines_survive_a_cut(tmp_path):
    path = tmp_path / "metrics.jsonl"
    files.append_line(path, {"step": 1, "x": float("nan"), "s": "²"})
    files.append_line(path, {"step": 2})
    with path.open("a") as file:
        file.write('{"step": 3, "x')
    assert files.read_lines(path) == [{"step": 1, "x": None, "s": "²"}, {"step": 2}]
    assert files.read_lines(tmp_path / "none.jsonl") == []


def test_json_has_no_nan(tmp_path):
    value = {"a": [float("inf"), 1.5], "b": {"c": float("nan")}}
    plain = {"a": [None, 1.5], "b": {"c": None}}
    assert json.loads(files.json_line(value)) == plain
    files.write_json(tmp_path / "value.json", value)
    assert files.read_json(tmp_path / "value.json") == plain


def test_a_line_separator_inside_a_string_cuts_no_record(tmp_path):
    path = tmp_path / "records.jsonl"
    texts = ["one\u2028two\x85three", "four"]
    files.write_lines(path, [{"text": text} for text in texts])
    assert [record["text"] for record in files.read_lines(path)] == texts
