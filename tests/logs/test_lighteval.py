"""lighteval's details: its own (0.13.0), and rows made by hand in the form of `--save-details`."""

from pathlib import Path

import pytest

from setrl.logs import open_log
from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import read_log

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DETAILS = Path(__file__).parents[1] / "data/lighteval"


def row(identity, texts, metric, wrap="{}"):
    columns = {
        "doc": {
            "query": f"q{identity}", "choices": ["7"], "gold_index": [0], "id": identity,
            "task_name": "lighteval|aime24|0",
        },
        "metric": metric,
        "model_response": {"text": texts, "input_tokens": [[1]]},
    }  # fmt: skip
    return {wrap.format(name): value for name, value in columns.items()}


def write(folder, *rows):
    path = folder / "details_lighteval|aime24|0_2026-03-01.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def read(path, **options):
    return read_log("lighteval", path, **options)


def test_what_lighteval_itself_wrote():
    found = {one["id"]: one for one in read(DETAILS).records}
    assert {name: one["correct"] for name, one in found.items()} == {
        "sums|0/0": [1],
        "sums|0/1": [1],
        "sums|0/2": [0],
        "sums|0/3": [0],
    }
    first = found["sums|0/0"]
    assert (first["prompt"], first["gold"], first["texts"]) == ("0 + 5?", "5", ["5"])
    [sample] = open_log(DETAILS)[0].samples
    assert sample.tokens == 2


@pytest.mark.parametrize("wrap", ["{}", "__{}__"], ids=["new", "up to 0.12"])
def test_one_sample_a_problem(tmp_path, wrap):
    path = write(
        tmp_path, row("0", ["a"], {"pass@1": 1}, wrap), row("1", ["b"], {"pass@1": 0}, wrap)
    )
    first, second = read(path.parent).records
    assert (first["prompt"], first["texts"], first["gold"]) == ("q0", ["a"], "7")
    assert first["id"] == "lighteval|aime24|0/0"
    assert (first["correct"], second["correct"]) == ([1], [0])


def test_a_text_that_is_null_is_unknown(tmp_path):
    path = write(tmp_path, row("0", [None], {"em": 1}), row("1", ["b"], {"em": 0}))
    assert [group.samples[0].text for group in open_log(path)] == [None, "b"]


def test_several_samples_share_a_score_and_must_be_verified(tmp_path):
    path = write(tmp_path, row("0", ["\\boxed{7}", "\\boxed{8}"], {"pass@k:n=2": 0.5}))
    with pytest.raises(DataError, match="has one score for 2 samples: give --verify"):
        read(path)
    [record] = read(path, verify=True).records
    assert (record["n"], record["correct"], record["answers"]) == (2, [1, 0], ["7", "8"])


def test_what_is_wrong_is_named(tmp_path):
    two = row("0", ["a"], {"em": 1, "f1": 0.5})
    with pytest.raises(ConfigError, match="has the scores em, f1: name one with --reward"):
        read(write(tmp_path, two))
    [record] = read(write(tmp_path, two), reward="f1", correct_above=0.4).records
    assert (record["rewards"], record["correct"]) == ([0.5], [1])
    old = {"full_prompt": "q", "predictions": ["7"], "gold": ["7"], "metrics": {"em": 1}}
    with pytest.raises(DataError, match=r"is of lighteval before 0\.11"):
        read(write(tmp_path, old))
    with pytest.raises(DataError, match="has no column 'doc'; it has predictions"):
        read(write(tmp_path, {"predictions": "x"}))
