"""A run directory's summary against values worked out from its files by hand."""

import json
from itertools import combinations

import numpy as np
import pytest

from setrl.evaluate.intervals import IntervalConfig, mean_over_problems, paired_difference
from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.metrics import metric_values, powers_of_two
from setrl.evaluate.summary import (
    summarise,
    summarise_run,
    write_checkpoint_summary,
)
from setrl.logs.run import Run
from setrl.support.errors import ConfigError
from tests import fake_run
from tests.evaluate.test_metrics import with_columns


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fake_run.make(tmp_path_factory.mktemp("runs") / "comparison", problems=6, n=8, steps=2)


def records(run, *parts):
    path = run.joinpath(*parts[:-1]) / "evaluation" / f"{parts[-1]}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_metrics_equal_the_mean_over_subsets_of_the_file(run):
    k, values = 4, metric_values(load_evaluation(run / "grpo/seed_1/evaluation/shifted.jsonl"))
    for place, record in enumerate(records(run, "grpo", "seed_1", "shifted")):
        correct, names = record["correct"], record["strategies"]
        subsets = list(combinations(range(8), k))
        expected = {
            "pass@4": [any(correct[i] for i in s) for s in subsets],
            "strategies@4": [len({names[i] for i in s} - {-1}) for s in subsets],
            "correct_strategies@4": [
                len({names[i] for i in s if correct[i]} - {-1}) for s in subsets
            ],
            "degenerate": [name == -1 for name in names],
        }
        for name, per_subset in expected.items():
            assert values[name][place] == pytest.approx(np.mean(per_subset))


def test_the_majority_is_of_answers_of_which_a_correct_sample_gave_one(tmp_path):
    votes = {"a": 3, "b": 2, None: 1}
    answers = [answer for answer, count in votes.items() for _ in range(count)]
    line = {
        "schema_version": 1, "prompt": "p", "kind": "k", "split": "test", "n": 6,
        "correct": [0, 0, 0, 1, 0, 0], "strategies": [None] * 6, "answers": answers,
    }  # fmt: skip
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(line) + "\n")
    values = metric_values(load_evaluation(path))
    share_of_b = []
    for drawn in combinations(answers, 4):
        tally = {name: drawn.count(name) for name in "ab"}
        winners = [name for name, count in tally.items() if count == max(tally.values())]
        share_of_b.append(("b" in winners) / len(winners))
    assert values["majority@4"] == pytest.approx(np.mean(share_of_b))
    assert values["vote_share@1"] == pytest.approx(5 / 6)
    assert np.isnan(values["effective_number"])


def test_an_arm_is_the_mean_over_its_seeds_and_problems(run):
    summary = summarise_run(run)
    arm = summary.splits["test"].arms["poly_epo"]
    rates = [[np.mean(r["correct"]) for r in records(run, "poly_epo", f"seed_{s}", "test")]
             for s in (0, 1)]  # fmt: skip
    assert (arm.seeds, arm.n, arm.problems, arm.temperature) == ((0, 1), 8, 6, 1.0)
    assert arm.metrics["pass@1"].value == pytest.approx(np.mean(rates))
    assert arm.metrics["pass@1"].per_seed == pytest.approx(tuple(np.mean(rates, axis=1)))
    assert arm.metrics["pass@1"] == mean_over_problems(rates, bounds=(0, 1))


def test_differences_are_paired_with_the_reference_and_with_the_base(run):
    split = summarise_run(run).splits["shifted"]
    assert {(d.arm, d.against) for d in split.differences} == {
        ("maxpo", "grpo"), ("poly_epo", "grpo"),
        ("grpo", "base"), ("maxpo", "base"), ("poly_epo", "base"),
    }  # fmt: skip

    def rates(*parts):
        return [np.mean(record["correct"]) for record in records(run, *parts, "shifted")]

    poly = [rates("poly_epo", "seed_0"), rates("poly_epo", "seed_1")]
    found = split.difference("poly_epo", "base").metrics["pass@1"]
    expected = paired_difference(poly, rates("base"), bounds=(0, 1))
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert split.difference("base", "grpo") is None


def test_arms_that_miss_problems_are_compared_on_what_they_share(run):
    base = load_evaluation(run / "base/evaluation/shifted.jsonl")
    other = load_evaluation(run / "maxpo/seed_0/evaluation/shifted.jsonl").choose([5, 2, 0])
    split = summarise({"shifted": {"grpo": {0: base}, "maxpo": {0: other}}}, "grpo").splits[
        "shifted"
    ]
    assert split.arms["grpo"].problems == split.arms["maxpo"].problems == 3
    [note] = split.notes
    assert note.startswith("3 problems of grpo left out, such as ")
    difference = split.difference("maxpo", "grpo").metrics["pass@1"]
    rate = base.correct_PN.mean(axis=1)
    assert rate[[5, 2, 0]].mean() != rate[:3].mean()
    assert difference.problems == 3
    expected = (other.correct_PN.mean(axis=1) - rate[[5, 2, 0]]).mean()
    assert difference.value == pytest.approx(expected)


def test_arms_may_differ_in_n_and_share_the_smaller_ks(run):
    whole = load_evaluation(run / "grpo/seed_0/evaluation/test.jsonl")
    first = {name: getattr(whole.samples, name)[:, :4]
             for name in ("rewards", "correct", "strategies", "answers")}  # fmt: skip
    half = with_columns(whole, **first)
    split = summarise({"test": {"grpo": {0: whole}, "maxpo": {0: half}}}, "grpo").splits["test"]
    assert "pass@8" in split.arms["grpo"].metrics
    assert "pass@8" not in split.arms["maxpo"].metrics
    assert "pass@8" not in split.difference("maxpo", "grpo").metrics
    with pytest.raises(ValueError, match=r"all seeds of grpo must have the same n on test"):
        summarise({"test": {"grpo": {0: whole, 1: half}}}, "grpo")


def test_without_the_reference_the_first_arm_of_the_config_takes_its_place(tmp_path):
    run = fake_run.make(tmp_path / "r", arms=("poly_epo", "maxpo"), n=4, problems=3, steps=1)
    assert [*Run(run).arms] == ["base", "poly_epo", "maxpo"]
    assert summarise_run(run).reference == "poly_epo"
    assert summarise_run(run, reference="maxpo").reference == "maxpo"


def test_a_run_that_has_not_been_evaluated_has_an_empty_summary(tmp_path):
    run = fake_run.make(tmp_path / "r", evaluated=False, steps=1)
    assert summarise_run(run).splits == {}
    with pytest.raises(ConfigError, match="nowhere is not a run directory"):
        summarise_run(tmp_path / "nowhere")


def test_written_summaries_are_plain_json_with_null_for_undefined(run):
    options = IntervalConfig(draws=10)
    written = summarise_run(run).to_json()
    pass_1 = written["splits"]["test"]["arms"]["grpo"]["metrics"]["pass@1"]
    assert pass_1["value"] == summarise_run(run).splits["test"].arms["grpo"].metrics["pass@1"].value
    alone = json.loads(write_checkpoint_summary(run / "base/evaluation", options).read_text())
    assert alone["schema_version"] == 1
    assert alone["reference"] is None
    assert set(alone["splits"]["test"]["arms"]) == {"base"}

    one_problem = load_evaluation(run / "base/evaluation/test.jsonl").choose([0])
    undefined = summarise({"test": {"base": {0: one_problem}}}, None, options).to_json()
    assert undefined["splits"]["test"]["arms"]["base"]["metrics"]["pass@1"]["low"] is None
    json.dumps(undefined, allow_nan=False)


def test_graded_rewards_and_proxies_bring_their_metrics(run):
    plain = load_evaluation(run / "base/evaluation/test.jsonl")
    assert not {"max@2", "best_of@2"} & set(metric_values(plain))
    rewards = np.random.default_rng(0).random(plain.correct_PN.shape)
    graded = with_columns(plain, rewards=rewards, proxy=-rewards)
    values = metric_values(graded)
    np.testing.assert_allclose(values[f"max@{plain.n}"], rewards.max(axis=1))
    np.testing.assert_allclose(values[f"best_of@{plain.n}"], rewards.min(axis=1))
    judged = metric_values(with_columns(plain, proxy=rewards))
    np.testing.assert_allclose(judged["best_of@1"], plain.correct_PN.mean(axis=1))


def test_powers_of_two():
    assert powers_of_two(256)[-1] == 256
    assert powers_of_two(255)[-1] == 128
    assert powers_of_two(1) == [1]
    assert powers_of_two(0) == []
