"""Problems are matched by their ids, in every command that reads logs."""

import json

import numpy as np
import pytest

pytest.importorskip("tyro")

from setrl.logs.importers.tools import READERS
from tests.sessions import unwrapped


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def log(path, rates, **more):
    """A problem for each rate, four samples; all problems share two prompts."""
    return write(
        path,
        [
            {"id": f"p{p}", "prompt": f"What is {'xy'[p % 2]}?", "correct": i < rate, **more}
            for p, rate in enumerate(rates)
            for i in range(4)
        ],
    )


RATES, OTHERS = [0, 1, 2, 3, 4, 4], [1, 1, 3, 3, 4, 2]


def pass_1(out):
    return json.loads(out)["metrics"]["pass@1"]["value"]


def test_two_prompts_of_six_problems(setrl, tmp_path):
    first, second = log(tmp_path / "a.jsonl", RATES), log(tmp_path / "b.jsonl", OTHERS)
    imported = {}
    for path in (first, second):
        imported[path] = tmp_path / f"{path.stem}.eval.jsonl"
        assert setrl("import", "jsonl", path, "--output", imported[path])[0] == 0
        for file in (path, imported[path]):
            expected = np.mean(RATES if path == first else OTHERS) / 4
            assert pass_1(setrl("evaluate", file, "--json")[1]) == pytest.approx(expected)
    for pair in ((first, second), tuple(imported.values()), (first, imported[second])):
        code, out, _ = setrl("compare", *pair, "--json", "--k", 1)
        assert (code, json.loads(out)["problems"]) == (0, 6)
        assert json.loads(out)["rows"][0]["difference"]["value"] == pytest.approx(0)
    code, _, _ = setrl("report", *imported.values(), "--output", tmp_path / "r")
    summary = json.loads((tmp_path / "r/summary.json").read_text())["splits"]["given"]
    assert (code, summary["arms"]["a"]["problems"]) == (0, 6)


def test_what_only_one_file_has_is_left_out_and_said_everywhere(setrl, tmp_path):
    first, second = log(tmp_path / "a.jsonl", RATES), log(tmp_path / "b.jsonl", OTHERS[:4])
    _, out, _ = setrl("compare", first, second, "--quiet")
    said = unwrapped(out)
    assert f"2 problems of {first} left out, such as 'p4': not all have them" in said
    _, out, _ = setrl("compare", first, second, "--json")
    assert json.loads(out)["problems"] == 4
    code, _, err = setrl("report", first, second, "--output", tmp_path / "r", "--k", 1)
    assert "note: 2 problems of a left out, such as 'p4'" in err
    arms = json.loads((tmp_path / "r/summary.json").read_text())["splits"]["given"]["arms"]
    assert (code, arms["a"]["problems"], arms["b"]["problems"]) == (0, 4, 4)


def test_ids_that_only_number_the_problems_are_refused(setrl, tmp_path):
    rows = [{"id": p, "prompt": f"q{p}", "correct": p < 2} for p in range(3)]
    first = write(tmp_path / "a.jsonl", rows)
    turned = [{**row, "prompt": f"q{2 - row['id']}"} for row in rows]
    code, _, err = setrl("compare", first, write(tmp_path / "b.jsonl", turned))
    assert code == 3
    assert "problem '0' is 'q0' in" in err
    assert setrl("compare", first, tmp_path / "b.jsonl", "--group", "prompt")[0] == 0


def test_one_prompt_with_two_golds_is_two_problems(setrl, tmp_path):
    rows = [
        {"prompt": "q", "answer": str(i), "gold": gold} for gold in ("1", "2") for i in range(2)
    ]
    path = write(tmp_path / "log.jsonl", rows)
    code, _, err = setrl("evaluate", path)
    assert code == 3
    assert f"{path}:3: the right answer to 'q' is '2' here, and '1' in {path}:1" in err
    code, _, err = setrl("evaluate", path, "--group", "prompt", "--gold", "gold")
    assert code == 0
    assert "2 rows have another right answer than the first of its group" in err


def test_an_answer_that_is_both_right_and_wrong_is_named(setrl, tmp_path):
    rows = [
        {"id": 0, "answer": "4", "correct": True},
        {"id": 0, "answer": "4", "correct": False},
        {"id": 1, "answer": "4", "correct": False},
        {"id": 1, "answer": "5", "correct": True},
    ]
    path = write(tmp_path / "log.jsonl", rows)
    said = "note: 1 answer of a problem marked both right and wrong, the first: '4' of '0'"
    assert said in setrl("evaluate", path)[2]
    setrl("import", "jsonl", path, "--output", tmp_path / "e.jsonl")
    assert said in setrl("evaluate", tmp_path / "e.jsonl")[2]
    assert said in setrl("compare", path, path)[2]


STRANGERS = {
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n": "`git lfs pull`",
    "<!DOCTYPE html>\n<html></html>\n": "is a page in HTML",
}


@pytest.mark.parametrize("text", STRANGERS)
@pytest.mark.parametrize("name", ["log.parquet", "log.eval", "log.json"])
def test_what_stands_in_place_of_a_file_is_named_by_every_reader(setrl, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    readers = [("import", tool, path, "--output", tmp_path / "e.jsonl") for tool in READERS]
    for command in (("evaluate", path), *readers):
        code, _, err = setrl(*command)
        assert (code, STRANGERS[text] in err) == (3, True), (command, err)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "num_correct": 9, "num_samples": 8}\n', "from 0 to num_samples, got 9 of 8"),
        ('{"id": 1, "correct": null}\n' * 2, "it is null in all of the first 2 rows"),
        ('{"id": 1, "correct": 1}\n{"id": 1\n{"id": 2, "correct": 0}\n', ":2: is not JSON"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(setrl, tmp_path, text, message):
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    for command in (("evaluate", path), ("compare", path, path), ("recommend", path)):
        code, _, err = setrl(*command)
        assert code in (2, 3)
        assert message in err


def test_a_damaged_line_in_the_middle_is_left_out_where_that_is_allowed(setrl, tmp_path):
    path = log(tmp_path / "log.jsonl", RATES, completion="it")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], lines[5][:20], *lines[6:]]))
    assert "--allow-damaged leaves such lines out" in setrl("evaluate", path)[2]
    for command in (["evaluate"], ["credit", "--method", "grpo"], ["judge", "--judge", "exact"]):
        code, out, err = setrl(*command, path, "--allow-damaged", "--quiet")
        assert code == 0
        assert "note: left out: 1 damaged line of log.jsonl, the first: line 6 is not JSON" in err
        assert "role" not in err
        if command[0] == "credit":  # a row for each line that can be read
            ids = [json.loads(line)["id"] for line in out.splitlines()]
            assert ids == [json.loads(line)["id"] for line in [*lines[:5], *lines[6:]]]


def lm_eval(path, resps=1, filters=("strict", "flexible"), **without):
    return write(
        path,
        [
            {
                "doc_id": p,
                "doc": {"question": f"q{p}"},
                "target": str(p),
                "resps": [["a"] * resps],
                "arguments": {"gen_args_0": {"arg_0": f"q{p}?"}},
                "filtered_resps": ["a"],
                "filter": name,
                "exact_match": float(p < 2 or place),
                **({} if without else {"metrics": ["exact_match"]}),
            }
            for p in range(4)
            for place, name in enumerate(filters)
        ],
    )


def test_a_file_of_lm_eval_is_read_as_one_by_every_command(setrl, tmp_path):
    path = lm_eval(tmp_path / "log.jsonl")
    code, out, err = setrl("evaluate", path, "--json")
    assert (code, pass_1(out), json.loads(out)["n"]) == (0, 0.5, 1)
    assert "filter strict is read, of strict, flexible" in err
    assert setrl("compare", path, path)[0] == 0
    assert pass_1(setrl("evaluate", path, "--correct", "exact_match", "--json")[1]) == 0.5
    bare = lm_eval(tmp_path / "bare.jsonl", filters=("strict",), metrics=False)
    assert pass_1(setrl("evaluate", bare, "--json")[1]) == 0.5
    four = lm_eval(tmp_path / "four.jsonl", 4)
    assert "has one score for 4 samples: give --verify" in setrl("evaluate", four)[2]


def test_a_file_of_inspect_is_recognised(setrl, tmp_path):
    samples = [
        {
            "id": p,
            "epoch": e,
            "input": f"q{p}",
            "target": "1",
            "output": {"completion": "1"},
            "scores": {"match": {"value": "CI"[p]}},
        }
        for p in (0, 1)
        for e in (1, 2)
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": {}, "samples": samples}))
    code, out, _ = setrl("evaluate", path, "--json")
    assert (code, pass_1(out), json.loads(out)["n"]) == (0, 0.5, 2)
    assert setrl("credit", path, "--method", "grpo")[0] == 0
