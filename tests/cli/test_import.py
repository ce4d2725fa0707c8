"""`setrl import` and `setrl evaluate --samples`, from arguments to figures and exit codes."""

import json
import re
from pathlib import Path

import pytest

from setrl import cli, mean_set_scores, objectives
from setrl.evaluation.estimators import pass_at_k
from setrl.logs.records import load_evaluation

COMPLETIONS = Path(__file__).parents[1] / "data" / "trl_completions"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    return left.value.code, capsys.readouterr()


def test_a_log_of_trl_evaluates_without_a_model(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    path = tmp_path / "trl.jsonl"
    code, printed = run(
        capsys, "import", "trl", COMPLETIONS, "--output", path, "--reward", "brevity",
        "--steps", "1:2", "--correct-above", 0.03, "--strategy", "strategy",
    )  # fmt: skip
    assert (code, printed.out) == (0, "")
    assert f"{path}: 5 problems × 4 samples from trl" in printed.err
    code, printed = run(capsys, "evaluate", "--samples", path)
    evaluation = load_evaluation(path)
    assert code == 0
    assert "5 problems × 4 samples, 95% intervals" in printed.out
    row = next(line for line in printed.out.splitlines() if line.startswith("2 "))
    passed = pass_at_k(evaluation.correct_count_P, 4, 2).mean()
    assert f"{passed:.1%} [" in row
    best = mean_set_scores(evaluation.rewards_PN, objectives.max(), [2])
    assert f" {best.mean():.3f} [" in row
    assert "majority" not in printed.out
    code, printed = run(capsys, "evaluate", "--samples", path, "--json")
    assert json.loads(printed.out)["metrics"]["pass@2"]["value"] == pytest.approx(passed)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import", "trl", COMPLETIONS, "--output", "o"], 2, "name one with --reward"),
        (["import", "trl", "nowhere", "--output", "o"], 3, "no such file or folder"),
        (["import", "wandb", "x", "--output", "o"], 2, "wandb"),
        (["import", "verl", "x", "--output", "o", "--steps", "a"], 2, "--steps must be FIRST"),
        (["evaluate", "--samples", "nowhere.jsonl"], 3, "nowhere.jsonl: no such file"),
        (["evaluate", "--samples", "4"], 2, "give --checkpoint or --endpoint, got neither"),
    ],
)
def test_what_is_wrong_is_said(capsys, arguments, code, message):
    left, printed = run(capsys, *arguments)
    assert left == code
    assert message in printed.err


LM_EVAL = {"doc_id": 1, "doc": "x", "resps": [["a"]], "metrics": ["m"], "m": 1}
VERL = {"input": "a", "output": "b", "step": 1, "score": 1}
INSPECT = {"id": 1, "input": "p", "target": "2"}


@pytest.mark.parametrize(
    ("source", "record", "message"),
    [
        ("verl", {**VERL, "step": "x"}, "log.json:1: is not of the form that the tool writes"),
        ("verl", {**VERL, "input": 3}, "log.json:1: .* neither a text nor messages: '3'"),
        ("lm-eval", {**LM_EVAL, "resps": 3}, "log.json:1: is not of the form"),
        ("lm-eval", {**LM_EVAL, "m": [1, 2]}, "log.json:1: a score must be a finite number"),
        ("inspect", {"samples": [1]}, "log.json, sample 0: is not of the form"),
        ("inspect", {"samples": [{**INSPECT, "scores": 3}]}, "log.json, sample 0: is not of"),
        ("inspect", {"samples": [{**INSPECT, "scores": {"m": 7}}]}, "log.json, sample 0: is not"),
    ],
)
def test_records_of_another_form_are_named(tmp_path, capsys, source, record, message):
    path, output = tmp_path / "log.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps(record) + "\n")
    code, printed = run(capsys, "import", source, path, "--output", output)
    assert code == 3
    assert re.search(message, printed.err)
    assert not output.exists()
