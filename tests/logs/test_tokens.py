"""How many tokens a sample has is read where a log counts them, and unknown elsewhere."""

import json
import zipfile
from pathlib import Path

import pytest

from setrl.logs import LogOptions, open_log
from setrl.logs.importers.tools import READERS
from setrl.logs.records import checked, group_of
from tests.logs.test_inspect_ai import sample
from tests.logs.test_verl import line

TINKER = Path(__file__).parents[1] / "data" / "tinker_cookbook"


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def tokens_of(path, tool=None):
    return [one.tokens for group in open_log(path, tool=tool) for one in group.samples]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"num_tokens": 7}, 7),
        ({"usage": {"completion_tokens": 8}}, 8),
        ({"completion_ids": [5, 6, 7]}, 3),
        ({"response_length": 9}, None),  # letters, perhaps
        ({}, None),
    ],
)
def test_any_log(tmp_path, more, wanted):
    rows = [{"id": "p", "response": one, "correct": True, **more} for one in "ab"]
    assert tokens_of(lines(tmp_path / "log.jsonl", *rows)) == [wanted] * 2


@pytest.mark.parametrize(
    ("name", "tokens", "wanted"),
    [
        ("num_tokens", [3, 1], [3, 1]),
        ("completion_ids", [[4, 5, 6], [4]], [3, 1]),
        ("completion_ids", [7, 8], [None, None]),  # the names of two samples
    ],
)
def test_lists_of_the_samples_of_a_problem(tmp_path, name, tokens, wanted):
    row = {"id": "p", "responses": ["a", "b"], "correct": [True, False], name: tokens}
    assert tokens_of(lines(tmp_path / "log.jsonl", row)) == wanted


def test_verl(tmp_path):
    rows = line("q", "a", 1, 1), line("q", "b", 0, 1, response_length=4)
    path = lines(tmp_path / "1.jsonl", *rows)
    assert tokens_of(path, "verl") == [None, 4]


def test_trl(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {"step": 1, "prompt": "q", "completion": "a", "acc": 1.0, "advantage": 0.5}
    path = tmp_path / "completions_00001.parquet"
    pq.write_table(pa.Table.from_pylist([{**row, "completion_length": n} for n in (2, 3)]), path)
    assert tokens_of(path, "trl") == [2, 3]  # a number of tokens is not a second score


def test_inspect(tmp_path):
    one = sample(1, 1, "7", "C")
    one["output"]["usage"] = {"input_tokens": 50, "output_tokens": 6}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps(one))
    assert tokens_of(tmp_path / "log.eval", "inspect") == [6]


def test_tinker_cookbook_counts_what_the_policy_wrote_in_all_steps():
    path = TINKER / "iteration_000000" / "train_rollout_summaries.jsonl"
    records = sorted(map(json.loads, path.read_text().splitlines()), key=lambda r: r["group_idx"])
    wanted = [sum(step["ac_len"] for step in record["steps"]) for record in records]
    found = READERS["tinker"].groups(path, LogOptions(), [])
    assert [one.tokens for group in found for one in group.samples] == wanted


def test_own_rollouts():
    one = {"text": "a", "reward": 1.0, "correct": True, "advantage": 0.0}
    old = {"schema_version": 1, "prompt": "q", "samples": [{**one, "tokens": 5}, one]}
    assert group_of(checked(old, "here"), "here").column("tokens") == [5, None]
