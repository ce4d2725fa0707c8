"""Files that are damaged or of another kind, and what the command line answers."""

import gzip
import json
import re

import pytest

GROUP = {"prompt": "p", "rewards": [1, 0, 1], "clusters": [0, 1, 2]}


def problem(number):
    return {
        "schema_version": 1,
        "prompt": f"problem {number}",
        "split": "test",
        "n": 4,
        "correct": [1, 0, 1, number % 2],
        "strategies": ["a", None, "b", "a"],
        "answers": ["1", "2", "3", "4"],
    }


LINES = [json.dumps(problem(number)) for number in range(4)]


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the line is dropped without a word")
@pytest.mark.parametrize("cut", [1, 30, len(LINES[-1]) - 1])
def test_a_torn_last_line_stops_an_evaluation(setrl, tmp_path, cut):
    path = tmp_path / "torn.jsonl"
    path.write_text("\n".join(LINES)[:-cut])
    code, _, error = setrl("evaluate", "--samples", path)
    assert code == 3
    assert "torn.jsonl" in error
    assert "line 4" in error


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the problem is counted twice")
@pytest.mark.parametrize("again", [0, 3])
def test_a_problem_that_stands_twice_stops_an_evaluation(setrl, tmp_path, again):
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join([*LINES, LINES[again]]) + "\n")
    code, _, error = setrl("evaluate", "--samples", path)
    assert code == 3
    assert "twice.jsonl" in error
    assert "line 5" in error


COMMANDS = {
    "credit": lambda path: ("credit", path, "--set-size", 2),
    "evaluate": lambda path: ("evaluate", "--samples", path),
    "judge": lambda path: ("judge", path, "--judge", "exact"),
    "validate-data": lambda path: ("validate-data", path),
}


@pytest.mark.xfail(strict=True, raises=RecursionError, reason="a traceback")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_json_that_is_nested_too_deep_gets_a_sentence(setrl, tmp_path, command, brackets):
    path, depth = tmp_path / "deep.jsonl", 100_000
    opening = '{"rewards":' if brackets == "{}" else "["
    path.write_text(opening * depth + "1" + brackets[1] * depth)
    code, _, error = setrl(*COMMANDS[command](path))
    assert code == 3
    assert "nested" in error


def answer_to(setrl, path, command):
    """Standard error of a command that refuses a file, without the file's name."""
    code, out, error = setrl(*COMMANDS[command](path))
    assert code == 3
    return (out + error).replace(str(path), "")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="says that it cannot be decoded")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_compressed_file_is_recognised(setrl, tmp_path, command):
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(GROUP).encode(), mtime=0))
    assert re.search("compressed|gzip", answer_to(setrl, path, command))


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="says that it is not JSON")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_array_in_the_place_of_lines_is_recognised(setrl, tmp_path, command):
    path = tmp_path / "lines.json"
    path.write_text(json.dumps([GROUP, GROUP], indent=1))
    assert "array" in answer_to(setrl, path, command)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="says that it is not JSON")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_byte_order_mark_is_read_over_or_named(setrl, tmp_path, command):
    path = tmp_path / "marked.jsonl"
    line = json.dumps({**problem(1), "rewards": [1, 0, 1, 1], "texts": ["a"] * 4, "answer": "7"})
    path.write_text(line + "\n", encoding="utf-8-sig")
    _, out, error = setrl(*COMMANDS[command](path))
    assert "not JSON" not in out + error


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
