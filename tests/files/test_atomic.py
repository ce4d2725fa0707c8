"""Files and folders that are written whole or not at all."""

import json
import re
import resource
import shutil

import pytest
from safetensors import SafetensorError

from setrl.support import files
from setrl.support.errors import RunError, explain
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


FULL = "[Errno 28] No space left on device: '/cache/model' -> '/run/.base.partial/model'"
ERRORS = [
    shutil.Error([("/cache/model", "/run/.base.partial/model", FULL)]),
    SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    RuntimeError("[enforce fail at inline_container.cc:700] . unexpected pos 64 vs 0"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
def test_a_full_disk_is_a_sentence_whichever_library_finds_it(tmp_path, error):
    def fail():
        with files.writing_folder(tmp_path / "base"):
            raise error

    with pytest.raises(OSError, match="No space left on device") as raised:
        fail()
    assert explain(raised.value) == (
        f"cannot write or read {tmp_path / 'base'}: No space left on device"
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda path: files.write_text(path, "x" * 100_000),
        lambda path: files.write_lines(path, [{"x": "x" * 100_000}]),
        lambda path: files.append_line(path, {"x": "x" * 100_000}),
    ],
    ids=["text", "lines", "line"],
)
def test_a_file_for_which_there_is_no_room_is_named(tmp_path, write):
    """Python names no file that was open already; the limit of the process is the full disk."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, usual[1]))
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            write(tmp_path / "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert explain(raised.value) == f"cannot write or read {tmp_path / 'file'}: File too large"


@pytest.mark.parametrize(
    "error", [OSError(111, "refused"), RuntimeError("shapes"), RunError("no [Errno 28]")]
)
def test_other_errors_stay_what_they_are(tmp_path, error):
    with pytest.raises(type(error), match=re.escape(str(error))), files.disk_errors(tmp_path):
        raise error


def test_a_file_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    files.write_json(path, {"a": 1})

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", full_disk)
    with pytest.raises(OSError, match=f"No space left on device: '{re.escape(str(path))}'"):
        files.write_json(path, {"a": 2})
    assert files.read_json(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_json_has_no_nan(tmp_path):
    value = {"a": [float("inf"), 1.5], "b": {"c": float("nan")}}
    plain = {"a": [None, 1.5], "b": {"c": None}}
    assert json.loads(files.json_text(value)) == plain
    files.write_json(tmp_path / "value.json", value)
    assert files.read_json(tmp_path / "value.json") == plain


def test_nobody_else_reads_what_is_only_partly_written(tmp_path):
    """A killed process leaves it behind."""
    path, folder = tmp_path / "a.jsonl", tmp_path / "model"
    (tmp_path / "usual").touch()
    usual = (tmp_path / "usual").stat().st_mode
    with atomic.writing_text(path) as file:
        [partial] = tmp_path.glob(".a.jsonl.*.partial")
        assert partial.stat().st_mode & 0o077 == 0
        file.write("x")
    assert path.stat().st_mode == usual
    path.chmod(0o600)
    files.write_text(path, "y")
    assert path.stat().st_mode & 0o777 == 0o600
    with files.writing_folder(folder) as partial:
        assert partial.stat().st_mode & 0o077 == 0
    (tmp_path / "other").mkdir()
    assert folder.stat().st_mode == (tmp_path / "other").stat().st_mode
