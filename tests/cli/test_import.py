"""`setrl import` and `setrl evaluate`, from arguments to figures and exit codes."""

import json
import re
from pathlib import Path

import pytest

from setrl import cli, mean_set_scores, objectives
from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.loading import load_evaluation

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
    code, printed = run(capsys, "evaluate", path)
    evaluation = load_evaluation(path)
    assert code == 0
    assert "5 problems × 4 samples, 95% intervals" in printed.out
    row = next(line for line in printed.out.splitlines() if line.startswith("2 "))
    passed = pass_at_k(evaluation.correct_count_P, 4, 2).mean()
    assert f"{passed:.1%} [" in row
    best = mean_set_scores(evaluation.samples.rewards, objectives.max(), [2])
    assert f" {best.mean():.3f} [" in row
    assert "majority" not in printed.out
    code, printed = run(capsys, "evaluate", path, "--json")
    assert json.loads(printed.out)["metrics"]["pass@2"]["value"] == pytest.approx(passed)


def test_the_output_folder_of_a_trainer_of_trl_is_read(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "completions").symlink_to(COMPLETIONS)
    written = []
    for place, folder in enumerate((tmp_path / "out", COMPLETIONS)):
        path = tmp_path / f"{place}.jsonl"
        command = ["import", "trl", folder, "--output", path, "--reward", "brevity"]
        assert run(capsys, *command, "--correct-above", 0.03)[0] == 0
        written.append(path.read_text())
    assert written[0] == written[1] != ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import", "trl", COMPLETIONS, "--output", "o"], 2, "name one with --reward"),
        (["import", "trl", "nowhere", "--output", "o"], 3, "no such file or folder"),
        (
            ["import", "wandb", "x", "--output", "o"],
            2,
            "unknown tool 'wandb'. Known: jsonl, trl, verl",
        ),
        (["evaluate", "."], 3, ". is neither a file of samples, nor the folder of another tool"),
        (["import", "verl", "x", "--output", "o", "--steps", "a"], 2, "--steps must be FIRST"),
        (
            ["import", "verl", "x", "--output", "o", "--group", "a"],
            2,
            "leave out --group; only --reward, --strategy, --answer, --gold can be named",
        ),
        (["import", "jsonl", "x", "--output", "o", "--steps", "1"], 2, "--steps and --filter are"),
        (["evaluate", "nowhere.jsonl"], 3, "nowhere.jsonl: no such file"),
        (["evaluate", "a", "--k", "0"], 2, "each --k must be at least 1, got 0"),
        (["sample", "--samples", "4"], 2, "give --checkpoint or --endpoint, got neither"),
    ],
)
def test_what_is_wrong_is_said(capsys, arguments, code, message):
    left, printed = run(capsys, *arguments)
    assert left == code
    assert message in printed.err


LOG = [
    {"qid": q, "is_right": (i * 7 + len(q)) % 3 > 0, "prompt": f"what is {q}?"}
    for q in ("a", "bb", "ccc")
    for i in range(6 if q == "a" else 4)
]


def test_a_log_of_one_s_own_is_evaluated_compared_and_imported(tmp_path, capsys):
    path, other, output = (tmp_path / name for name in ("log.jsonl", "b.jsonl", "out.jsonl"))
    path.write_text("".join(json.dumps(row) + "\n" for row in LOG))
    code, printed = run(capsys, "evaluate", path)
    assert code == 0
    assert "3 problems × 4 to 6 samples" in printed.out
    assert "correct  is_right  its name; true or false" in printed.err
    assert "problems have 4 to 6 samples: k ends at 4" in printed.out
    code, printed = run(capsys, "evaluate", path, "--k", 1, 5, "--json")
    found = json.loads(printed.out)
    assert found["problems"] == 1
    assert {name for name in found["metrics"] if name.startswith("pass")} == {"pass@1", "pass@5"}
    assert "2 of 3 problems have fewer than 5 samples" in printed.err

    code, printed = run(capsys, "import", "jsonl", path, "--output", output, "--group", "qid")
    assert (code, printed.out) == (0, "")
    assert "group    qid       --group" in printed.err
    assert "3 problems × 4 to 6 samples from jsonl" in printed.err
    of_log, of_import = (
        json.loads(run(capsys, "evaluate", file, "--json")[1].out) for file in (path, output)
    )
    assert of_log["metrics"] == of_import["metrics"]

    rows = [{**row, "qid": row["qid"], "is_right": True, "prompt": "else"} for row in LOG[::-1]]
    other.write_text(json.dumps([{k: v for k, v in row.items() if k != "prompt"} for row in rows]))
    code, printed = run(capsys, "compare", other, path, "--k", 1, 2, "--metrics", "pass", "--json")
    found = json.loads(printed.out)
    assert (code, found["problems"], len(found["rows"])) == (0, 3, 2)
    assert [row["first"]["value"] for row in found["rows"]] == [1, 1]
    assert found["band"]["ks"] == [1, 2, 3, 4]
    assert not list(tmp_path.glob("summary.json"))  # a log's folder is not ours

    code, printed = run(capsys, "compare", output, other, "--metrics", "pass", "--json")
    assert (code, json.loads(printed.out)["problems"]) == (0, 3)  # by ids: this log has no prompts


def test_a_folder_named_evaluation_gets_no_summary_of_a_log(tmp_path, capsys):
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in LOG))
    assert run(capsys, "evaluate", folder / "log.jsonl")[0] == 0
    assert [path.name for path in folder.iterdir()] == ["log.jsonl"]


LM_EVAL = {"doc_id": 1, "doc": "x", "resps": [["a"]], "metrics": ["m"], "m": 1}
VERL = {"input": "a", "output": "b", "step": 1, "score": 1}
INSPECT = {"id": 1, "input": "p", "target": "2"}


@pytest.mark.parametrize(
    ("source", "record", "message"),
    [
        ("verl", {**VERL, "step": "x"}, "log.json:1: is not of the form that the tool writes"),
        ("verl", {**VERL, "input": 3}, "log.json:1: .* neither text nor messages: '3'"),
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


def test_a_file_of_others_is_not_written_over(tmp_path, capsys):
    log, mine = tmp_path / "log.jsonl", tmp_path / "mine.jsonl"
    log.write_text('{"id": 1, "correct": true}\n{"id": 1, "correct": false}\n')
    mine.write_text("notes\n")
    code, printed = run(capsys, "import", "jsonl", log, "--output", mine)
    assert (code, mine.read_text()) == (2, "notes\n")
    said = "exists already and is not an evaluation file of this log: give another output"
    assert said in printed.err
    for _ in range(2):  # an evaluation file is written anew
        assert run(capsys, "import", "jsonl", log, "--output", tmp_path / "new.jsonl")[0] == 0
    before = (tmp_path / "new.jsonl").read_text()
    log.write_text('{"id": 1, "correct": true}\n{"id": 1, "correct": true}\n')
    code, printed = run(capsys, "import", "jsonl", log, "--output", tmp_path / "new.jsonl")
    assert (code, said in printed.err) == (2, True)
    assert (tmp_path / "new.jsonl").read_text() == before


def test_an_import_of_the_same_log_with_other_options_is_written_over(tmp_path, capsys):
    log, new = tmp_path / "log.jsonl", tmp_path / "new.jsonl"
    rows = [{"id": 1, "prompt": "p", "text": t, "a": t == "x", "b": t == "y"} for t in "xxy"]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for key in "ab":
        code, printed = run(capsys, "import", "jsonl", log, "--correct", key, "--output", new)
        assert code == 0, printed.err
    assert json.loads(new.read_text())["correct"] == [0, 0, 1]
