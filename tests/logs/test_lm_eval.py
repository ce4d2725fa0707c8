"""lm-eval's samples: its own (0.4.13), and lines made by hand in the format of `--log_samples`."""

import json
from pathlib import Path

import pytest

from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import read_log

LOGS = Path(__file__).parents[1] / "data/lm_eval"


def line(doc_id, texts, answers, score, **changes):
    fields = {
        "doc_id": doc_id,
        "doc": {"question": f"q{doc_id}", "answer": "work\n#### 7"},
        "target": "work\n#### 7",
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{doc_id}", "arg_1": {"until": ["Q:"]}}},
        "resps": [texts],
        "filtered_resps": answers,
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": score,
    }
    return {**fields, **changes}


def write(folder, *lines):
    path = folder / "samples_gsm8k_2026-03-01T00-00-00.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def read(path, **options):
    return read_log("lm-eval", path, **options)


def test_one_sample_a_problem(tmp_path):
    path = write(tmp_path, line(0, ["#### 7"], ["7"], 1.0), line(1, ["no"], ["[invalid]"], 0.0))
    first, second = read(path.parent).records
    assert (first["prompt"], first["texts"], first["answers"]) == ("Q: q0", ["#### 7"], ["7"])
    assert (first["correct"], second["correct"], second["answers"]) == ([1], [0], [None])
    assert first["id"] == "samples_gsm8k/0"


def test_two_runs_of_a_task_share_ids_and_are_refused_in_one_folder(tmp_path):
    for run, time in (("a", "2026-03-01T00-00-00.5"), ("b", "2026-03-02T00-00-00.5")):
        path = write(tmp_path, line(0, ["7"], ["7"], 1.0))
        (tmp_path / run).mkdir()
        path.rename(tmp_path / run / f"samples_gsm8k_{time}.jsonl")
    ids = [[one["id"] for one in read(tmp_path / run).records] for run in ("a", "b")]
    assert ids == [["samples_gsm8k/0"], ["samples_gsm8k/0"]]
    with pytest.raises(DataError, match="are two runs of samples_gsm8k: give one file, or a fol"):
        read(tmp_path)


def test_filters_without_names_are_numbered(tmp_path):
    """lm-evaluation-harness#2025: a line for each filter, and nothing says of which."""
    bare = [
        {key: value for key, value in line(i, ["#### 7"], [answer], score).items()
         if key not in ("filter", "metrics")}
        for answer, score in (("[invalid]", 0.0), ("7", 1.0)) for i in range(3)
    ]  # fmt: skip
    path = write(tmp_path, *bare, {**bare[0], "resps": [["another sample"]]})
    first, second = read(path), read(path, filter="2")
    assert [one["correct"] for one in first.records] == [[0], [0], [0]]
    assert [one["correct"] for one in second.records] == [[1], [1], [1]]
    assert "filter 1 is read, of 1, 2" in str(first.notes)
    with pytest.raises(ConfigError, match="has no filter '3'; it has 1, 2"):
        read(path, filter="3")


def test_two_tasks_in_a_folder_are_told_apart(tmp_path):
    for task in ("gsm8k", "svamp"):
        path = write(tmp_path, line(0, ["7"], ["7"], 1.0), line(1, ["7"], ["7"], 1.0))
        path.rename(tmp_path / f"samples_{task}_2026-03-01T00-00-00.5.jsonl")
    tasks = [one["task"] for one in read(tmp_path).records]
    assert tasks == ["gsm8k"] * 2 + ["svamp"] * 2


@pytest.mark.parametrize(
    ("chosen", "right"), [(None, [1, 0, 0, 0]), ("flexible-extract", [1, 1, 0, 0])]
)
def test_what_lm_eval_itself_wrote(chosen, right):
    records = read(LOGS, filter=chosen).records
    assert [one["id"] for one in records[::4]] == ["samples_products/0", "samples_sums/0"]
    assert [one["task"] for one in records] == ["products"] * 4 + ["sums"] * 4
    assert [one["correct"] for one in records] == [[each] for each in right] * 2
    assert (records[4]["prompt"], records[4]["gold"]) == ("0 + 5?", "5")


def test_a_missing_score_is_null_and_counts_as_wrong_if_asked(tmp_path):
    """One row a sample: a null score concerns its sample, and never the whole problem."""
    scores = {0: [1.0, None], 1: [0.0, 1.0], 2: [None, None]}
    path = write(tmp_path, *(line(p, ["7"], ["7"], s) for p, of in scores.items() for s in of))
    for ungraded, fate in (("left-out", None), ("wrong", "wrong")):
        records = read(path, ungraded=ungraded).records
        assert [record["correct"] for record in records] == [[1, None], [0, 1], [None, None]]
        assert {record.get("ungraded_are") for record in records} == {fate}


def test_arguments_of_older_versions(tmp_path):
    path = write(tmp_path, line(0, ["a"], ["a"], 1.0, arguments=[["Q: old", {"until": []}]]))
    assert read(path).records[0]["prompt"] == "Q: old"


def test_one_filter_is_read(tmp_path):
    path = write(
        tmp_path,
        line(0, ["7 is it"], ["[invalid]"], 0.0),
        line(0, ["7 is it"], ["7"], 1.0, filter="flexible-extract"),
    )
    imported = read(path)
    assert imported.records[0]["correct"] == [0]
    assert "filter strict-match is read, of strict-match, flexible-extract" in imported.notes[0]
    imported = read(path, filter="flexible-extract")
    assert (imported.records[0]["correct"], imported.notes) == ([1], [])
    with pytest.raises(ConfigError, match="has no filter 'x'; it has strict-match, flexible"):
        read(path, filter="x")


def test_several_samples_share_a_score_and_must_be_verified(tmp_path):
    texts = ["I say #### 7", "I say #### 8", "I say nothing"]
    path = write(tmp_path, line(0, texts, [["7", "8", "[invalid]"]], 1.0))
    with pytest.raises(DataError, match="has one score for 3 samples: give --verify"):
        read(path)
    [record] = read(path, verify=True).records
    assert (record["correct"], record["answers"]) == ([1, 0, 0], ["7", "8", None])


def test_what_is_wrong_is_named(tmp_path):
    loglikelihood = line(0, [[-1.5, False]], [[-1.5, False]], 1.0)
    with pytest.raises(DataError, match="resps holds no generated texts"):
        read(write(tmp_path, loglikelihood))
    two = line(0, ["a"], ["a"], 1.0, metrics=["exact_match", "f1"], f1=0.5)
    with pytest.raises(ConfigError, match="has the scores exact_match, f1: name one"):
        read(write(tmp_path, two))
    assert read(write(tmp_path, two), reward="f1", correct_above=0).records[0]["rewards"] == [0.5]
