"""docs/from-problems.md: every command prints what the page shows, with a tiny random model."""

import re
from pathlib import Path

import pytest
import torch

from setrl import cli
from setrl.logs.run import Run
from setrl.support import files
from setrl.support.files import loading
from tests import sessions
from tests.at_once import do_at_once

PAGE = "from-problems.md"
DATA = Path(__file__).parents[1] / "data"
SHOWN_FOLDER = "/home/you/own"  # where the page runs its commands


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page begins with: a model, problems, and the files that it shows."""
    monkeypatch.chdir(tmp_path)
    rows = files.read_lines(DATA / "gsm8k_50.jsonl")
    renamed = [{"question": row["problem"], "answer": row["answer"]} for row in rows]
    files.write_lines(Path("problems.jsonl"), renamed)
    text = (sessions.DOCS / PAGE).read_text(encoding="utf-8")
    [config] = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    Path("config.yaml").write_text(config, encoding="utf-8")
    make_model, functions = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    Path("my_functions.py").write_text(functions, encoding="utf-8")
    with torch.random.fork_rng():
        exec(make_model, {})
    return tmp_path


def without_times(text):
    return re.sub(r"\d+\.\d\d s\b", "… s", text)


def without_counts(text):
    """What `--dry-run` prints, without the table of counts that the page leaves out."""
    return re.sub(r"from the first step.*?\n\n", "", text, flags=re.DOTALL)


def test_every_command_prints_what_the_page_shows(folder, monkeypatch, capsys):
    monkeypatch.setattr("setrl.train.runs.run.run_jobs", do_at_once)
    capsys.readouterr()
    blocks = sessions.commands(PAGE)
    assert [command.split()[0] for command, _ in blocks] == [
        "check-task",
        "train",
        "compare",
        "train",
    ]
    for command, shown in blocks:
        monkeypatch.setattr(loading, "_announced", set())  # each command is a process of its own
        printed = sessions.printed(capsys, command).replace(str(folder), SHOWN_FOLDER)
        if without_times(without_counts(printed)) != without_times(shown.rstrip()):
            pytest.fail(f"{command} prints:\n{printed}")
    assert Path("runs/own/report.html").exists()


FAILING = """
from pathlib import Path

def score(completions, trainer_state=None, **_):
    if Path("broken").exists() and trainer_state.global_step == 2:
        raise ValueError("no table")
    return [len(messages[-1]["content"]) % 2 for messages in completions]
"""


def test_a_reward_that_fails_in_the_middle_loses_nothing(folder, monkeypatch, capsys):
    monkeypatch.setattr("setrl.train.runs.run.run_jobs", do_at_once)
    Path("failing.py").write_text(FAILING)
    Path("broken").touch()
    changes = {
        "steps": 3,
        "checkpoint_every": 1,
        "eval_splits": "[]",
        "task.reward": "{function: failing:score}",
        "task.correct": "null",
        "arms": "{grpo: {method: grpo}}",
    }
    options = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]

    def train(code):
        with pytest.raises(SystemExit) as left:
            cli.main(["train", "--config", "config.yaml", "--run-dir", "run", *options])
        assert left.value.code == code
        return Run(Path("run")).seed("grpo", 0)

    run = train(1)
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("setrl: the reward function 'score' (")
    assert "raised ValueError: no table, on the sample" in error
    assert len(files.read_lines(run.metrics_file)) == 2
    last = run.checkpoint(2) / "model.safetensors"
    kept = last.read_bytes()
    Path("broken").unlink()
    train(0)
    assert [line["step"] for line in files.read_lines(run.metrics_file)] == [1, 2, 3]
    assert last.read_bytes() == kept
    assert run.final.exists()
