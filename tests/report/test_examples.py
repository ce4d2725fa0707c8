"""Examples: counted by brute force over the files of a made-up run."""

import json

import numpy as np
import pytest

from setrl.show.report.curves import thinned, training_curves
from setrl.show.report.run import ReportedRun
from setrl.show.report.solved import solved_by_one
from tests import fake_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "r"
    return fake_run.make(folder, problems=6, n=4, steps=10)


def records(run, arm, split="shifted"):
    seeds = [run / arm] if arm == "base" else sorted((run / arm).glob("seed_*"))
    return [
        [json.loads(line) for line in (seed / f"evaluation/{split}.jsonl").read_text().splitlines()]
        for seed in seeds
    ]


def change(path, edit):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for place, record in enumerate(lines):
        edit(place, record)
    path.write_text("".join(json.dumps(record) + "\n" for record in lines))


def only_poly_epo_solves(run, problem):
    for path in run.glob("**/evaluation/shifted.jsonl"):
        solves = "poly_epo/seed_1" in str(path)

        def edit(place, record, solves=solves):
            if place == problem:
                record["correct"] = [0, 0, 0, int(solves)]
                record["texts"] = record["texts"][:2]
                record["id"] = f"p/{place}"

        change(path, edit)


def test_a_problem_that_one_arm_alone_solved_is_shown_with_the_winning_sample(tmp_path):
    run = fake_run.make(tmp_path / "r", problems=6, n=4, steps=1)
    only_poly_epo_solves(run, 2)
    samples = run / "poly_epo/seed_1/evaluation/samples/shifted.jsonl"
    samples.parent.mkdir()
    header = {"schema_version": 1}
    texts = [{"id": f"p/2/{i}", "text": f"text {i}"} for i in range(4)]
    samples.write_text("".join(json.dumps(row) + "\n" for row in (header, *texts)))
    data = ReportedRun(run)
    found = solved_by_one(data, data.splits[0])
    solved = {
        arm: [any(any(seed[p]["correct"]) for seed in records(run, arm)) for p in range(6)]
        for arm in ("grpo", "maxpo", "poly_epo")
    }
    number = np.array(list(solved.values())).sum(axis=0)
    assert found["alone"] == (number == 1).sum() >= 1
    assert found["unsolved"] == (number == 0).sum()
    assert sum(found["numbers"].values()) == found["alone"]
    [example] = [one for one in found["examples"] if one["prompt"].endswith("#2")]
    assert (example["winner"], example["correct"]) == ("poly_epo", 1)
    assert example["rates"]["poly_epo"] == pytest.approx(1 / 8)
    assert [(s["seed"], s["text"]) for s in example["samples"]] == [(1, "text 3")]
    samples.unlink()
    [example] = [e for e in solved_by_one(data, data.splits[0])["examples"]
                 if e["prompt"].endswith("#2")]  # fmt: skip
    assert example["samples"][0]["text"] is None


def test_metrics_that_never_change_have_no_panel_and_are_named_with_their_value(run):
    panels, constant = training_curves(ReportedRun(run))
    keys = {panel["key"] for panel in panels}
    assert "policy/entropy" in keys
    assert "advantage/dead_groups" not in keys  # 0.25 at every step of this run
    assert any(sentence.endswith("(25.0%)") for sentence in constant)


def test_thin_curves_keep_their_ends():
    assert thinned(1) == [0]
    assert thinned(5_000)[0] == 0
    assert thinned(5_000)[-1] == 4_999
