"""verl's rollouts; the lines are made by hand in the format of its trainers."""

import json

import pytest

from setrl.cli.import_log import ImportLog
from setrl.evaluate.loading import load_evaluation
from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import read_log


def line(question, output, score, step=10, **more):
    fields = {
        "input": f"user\n{question}\nassistant\n",
        "output": output,
        "gts": "7",
        "score": score,
        "step": step,
    }
    return {**fields, **more}


def write(path, *lines):
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines))
    return path


def read(path, **options):
    return read_log("verl", path, **options)


def test_samples_of_an_input_are_a_group(tmp_path):
    path = write(
        tmp_path / "10.jsonl",
        line("a", "x\u2028", 1.0), line("b", "y", 0.0), line("a", "z", 0.0), line("b", "w", 1.0),
    )  # fmt: skip
    imported = read(path)
    assert imported.notes == []
    first, second = imported.records
    assert (first["prompt"], first["texts"]) == ("user\na\nassistant\n", ["x\u2028", "z"])
    assert (first["correct"], second["correct"]) == ([1, 0], [0, 1])
    assert (first["gold"], first["step"], first["n"]) == ("7", 10, 2)


@pytest.mark.parametrize(
    "uids", [("p", "p", "q", "q"), ("p_0_0", "p_1_0", "q_0_0", "q_1_0")], ids=["group", "sample"]
)
def test_a_uid_tells_two_rows_of_one_input_apart(tmp_path, uids):
    lines = [line("a", str(i), float(i % 2), uid=uid) for i, uid in enumerate(uids)]
    imported = read(write(tmp_path / "10.jsonl", *lines))
    assert [record["texts"] for record in imported.records] == [["0", "1"], ["2", "3"]]


def test_the_last_step_of_a_folder_by_number(tmp_path):
    for step in (9, 10):
        write(tmp_path / f"{step}.jsonl", line("a", f"step {step}", 1.0, step=step))
    imported = read(tmp_path)
    assert imported.records[0]["texts"] == ["step 10"]
    assert "left out: all steps but 10, of 9 to 10" in imported.notes[0]


def test_minus_one_and_one_are_graded_until_a_threshold_is_given(tmp_path):
    path = write(
        tmp_path / "1.jsonl", line("a", "x", -1.0, acc=False), line("a", "y", 1.0, acc=True)
    )
    with pytest.raises(ConfigError, match=r"reward is graded \(-1 to 1\)"):
        read(path)
    [record] = read(path, correct_above=0).records
    assert (record["rewards"], record["correct"]) == ([-1.0, 1.0], [0, 1])
    assert read(path, reward="acc").records[0]["correct"] == [0, 1]


def test_groups_of_other_sizes_are_left_out_and_said(tmp_path):
    sizes = {"a": 2, "b": 2, "c": 1, "d": 3}
    lines = [line(name, str(i), 1.0) for name, size in sizes.items() for i in range(size)]
    missing = [line("e", "0", 1.0), line("e", "none", None)]
    imported = read(write(tmp_path / "1.jsonl", *lines, *missing))
    assert [record["texts"] for record in imported.records] == [["0", "1"]] * 3 + [["0", "none"]]
    assert imported.notes == [
        "left out: 1 sample beyond n = 2 of their group",
        "left out: 1 group of fewer than n = 2 samples",
        "kept as null: 1 sample without a score (null or NaN)",
    ]


def test_verify_holds_samples_against_the_gold(tmp_path):
    path = write(
        tmp_path / "1.jsonl", line("a", "so \\boxed{7.0}", 0.0), line("a", "so \\boxed{8}", 1.0)
    )
    [record] = read(path, verify=True).records
    assert (record["correct"], record["answers"][1]) == ([1, 0], "8")


def test_the_file_that_is_written_evaluates(tmp_path, capsys):
    path = write(tmp_path / "1.jsonl", line("a", "x", 1.0), line("a", "y", 0.0))
    output = tmp_path / "deep" / "out.jsonl"
    ImportLog(tool="verl", path=path, output=output).run()
    assert "1 problem × 2 samples from verl" in capsys.readouterr().err
    assert load_evaluation(output).correct_PN.tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the log holds no samples"),
        ("{", "1.jsonl:1: is not JSON"),
        ("\n[]", "1.jsonl:2: a line must be an object"),
        ('{"input": "a"}', "1.jsonl:1: has no 'step'; it has input"),
        ('{"input": "a", "output": "b", "step": 1}', "1.jsonl:1: has no 'score'"),
        (
            '{"input": "a", "output": "b", "step": 1, "score": "x"}',
            "got 'x'",
        ),
        ('{"input": "a", "output": "b", "step": 1, "score": Infinity}', "got inf"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "1.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path)


def test_samples_of_a_gold_that_cannot_be_graded_are_null(tmp_path):
    lines = [line("a", "\\boxed{7}", None), line("b", "\\boxed{7}", None, gts=" ")]
    imported = read(write(tmp_path / "10.jsonl", *lines), verify=True)
    assert [record["correct"] for record in imported.records] == [[1], [None]]
    assert imported.notes == [
        "kept as null: 1 sample without a score (null or NaN)",
        "1 problem has a right answer that cannot be used for grading, such as ' ': such "
        "samples have no grade",
    ]
