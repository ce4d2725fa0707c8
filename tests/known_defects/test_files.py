"""What the command line answers."""

import json

import pytest


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="lists all commands, names none")
@pytest.mark.parametrize(
    ("written", "meant"),
    [("credt", "credit"), ("evalute", "evaluate"), ("judge-adit", "judge-audit")],
)
def test_a_command_that_is_nearly_right_is_recognised(setrl, written, meant):
    code, _, error = setrl(written)
    assert code == 2
    assert f"did you mean {meant}?" in " ".join(error.lower().split())


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="there is no such option")
def test_a_label_may_be_declared_degenerate(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "clusters": [100, 1, 2, 100]}))
    code, out, _ = setrl("credit", path, "--set-size", 2, "--degenerate", 100)
    assert code == 0
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "clusters": [None, 1, 2, None]}))
    _, expected, _ = setrl("credit", path, "--set-size", 2)
    assert json.loads(out)["advantages"] == json.loads(expected)["advantages"]


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="100 passes as a cluster like others")
def test_a_label_of_100_beside_small_ones_is_warned_about(setrl, tmp_path):
    path = tmp_path / "groups.jsonl"
    path.write_text(json.dumps({"rewards": [1, 0, 1, 1], "clusters": [100, 1, 2, 100]}))
    code, _, error = setrl("credit", path, "--set-size", 2)
    assert code == 0
    assert "degenerate" in error


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="nothing is said about it")
@pytest.mark.parametrize("status", ["cancelled", "error"])
def test_a_log_that_was_cancelled_is_announced(setrl, tmp_path, status):
    message = {"message": {"role": "assistant", "content": "7"}, "stop_reason": "stop"}
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "q",
        "target": "7",
        "output": {"model": "m", "choices": [message]},
        "scores": {"match": {"value": "C", "answer": "7"}},
        "attachments": {},
    }
    path = tmp_path / "log.json"
    log = {"version": 2, "status": status, "eval": {"task": "t"}, "samples": [sample]}
    path.write_text(json.dumps(log))
    code, out, error = setrl("import", "inspect", path, "--output", tmp_path / "samples.jsonl")
    assert code == 0
    assert status in (out + error).replace(str(tmp_path), "")
