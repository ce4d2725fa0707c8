import fcntl
import os
import runpy
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from setrl.logs.run import Run
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.train.runs import claim as claim_module
from setrl.train.runs.claim import claimed
from setrl.train.runs.config import RunConfig


@dataclass(frozen=True)
class Config(RunConfig):
    kind = "control"
    command = "setrl train"

    name: str = "mine"
    arms: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"one": {}})
    seeds: tuple[int, ...] = (0,)
    steps: int = 1


class Comparison(Config):
    kind = "comparison"


def claim(folder, config=Config(), overwrite=False):
    with claimed(folder, config, overwrite=overwrite):
        return files.read_json(folder / "run.json")


def test_a_claimed_folder_has_config_kind_and_status(tmp_path):
    folder = tmp_path / "a" / "run"
    during = claim(folder)
    assert (during["status"], during["kind"], during["name"]) == ("running", "control", "mine")
    assert files.read_json(folder / "run.json")["status"] == "finished"
    assert Config.load(folder / "config.yaml") == Config()


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt(), "interrupted"), (ValueError("no"), "failed"), (None, "finished")],
)
def test_the_status_says_how_it_ended(tmp_path, error, status):
    try:
        with claimed(tmp_path, Config()):
            if error is not None:
                raise error
    except type(error):
        pass
    assert files.read_json(tmp_path / "run.json")["status"] == status


def test_the_same_config_goes_on_and_another_is_refused(tmp_path):
    claim(tmp_path)
    arm = tmp_path / "one" / "seed_0"
    files.write_text(arm / "metrics.jsonl", "")
    claim(tmp_path)
    with pytest.raises(ConfigError, match=r"another config:\n  steps: 1 → 2\ngive another"):
        claim(tmp_path, Config(steps=2))
    assert arm.exists()
    claim(tmp_path, Config(steps=2), overwrite=True)
    assert not arm.parent.exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_of_another_kind_is_left_alone(tmp_path, overwrite):
    claim(tmp_path, Comparison())
    (tmp_path / "arm").mkdir()
    message = "holds a comparison run, not a control run: give another folder"
    with pytest.raises(ConfigError, match=message):
        claim(tmp_path, overwrite=overwrite)
    assert (tmp_path / "arm").exists()


def test_the_kind_of_a_run(tmp_path):
    assert Run(tmp_path).kind is None
    claim(tmp_path / "comparison", Comparison())
    claim(tmp_path / "control")
    assert Run(tmp_path / "comparison").kind == "comparison"
    assert Run(tmp_path / "control").kind == "control"


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(
        ConfigError, match=r"holds no run of setrl \(thesis.tex\): give another folder"
    ):
        claim(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").exists()


def test_two_processes_do_not_write_one_run(tmp_path):
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process is running it"):
            claim(tmp_path)


def test_a_lock_that_is_a_link_empties_no_file_of_somebody(tmp_path):
    target = tmp_path / "thesis.tex"
    target.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(target)
    with pytest.raises(RunError, match=r"\.lock is a link, and setrl made none: remove it"):
        claim(tmp_path / "run")
    assert target.read_text() == "mine"


def test_a_full_disk_is_named(tmp_path):
    message = "cannot write: No space left on device; once fixed, the same command resumes the run"
    with pytest.raises(RunError, match=message), claimed(tmp_path, Config()):
        raise OSError(28, "No space left on device")


def test_arms_and_seeds_can_be_added_and_nothing_else(tmp_path):
    first = {"one": {"size": 2}}
    claim(tmp_path, Config(arms=first))
    more = {"two": {}, **first}
    claim(tmp_path, Config(arms=more, seeds=(3, 0)))
    assert Config.load(tmp_path / "config.yaml") == Config(arms=more, seeds=(3, 0))
    for changed, message in (
        ({"arms": {"one": {"size": 3}, "two": {}}}, "arms.one.size: 2 → 3"),
        ({"arms": {"one": {"size": 2, "beta": 1}, "two": {}}}, "arms.one.beta: not given → 1"),
        ({"arms": first}, "arms.two: {} → not given"),
        ({"seeds": (3, 1)}, r"seeds: \[3, 0\] → \[3, 1\]"),
        ({"steps": 2}, "steps: 1 → 2"),
    ):
        values = {"arms": more, "seeds": (3, 0), **changed}
        with pytest.raises(ConfigError, match=f"another config:\n  {message}\n"):
            claim(tmp_path, Config(**values))
    assert Config.load(tmp_path / "config.yaml") == Config(arms=more, seeds=(3, 0))


def test_a_folder_of_others_is_left_as_it_was(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds no run of setrl"):
        claim(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(ConfigError, match="is a file: give a folder for the run"):
        claim(tmp_path / "notes.txt")


def removes(folder, error):
    with claimed(folder, Config()):
        shutil.rmtree(folder)
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [None, ValueError("no"), KeyboardInterrupt()])
def test_a_folder_that_somebody_removed_is_not_written_again(tmp_path, error):
    with pytest.raises(RunError if error is None else type(error)) as raised:
        removes(tmp_path / "run", error)
    assert not (tmp_path / "run").exists()
    assert error is not None or "was removed while the run went on" in str(raised.value)


def test_a_folder_whose_name_libraries_cannot_open_is_refused(tmp_path):
    folder = tmp_path / os.fsdecode(b"run-\xff")
    with pytest.raises(ConfigError, match="this path is not UTF-8"):
        claim(folder)
    assert not folder.exists()


def test_a_system_without_file_locks_is_said(monkeypatch):
    """Windows has no fcntl."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(ConfigError, match=r"use Linux or macOS; on Windows, WSL"):
        runpy.run_path(claim_module.__file__)


def test_a_disk_that_is_too_full_for_the_record_hides_no_error(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    def fail():
        with claimed(tmp_path, Config()):
            monkeypatch.setattr(claim_module, "write_status", full)
            raise RunError("1 of 1 jobs failed")

    with pytest.raises(RunError, match="1 of 1 jobs failed"):
        fail()
