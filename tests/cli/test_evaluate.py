"""`setrl evaluate`: the numbers that it prints for a file of samples."""

import errno
import json

import pytest

from setrl.cli.evaluate import Evaluate
from setrl.evaluate.comparison import compare_paths
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.metrics import metric_values
from setrl.support.errors import ConfigError
from tests import fake_run
from tests.sessions import unwrapped


def test_metrics_are_chosen_by_name(tmp_path, capsys):
    run = fake_run.make(tmp_path / "run", arms=("grpo",), n=8, steps=1)
    path = run / "base/evaluation/test.jsonl"
    values = metric_values(load_evaluation(path))
    Evaluate(file=path).run()
    usual = capsys.readouterr().out
    assert f"0.75  {100 * values['cover@0.75'].mean():.1f}% [" in usual
    assert "G-pass" not in usual
    Evaluate(file=path, metrics=("top_share", "g_pass_1", "g_pass_mean")).run()
    _, curves, number = capsys.readouterr().out.strip().split("\n\n")
    heads, first, second, *_ = curves.splitlines()
    assert heads.split() == ["k", "G-pass(τ=1)@k", "mG-pass@k"]
    assert first.split()[-1] == "—"  # mG-pass@1 is a sum of nothing
    assert f"{100 * values['g_pass_mean@2'].mean():.1f}% [" in second
    assert number.startswith("share of the commonest ")
    Evaluate(file=path, metrics=("all",)).run()
    assert {"G-pass(τ=0.75)@k", "Cover@τ"} <= set(capsys.readouterr().out.split())
    with pytest.raises(ConfigError, match="did you mean 'cover'"):
        Evaluate(file=path, metrics=("covr",)).run()


def test_it_reads_the_folders_that_compare_reads(tmp_path, capsys):
    run = fake_run.make(tmp_path / "run", arms=("grpo",), n=8, steps=1, problems=3)
    Evaluate(file=run / "grpo").run()
    assert "2 seeds, 95% intervals over problems and seeds" in unwrapped(capsys.readouterr().out)
    Evaluate(file=run / "grpo", json=True).run()
    printed = json.loads(capsys.readouterr().out)
    compared = compare_paths(run / "base", run / "grpo", metrics=["pass"])
    assert printed["seeds"] == [0, 1]
    for row in compared.rows:
        assert printed["metrics"][f"pass@{row.k}"]["value"] == row.second.value
    Evaluate(file=run / "base", split="shifted", json=True).run()
    of_folder = json.loads(capsys.readouterr().out)["metrics"]
    Evaluate(file=run / "base/evaluation/shifted.jsonl", json=True).run()
    assert of_folder == json.loads(capsys.readouterr().out)["metrics"]


def test_a_single_problem_has_no_interval(tmp_path, capsys):
    record = {"schema_version": 1, "prompt": "p", "split": "t", "n": 2, "correct": [1, 0]}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({**record, "strategies": [None] * 2, "answers": [None] * 2}) + "\n")
    Evaluate(file=path, metrics=("pass",)).run()
    assert capsys.readouterr().out.splitlines()[3:] == [
        "k  pass@k",
        "1  50.0% [—]",
        "2  100.0% [—]",
    ]


def test_a_folder_that_cannot_be_written_is_read(tmp_path, capsys, monkeypatch):
    path = fake_run.make(tmp_path / "run", arms=("grpo",), n=8, steps=1)
    path /= "base/evaluation/test.jsonl"

    def read_only(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system", "summary.json")

    monkeypatch.setattr("setrl.evaluate.summary.write_checkpoint_summary", read_only)
    Evaluate(file=path).run()
    printed = capsys.readouterr()
    assert "pass@k" in printed.out
    assert "no summary.json is written: cannot write or read summary.json" in printed.err
