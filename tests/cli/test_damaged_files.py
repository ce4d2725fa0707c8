"""Files that are damaged or of another kind, and what the command line answers."""

import gzip
import json
import re

import pytest

from tests import fake_run

GROUP = {"prompt": "p", "rewards": [1, 0, 1], "strategies": [0, 1, 2]}


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


@pytest.mark.parametrize("cut", [1, 30, len(LINES[-1]) - 1])
def test_a_torn_last_line_stops_an_evaluation(setrl, tmp_path, cut):
    path = tmp_path / "torn.jsonl"
    path.write_text("\n".join(LINES)[:-cut])
    code, _, error = setrl("evaluate", path)
    assert code == 3
    assert "torn.jsonl:4: is not JSON" in error
    assert "the last line seems to be cut off" in error


@pytest.mark.parametrize("again", [0, 3])
def test_a_problem_that_stands_twice_stops_an_evaluation(setrl, tmp_path, again):
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join([*LINES, LINES[again]]) + "\n")
    code, _, error = setrl("evaluate", path)
    assert code == 3
    assert re.search(rf"twice.jsonl:5 has the problem of .*twice.jsonl:{again + 1}: repair", error)


def test_a_damaged_file_is_read_where_that_is_allowed(setrl, tmp_path):
    whole, damaged = tmp_path / "whole.jsonl", tmp_path / "spoilt.jsonl"
    whole.write_text("\n".join(LINES))
    damaged.write_text("\n".join([*LINES, LINES[0], LINES[1][:20]]))
    code, out, error = setrl("evaluate", damaged, "--allow-damaged", "--json", "--quiet")
    assert code == 0
    assert "left out: 2 damaged lines of spoilt.jsonl, the first: line 6 is not JSON" in error
    _, expected, _ = setrl("evaluate", whole, "--json")
    assert out.replace("spoilt.jsonl", "whole.jsonl") == expected
    assert setrl("compare", whole, damaged)[0] == 3
    assert setrl("compare", whole, damaged, "--allow-damaged")[0] == 0


COMMANDS = {
    "credit": lambda path: ("credit", path, "--set-size", 2),
    "evaluate": lambda path: ("evaluate", path),
    "judge": lambda path: ("judge", path, "--judge", "exact"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_json_that_is_nested_too_deep_gets_a_sentence(setrl, tmp_path, command, brackets):
    path, depth = tmp_path / "deep.jsonl", 100_000
    opening = '{"rewards":' if brackets == "{}" else "["
    path.write_text(opening * depth + "1" + brackets[1] * depth)
    code, _, error = setrl(*COMMANDS[command](path))
    assert code == 3
    assert "nested" in error


@pytest.mark.parametrize("command", ["credit", "judge"])
def test_arrays_and_compressed_files_are_read(setrl, tmp_path, command):
    group, path = {**GROUP, "texts": ["a", "b", "c"]}, tmp_path / "lines.jsonl"
    if command == "judge":
        del group["strategies"]
    for data in (gzip.compress(json.dumps(group).encode(), mtime=0), json.dumps([group]).encode()):
        path.write_bytes(data)
        code, _, error = setrl(*COMMANDS[command](path))
        assert code == 0, error
        (tmp_path / "lines.judged.jsonl").unlink(missing_ok=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_byte_order_mark_is_read_over_or_named(setrl, tmp_path, command):
    path = tmp_path / "marked.jsonl"
    line = json.dumps({**problem(1), "rewards": [1, 0, 1, 1], "texts": ["a"] * 4, "answer": "7"})
    path.write_text(line + "\n", encoding="utf-8-sig")
    _, out, error = setrl(*COMMANDS[command](path))
    assert "not JSON" not in out + error


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("run.json", b'{"schema_version": 1, "na'),
        ("run.json", bytes(99)),
        ("config.yaml", b"name: [a, b, c, d"),
        ("config.yaml", bytes(99)),
        ("grpo/seed_0/evaluation/test.jsonl", b'{"schema_version": 1, "na'),
        ("grpo/seed_0/evaluation/test.jsonl", bytes(99)),
    ],
)
def test_a_damaged_file_of_a_run_is_named_by_its_report(setrl, tmp_path, file, data):
    folder = fake_run.make(tmp_path / "run", arms=("grpo",), problems=2, n=4, steps=2)
    (folder / file).write_bytes(data)
    code, _, error = setrl("report", folder)
    assert code in (2, 3)
    assert file in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("data", [b"name: [a, b", bytes(99), b"[" * 1000, b"\xff\xfe"])
@pytest.mark.parametrize("command", ["train", "control"])
def test_a_damaged_config_gets_a_sentence(setrl, tmp_path, data, command):
    path = tmp_path / "config.yaml"
    path.write_bytes(data)
    code, _, error = setrl(command, "--config", path)
    assert code == 2
    assert "config.yaml" in error
    assert len(error.splitlines()) == 1
