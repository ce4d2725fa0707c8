"""No command destroys a file that setrl did not write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from setrl import cli
from setrl.control.config import ControlConfig
from setrl.show.report import page as report_page
from setrl.show.report import publish_report, write_report
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.train.lm.config import ComparisonConfig
from setrl.train.runs.claim import claimed
from setrl.train.runs.config import RunConfig
from setrl.train.runs.resume import write_status
from tests import fake_run

CONFIGS = {
    "train": ComparisonConfig(name="mine", domain="polynomial", arms={"grpo": {"method": "grpo"}}),
    "control": ControlConfig(name="mine", task="multi_goal", arms={"grpo": {"algorithm": "ppo"}}),
}

OURS = (
    *("summary.json", "figures/support_test.png", "base/config.json", "base/evaluation.json"),
    *("base/evaluation/test.jsonl", ".config.yaml.0f.partial"),
    *("grpo/seed_0/run.json", "grpo/seed_0/metrics.jsonl", "grpo/seed_0/final/model.safetensors"),
    *("grpo/seed_0/checkpoints/checkpoint-2/model.zip", "grpo/seed_0/checkpoints/README.md"),
    *("grpo/seed_0/rollouts/step_000010.jsonl", "grpo/seed_0/evaluation/test.jsonl"),
    *("grpo/seed_0/checkpoints/state.json", "grpo/seed_0/checkpoints/batches/step_000007.json"),
    "grpo/seed_0/tensorboard/events.out.tfevents.1",
    *("grpo/seed_0/judge.sqlite-wal", "grpo/seed_0/evaluation/samples/aime_2024.jsonl"),
)
THEIRS = (
    *("notes.txt", "data/train.jsonl", "data/seed_0/run.json", "figures/mine.png"),
    *("base/notes.txt", "grpo/notes.txt", "grpo/data/train.jsonl", "grpo/seed_0/notes.txt"),
    *("grpo/seed_0/final/notes.txt", "grpo/seed_0/rollouts/mine.jsonl"),
    *("grpo/seed_0/evaluation/train.jsonl", "grpo/seed_0/checkpoints/notes.txt"),
    *("figures/curves.png", "grpo/seed_0/final/README.md", "grpo/seed_0/judge.sqlite.backup"),
    *("grpo/seed_0/checkpoints/checkpoint-2/notes.md", "grpo/seed_0/rollouts/step_1_mine.jsonl"),
    "grpo/seed_0/checkpoints/checkpoint-999/mine.txt",
    "grpo/seed_0/checkpoints/models.json",  # which a server's arm needs to free its models
)


def fill(folder: Path, names: tuple[str, ...], text: str) -> None:
    for name in names:
        files.write_text(folder / name, text)


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def make_run(folder: Path, config: RunConfig) -> None:
    write_status(folder, "finished", name=config.name, kind=config.kind)
    files.write_text(folder / "config.yaml", config.to_yaml())


def start(command: str, folder: Path) -> None:
    with claimed(folder, CONFIGS[command], overwrite=True):
        pass


def run(*arguments: object) -> object:
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code


@pytest.mark.parametrize("command", CONFIGS)
def test_overwriting_removes_what_the_run_wrote_and_nothing_else(tmp_path, command):
    make_run(tmp_path, CONFIGS[command])
    fill(tmp_path, OURS, '{"schema_version": 1}\n')
    fill(tmp_path, ("report.html",), '<meta name="generator" content="setrl">')
    fill(tmp_path, THEIRS, '{"theirs": true}\n')
    start(command, tmp_path)
    assert set(contents(tmp_path)) == {*THEIRS, "run.json", "config.yaml"}
    assert {(tmp_path / name).read_text() for name in THEIRS} == {'{"theirs": true}\n'}


@pytest.mark.parametrize("command", CONFIGS)
@pytest.mark.parametrize(
    "marker",
    [
        {"config.yaml": CONFIGS["train"].to_yaml()},
        {"config.yaml": "theirs: true\n", "run.json": '{"theirs": true}'},
        {"config.yaml": "theirs: true\n", "run.json": "[1]"},
        {"config.yaml": "theirs: true\n", "run.json": "no JSON"},
        {"run.json": '{"schema_version": 1, "kind": "control", "name": "mine"}'},
    ],
)
def test_overwriting_refuses_a_folder_that_is_no_run(tmp_path, command, marker):
    fill(tmp_path, (*OURS, *THEIRS), "theirs\n")
    for name, text in marker.items():
        files.write_text(tmp_path / name, text)
    before = contents(tmp_path)
    with pytest.raises(ConfigError, match=r"holds no run of setrl \(.*: give another folder"):
        start(command, tmp_path)
    assert contents(tmp_path) == before


def test_overwriting_refuses_a_run_whose_config_cannot_be_read(tmp_path):
    make_run(tmp_path, CONFIGS["train"])
    fill(tmp_path, OURS, "{}")
    files.write_text(tmp_path / "config.yaml", "theirs: true\n")
    before = contents(tmp_path)
    with pytest.raises(ConfigError, match="theirs"):
        start("train", tmp_path)
    assert contents(tmp_path) == before


def test_overwriting_refuses_a_page_of_others_before_anything_is_removed(tmp_path):
    make_run(tmp_path, CONFIGS["train"])
    fill(tmp_path, ("report.html", "summary.json"), "<h1>theirs</h1>")
    before = contents(tmp_path)
    with pytest.raises(
        ConfigError,
        match=r"report\.html was not written by setrl, and would be overwritten: move it",
    ):
        start("train", tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("link", ["figures", "grpo", "grpo/seed_0", "grpo/seed_0/checkpoints"])
def test_overwriting_does_not_follow_links(tmp_path, link):
    folder, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    make_run(folder, CONFIGS["train"])
    fill(elsewhere, (*OURS, *(name.removeprefix(f"{link}/") for name in OURS)), "elsewhere")
    before = contents(elsewhere)
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(elsewhere)
    start("train", folder)
    assert not (folder / link).is_symlink()
    assert contents(elsewhere) == before


def test_a_folder_that_is_written_anew_keeps_what_others_put_in_it(tmp_path):
    fill(tmp_path / "final", ("config.json", "notes.txt"), "old")
    with files.writing_folder(tmp_path / "final") as partial:
        (partial / "config.json").write_text("new")
    assert contents(tmp_path) == {"final/config.json": b"new", "final/notes.txt": b"old"}


@pytest.mark.parametrize("marker", ["{}", '{"schema_version": 1, "arm": "grpo"}', "theirs", None])
def test_a_report_of_a_folder_that_is_no_run_is_refused(tmp_path, capsys, marker):
    fill(tmp_path, ("report.html", "figures/learning.png", "summary.json", *THEIRS), "theirs")
    if marker is not None:
        files.write_text(tmp_path / "run.json", marker)
    before = contents(tmp_path)
    assert run("report", tmp_path) == 2
    assert "is not a run directory: it has no run.json of setrl" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.fixture
def without_pictures(monkeypatch):
    """Pictures take most of the time of a report."""
    monkeypatch.setattr(report_page, "_write_picture", lambda *_: None)


@pytest.mark.usefixtures("without_pictures")
def test_a_page_of_others_is_not_overwritten_and_one_of_ours_is(tmp_path):
    folder = fake_run.make(tmp_path / "run", arms=("grpo",), problems=2, n=4, steps=2)
    page = folder / "report.html"
    page.write_text("<title>theirs</title>")
    before = contents(folder)
    with pytest.raises(
        ConfigError,
        match=r"report\.html was not written by setrl, and would be overwritten: move it",
    ):
        write_report(folder)
    assert contents(folder) == before
    page.unlink()
    write_report(folder)
    assert '<meta name="generator" content="setrl">' in page.read_text()
    write_report(folder)


PUBLISHED = (
    "README.md", "summary.json", "config.yaml", "pass_at_k_test.png", "frontier_test.png",
)  # fmt: skip


@pytest.mark.usefixtures("without_pictures")
def test_publishing_over_files_of_others_is_refused(tmp_path):
    folder = fake_run.make(tmp_path / "run", arms=("grpo",), problems=2, n=4, steps=2)
    for name in PUBLISHED:
        fill(tmp_path / "mine", (name, "notes.txt"), "theirs")
        before = contents(tmp_path)
        with pytest.raises(ConfigError, match=f"{name} was not written by setrl report"):
            publish_report(folder, tmp_path / "mine")
        assert contents(tmp_path) == before
        (tmp_path / "mine" / name).unlink()
    publish_report(folder, tmp_path / "mine")
    publish_report(folder, tmp_path / "mine")


SAMPLES = {"prompt": "p", "samples": [{"text": "x", "reward": 1}, {"text": "y", "reward": 0}]}
COMMANDS = {
    "credit": ["credit", "IN", "--set-size", 2, "--output", "OUT"],
    "judge": ["judge", "IN", "--judge", "exact", "--output", "OUT"],
    "import": ["import", "verl", "IN", "--output", "OUT"],
    "import a folder": ["import", "verl", "FOLDER", "--output", "OUT"],
    "judge-audit": ["judge-audit", "IN", "--judge", "exact", "--output", "AUDIT"],
    "sample": [
        *("sample", "--endpoint", "http://localhost:9", "--model", "m", "--data", "IN"),
        *("--output", "OUT"),
    ],
}


@pytest.mark.parametrize("link", ["same", "relative", "symlink", "hardlink"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_over_the_file_that_it_reads(
    tmp_path, capsys, monkeypatch, command, link
):
    folder = tmp_path / "in"
    fill(folder, THEIRS, "theirs\n")
    source = folder / "1.jsonl"
    source.write_text(json.dumps({**SAMPLES, "problem": "p", "answer": "1"}))
    out = tmp_path / "out" / "audit.json"
    out.parent.mkdir()
    if link == "symlink":
        out.symlink_to(source)
    elif link == "hardlink":
        os.link(source, out)
    elif command == "judge-audit":
        source = source.rename(folder / "audit.json")
    if link in ("same", "relative"):
        out = source
    monkeypatch.chdir(tmp_path)
    shown = Path(os.path.relpath(out)) if link == "relative" else out
    places = {"IN": source, "OUT": shown, "AUDIT": shown.parent, "FOLDER": folder}
    before = contents(tmp_path)
    assert run(*(places.get(one, one) for one in COMMANDS[command])) == 2
    assert "is the file that is read: give another output" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_the_file_of_samples_is_not_the_data(tmp_path, capsys):
    data = tmp_path / "samples" / "out.jsonl"
    files.write_text(data, json.dumps({"problem": "p", "answer": "1"}))
    arguments = ["--endpoint", "http://localhost:9", "--model", "m", "--data", data]
    assert run("sample", *arguments, "--output", tmp_path / "out.jsonl") == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert data.read_text() == json.dumps({"problem": "p", "answer": "1"})
