"""`setrl evaluate` from arguments to printed numbers."""

import json

import pytest

import tiny_model
from setrl.errors import ConfigError
from setrl.evaluation.command import evaluate_and_print
from setrl.evaluation.records import load_evaluation
from setrl.evaluation.summary import metric_values


@pytest.fixture(scope="module")
def tiny_checkpoint(tmp_path_factory):
    return tiny_model.make(tmp_path_factory.mktemp("checkpoint"))


def test_prints_what_the_file_holds_and_summarises_it(tiny_checkpoint, tmp_path, capsys):
    path = tmp_path / "model" / "evaluation" / "test.jsonl"
    evaluate_and_print(tiny_checkpoint, "polynomial", "test", 3, 8, 0, path)
    printed = capsys.readouterr().out
    assert "3 problems × 8 samples, temperature 1" in printed
    values = metric_values(load_evaluation(path))
    rows = {line.split()[0]: line for line in printed.splitlines() if line[:1].isdigit()}
    for k in (1, 2, 4, 8):
        assert f"{100 * values[f'pass@{k}'].mean():.1f}% [" in rows[str(k)]
        assert f" {values[f'strategies@{k}'].mean():.1f} [" in rows[str(k)]
    summary = json.loads((path.parent / "summary.json").read_text())
    assert summary["splits"]["test"]["arms"]["model"]["n"] == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": "dev"}, "split must be one of train, test, shifted, got 'dev'"),
        ({"domain": "chess"}, "unknown domain 'chess'"),
        ({"samples": 0}, "problems and samples must be at least 1, got 2 and 0"),
        ({"checkpoint": "nowhere"}, "nowhere is not a model's folder or name"),
    ],
)
def test_wrong_arguments_are_config_errors(tiny_checkpoint, tmp_path, changes, message):
    arguments = {
        "checkpoint": tiny_checkpoint,
        "domain": "polynomial",
        "split": "test",
        "problems": 2,
        "samples": 2,
        "seed": 0,
        "path": tmp_path / "test.jsonl",
        **changes,
    }
    if changes.get("checkpoint"):
        arguments["checkpoint"] = tmp_path / "nowhere"
    with pytest.raises(ConfigError, match=message):
        evaluate_and_print(**arguments)
