"""`setrl train --dry-run`: all checks, the plan, and nothing written."""

import shutil
import socket
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

from setrl import cli
from setrl.logs.run import BASE, Run
from setrl.support import files
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.runs.claim import claimed
from tests.tasks import models

NOISY = "studies.faulty:NoisyJudge"
TASK = {
    "data": "own.jsonl",
    "reward": [{"function": "my_rewards:one"}],
    "strategy": {"judge": NOISY, "flips": 0.1, "of": {}},
    "splits": {"test": 4},
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A config with a reward function and a judge, in a folder with other files."""
    monkeypatch.chdir(tmp_path)
    for name in ("tmp", "home", "runs/own"):
        Path(name).mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SETRL_CACHE", str(tmp_path / "cache"))
    Path("my_rewards.py").write_text(
        "def one(completions, **_):\n    return [1 for _ in completions]"
    )
    Path("notes.txt").write_text("mine")
    files.write_lines(
        Path("own.jsonl"), [{"problem": f"{i} + {i}", "answer": 2 * i} for i in range(10)]
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        judge = {"judge": "lm", "model": "m", "endpoint": url, "cache": "judge.sqlite"}
        values = {
            "name": "own",
            "model": str(models.make(tmp_path / "model")),
            "task": {**TASK, "strategy": {**TASK["strategy"], "of": judge}},
            "arms": {"grpo": {"method": "grpo"}, "poly": {"method": "poly_epo", "set_size": 2}},
            "steps": 4,
            "num_iterations": 2,
            "checkpoint_every": 2,
            "prompts_per_step": 3,
            "samples_per_prompt": 4,
            "max_new_tokens": 8,
            "eval_samples": 5,
        }
        Path("config.yaml").write_text(yaml.safe_dump(values))
        yield Path("config.yaml")


def content(folder):
    """Every file and folder with its bytes and times."""
    return {
        path.relative_to(folder): (path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path != folder / "tmp"  # in which a folder comes and goes
    }


def dry_run(capsys, *options):
    with pytest.raises(SystemExit) as left:
        cli.main(["train", "--config", "config.yaml", "--dry-run", *options])
    return left.value.code, capsys.readouterr()


def test_the_plan_counts_what_is_new_and_writes_nothing(config, tmp_path, capsys):
    before = content(tmp_path)
    code, printed = dry_run(capsys)
    assert code == 0, printed.err
    assert content(tmp_path) == before
    assert "own: 2 arms × 1 seed, from " in printed.out
    assert "3 prompts × 4 samples per step = 24 samples of at most 8 tokens" in printed.out
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["sampled", "tokens", "384"] in rows
    assert ["judge", "requests", "12"] in rows
    assert "an evaluation on test: 4 problems × 5 samples = 20" in printed.out
    assert "to do: 8 steps with 48 samples, and 60 samples of evaluations; 864 tok" in printed.out
    assert "time: unknown before the first steps" in printed.out


def make_half_a_run(config):
    """A finished arm and one with a checkpoint; the base is evaluated."""
    run_dir = Path("runs/own")
    with claimed(run_dir, ResolvedConfig.load(config).config):
        files.write_lines(run_dir / BASE / "evaluation" / "test.jsonl", [{"schema_version": 1}])
    done, going = (Run(run_dir).seed(arm, 0) for arm in ("grpo", "poly"))
    done.final.mkdir(parents=True)
    going.checkpoint(2).mkdir(parents=True)
    (going.checkpoint(2) / "complete").write_text("{}")
    times = [{"step": i, "time/step": seconds} for i, seconds in enumerate([60, 90, 300])]
    files.write_lines(done.metrics_file, times)
    going.checkpoint(4).mkdir()  # not complete


def test_what_is_there_is_not_planned_again(config, tmp_path, capsys):
    make_half_a_run(config)
    before = content(tmp_path)
    _, printed = dry_run(capsys, "--set", "seeds=[0, 1]")
    rows = [line.split() for line in printed.out.splitlines()]
    for row in (
        ["base", "done"],
        ["grpo", "0", "done", "new:", "test"],
        ["poly", "0", "goes", "on", "after", "step", "2", "new:", "test"],
        ["poly", "1", "new", "new:", "test"],
    ):
        assert row in rows
    assert "to do: 10 steps with 60 samples, and 80 samples of evaluations" in printed.out
    assert (
        "the median step took 90.00 s, so the new steps take about 9 minutes, 2 side" in printed.out
    )
    _, printed = dry_run(capsys, "--overwrite", "--set", "steps=2")
    assert "to do: 4 steps with 24 samples, and 60 samples of evaluations" in printed.out
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        ("steps=6", 2, "runs/own holds a run with another config:\n  steps: 4 → 6"),
        ("task.strategy.of.endpoint=http://127.0.0.1:1/v1", 1, "/v1 cannot be reached"),
        ("max_new_tokens=4000", 2, "is more than the 2048 of the model's context"),
        ("trainer={use_vlm: true}", 2, "did you mean 'use_vllm'?"),
        ("trainer={max_grad_norm: x}", 2, "trainer.max_grad_norm must be a number, got 'x'"),
        ("trainer={adam_beta1: '0.9'}", 2, "trainer.adam_beta1 must be a number, got '0.9'"),
        ("trainer={warmup_steps: '5'}", 2, "trainer.warmup_steps must be a number, got '5'"),
        ("peft={r: '4'}", 2, "peft.r must be a whole number, got '4'"),
        ("stop_rule={window: 2.5}", 2, "stop_rule: window must be a whole number, got 2.5"),
        ("stop_rule={window: '3'}", 2, "stop_rule: window must be a whole number, got '3'"),
        ("stop_rule={windw: 3}", 2, "did you mean 'window'?"),
        ("stop_rule={window: 0}", 2, "stop_rule: window must be at least 1, got 0"),
        ("model=model/empty", 2, "model/empty is not a model's folder or name"),
        ("model=model/bare", 2, "model/bare has no tokenizer: save it in the folder of the model"),
    ],
)
def test_what_train_refuses_is_refused(config, tmp_path, capsys, change, code, sentence):
    make_half_a_run(config)
    (tmp_path / "model" / "empty").mkdir()
    (tmp_path / "model" / "bare").mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tmp_path / "model" / name, tmp_path / "model" / "bare")
    before = content(tmp_path)
    left, printed = dry_run(capsys, "--set", change)
    assert left == code
    assert sentence in printed.err
    assert content(tmp_path) == before


def test_a_refused_process_writes_nothing_into_the_folder_of_another(config, tmp_path, capsys):
    make_half_a_run(config)
    with claimed(Path("runs/own"), ResolvedConfig.load(config).config):
        before = content(tmp_path)
        with pytest.raises(SystemExit) as left:
            cli.main(["train", "--config", str(config)])
        assert content(tmp_path) == before
    assert left.value.code == 1
    assert "runs/own: another process is running it" in capsys.readouterr().err


def test_a_run_that_another_process_holds_is_not_planned(config, capsys):
    with claimed(Path("runs/own"), ResolvedConfig.load(config).config):
        code, printed = dry_run(capsys)
    assert (code, "runs/own: another process is running it" in printed.err) == (1, True)
