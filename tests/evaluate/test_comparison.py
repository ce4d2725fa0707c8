"""`setrl compare`: what it reads, what it refuses, and that its words follow from its numbers."""

import dataclasses
import json

import numpy as np
import pytest

from setrl.cli import main
from setrl.evaluate.comparison import compare, compare_paths, load_side
from setrl.evaluate.intervals import (
    IntervalConfig,
    detectable_difference,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluate.loading import common_split
from setrl.evaluate.metrics import METRICS, metric_values
from setrl.evaluate.text import FEW, comparison_text, sentences
from setrl.support.errors import ConfigError, DataError
from tests import fake_run
from tests.evaluate.test_metrics import with_columns

FAST = IntervalConfig(draws=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fake_run.make(tmp_path_factory.mktemp("runs") / "comparison", problems=10, n=16, steps=2)


def edited(path, out, edit):
    """A copy of an evaluation file with its records changed."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    out.write_text("".join(json.dumps(record) + "\n" for record in edit(records)))
    return out


def test_numbers_are_those_of_the_metrics_on_the_same_problems(run):
    grpo, poly = (run / arm / "seed_0" for arm in ("grpo", "poly_epo"))
    found = compare_paths(grpo, poly, metrics=["majority", "pass"], intervals=FAST)
    first, second = (metric_values(load_side(path).evaluations[0]) for path in (grpo, poly))
    assert [row.k for row in found.of("pass")] == [1, 2, 4, 8, 16]
    assert found.rows[0].metric == "majority"
    for row in found.rows:
        name = f"{row.metric}@{row.k}"
        expected = paired_difference(second[name], first[name], FAST, (0, 1))  # B − A
        assert row.difference == expected
        assert row.first == mean_over_problems(first[name], FAST, (0, 1))
        if expected.stderr > 1e-9:
            reach = (expected.high - expected.low) / 2
            found_4_of_5 = detectable_difference(expected.stderr, reach=reach)
            assert row.detectable == pytest.approx(found_4_of_5)
    assert found.problems == 10
    assert found.split == "test"


def test_a_problem_without_a_value_in_one_run_is_left_out_of_both(run, tmp_path):
    """So the two columns differ by the difference in the next column."""
    grpo, poly = (run / arm / "seed_0/evaluation/test.jsonl" for arm in ("grpo", "poly_epo"))

    def unread(records):
        first = {**records[0], "strategies": [None] * len(records[0]["strategies"])}
        return [first, *records[1:]]

    unread_grpo = edited(grpo, tmp_path / "a.jsonl", unread)
    [row] = compare_paths(unread_grpo, poly, metrics=["effective_number"], intervals=FAST).rows
    assert row.difference.missing == 1
    assert row.second.value - row.first.value == pytest.approx(row.difference.value)


def test_the_order_of_problems_in_the_files_changes_nothing(run, tmp_path):
    grpo, poly = (run / arm / "seed_0/evaluation/test.jsonl" for arm in ("grpo", "poly_epo"))
    plain = compare_paths(grpo, poly, intervals=FAST)
    turned = edited(poly, tmp_path / "test.jsonl", lambda records: records[::-1])
    for row, same in zip(compare_paths(grpo, turned, intervals=FAST).rows, plain.rows, strict=True):
        ends = [(r.difference.low, r.difference.value, r.difference.high) for r in (row, same)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_a_run_against_itself_differs_in_nothing(run):
    path = run / "grpo/seed_0"
    found = compare_paths(path, path, intervals=FAST)
    assert all(row.difference.value == 0 for row in found.rows)
    assert all(np.isnan(row.detectable) for row in found.rows)
    assert found.equal
    assert "\nA and B are equal: the same samples of the same problems" in comparison_text(found)


def test_an_arm_is_all_its_seeds_and_the_base_is_a_folder(run):
    found = compare_paths(run / "poly_epo", run / "base", "shifted", ["pass"], intervals=FAST)
    assert found.seeds == (2, 1)
    seeds = [load_side(run / f"poly_epo/seed_{s}", "shifted").evaluations[0] for s in (0, 1)]
    rates = np.mean([seed.correct_PN.mean(axis=1) for seed in seeds])
    assert found.rows[0].first.value == pytest.approx(rates)
    assert "2 seeds" in comparison_text(found)
    assert "\nB is one model: the intervals cover other seeds of A, none of B." in comparison_text(
        found
    )


def test_runs_of_different_n_are_compared_up_to_the_smaller(run, tmp_path):
    path = run / "grpo/seed_0/evaluation/test.jsonl"

    def halve(records):
        keys = ("correct", "strategies", "answers")
        return [{**r, "n": 8, **{key: r[key][:8] for key in keys}} for r in records]

    half = edited(path, tmp_path / "half.jsonl", halve)
    found = compare_paths(path, half, intervals=FAST)
    assert found.samples == (16, 8)
    assert max(row.k for row in found.of("pass")) == 8

    def mixed(records):
        return halve(records[:3]) + records[3:]

    ragged = edited(path, tmp_path / "ragged.jsonl", mixed)
    both = compare_paths(path, ragged, metrics=["pass"], intervals=FAST)
    assert (both.samples, both.most, both.problems) == ((16, 8), (16, 16), 10)
    assert [row.k for row in both.rows] == [1, 2, 4, 8]
    assert "8 to 16 samples per problem" in comparison_text(both)
    chosen = compare_paths(path, ragged, metrics=["pass"], intervals=FAST, ks=(3, 12))
    assert ([row.k for row in chosen.rows], chosen.problems) == ([3, 12], 7)
    assert chosen.band.ks == tuple(range(1, 17))
    assert "16 samples per problem, temperature 1.00; 7 of its 10 problems" in comparison_text(
        chosen
    )
    assert "of its" not in comparison_text(both)
    with pytest.raises(
        DataError,
        match=r"no problem has 17 samples .* numbers are 16 and 16",
    ):
        compare_paths(path, ragged, ks=(17,))
    last = edited(path, tmp_path / "last.jsonl", lambda rs: rs[:2] + halve(rs[2:3]))
    short = edited(path, tmp_path / "short.jsonl", lambda rs: halve(rs[:2]) + rs[2:3])
    with pytest.raises(DataError, match="no problem has 9 samples in all of"):
        compare_paths(last, short, ks=(9,))


def test_what_does_not_match_is_named(run, tmp_path):
    path = run / "grpo/seed_0/evaluation/test.jsonl"
    fewer = edited(path, tmp_path / "fewer.jsonl", lambda records: records[:7])
    first_missing = json.loads(path.read_text().splitlines()[7])["prompt"]
    found = compare_paths(path, fewer, intervals=FAST)
    assert found.problems == 7
    [note] = found.notes
    assert note.startswith(f"3 problems of {path} left out, such as {first_missing!r}")
    assert note in comparison_text(found)
    assert compare_paths(fewer, path, intervals=FAST).problems == 7

    twice = edited(
        path,
        tmp_path / "twice.jsonl",
        lambda records: [{**r, "id": i} for i, r in enumerate(records[:2] * 2)],
    )
    with pytest.raises(DataError, match=r"share no id.* is the prompt of 2 problems of .*twice"):
        compare_paths(twice, path)
    others = edited(
        path, tmp_path / "others.jsonl", lambda rs: [{**r, "prompt": r["prompt"] + "?"} for r in rs]
    )
    with pytest.raises(
        DataError, match=r"must have common problems: the first has 'y=.*, the second 'y="
    ):
        compare_paths(path, others)


@pytest.mark.parametrize(
    ("first", "options", "message"),
    [
        ("base", {"split": "dev"}, "base holds no evaluation of 'dev', only of shifted, test"),
        ("base", {"metrics": ["pas"]}, "unknown metric 'pas'; did you mean 'pass'"),
        ("base", {"metrics": ["max"]}, r"base: cannot have the metric max: all rewards are 0 or 1"),
    ],
)
def test_wrong_arguments_are_config_errors(run, first, options, message):
    with pytest.raises(ConfigError, match=message):
        compare_paths(run / first, run / "base", **options)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("nowhere", "nowhere: no such file or folder"),
        (
            "grpo/seed_0/rollouts",
            "rollouts is neither a file of samples, nor the folder of another",
        ),
        ("", "is a run with several arms: give one, .*/base, grpo"),
    ],
)
def test_paths_without_samples_are_data_errors(run, first, message):
    with pytest.raises(DataError, match=message):
        compare_paths(run / first, run / "base")
    with pytest.raises(DataError, match=message):
        common_split(run / first)


def test_sentences_say_above_and_below_only_where_the_interval_does(run):
    path = run / "grpo/seed_0"
    side = load_side(path)
    [evaluation] = side.evaluations
    rng = np.random.default_rng(0)
    better = with_columns(evaluation, correct=(rng.random((10, 16)) < 0.9) * 1.0)
    worse = with_columns(evaluation, correct=(rng.random((10, 16)) < 0.2) * 1.0)
    high, low = (dataclasses.replace(side, evaluations=(e,)) for e in (better, worse))
    found = compare(low, high, ["pass"], intervals=FAST)
    above = [row.k for row in found.rows if row.difference.low > 0]
    said, seen, *_ = sentences(found, "pass")
    assert above[0] == 1
    assert said.startswith("pass@k: B is above A for k = 1 to ")
    assert said.endswith("(95% confidence for all k from 1 to 16 at once).")
    for row in found.rows:  # the band is wider than the interval of each k
        ends = found.band.at(row.k)
        assert ends[1] - ends[0] > 2 * 1.96 * row.difference.stderr or np.isnan(ends[0])
    assert (
        f"{100 * found.rows[0].detectable:.1f} points or more is detected in 4 of 5 comparisons"
        in seen
    )
    assert sentences(compare(high, low, ["pass"], intervals=FAST), "pass")[0].startswith(
        "pass@k: B is below A "
    )


def test_a_single_k_that_differs_is_named_where_the_band_does_not_show_it(run):
    found = compare_paths(run / "grpo/seed_0", run / "base", metrics=["pass"], intervals=FAST)
    above = dataclasses.replace(found.rows[1].difference, value=0.177, low=0.025, high=0.329)
    rows = (dataclasses.replace(found.rows[1], difference=above),)
    wide = dataclasses.replace(
        found.band, low=(-1.0,) * len(found.band.ks), high=(1.0,) * len(found.band.ks)
    )
    text = comparison_text(dataclasses.replace(found, rows=rows, band=wide))
    assert (
        "pass@k: B is not distinguishable from A at any k (95% confidence for all k from 1 to 16 "
        "at once).\nLooked at by itself, pass@2 differs: +17.7 points [2.5, 32.9]. " in text
    )
    sure = dataclasses.replace(wide, low=(0.001,) * len(wide.ks))
    text = comparison_text(dataclasses.replace(found, rows=rows, band=sure))
    assert "B is above A at every k" in text
    assert "by itself" not in text


def test_a_difference_whose_interval_includes_zero_is_no_verdict(run):
    found = compare_paths(run / "grpo/seed_0", run / "base", metrics=["majority"], intervals=FAST)
    unclear = [
        dataclasses.replace(
            row, difference=dataclasses.replace(row.difference, value=0.1, low=-0.1, high=0.3)
        )
        for row in found.rows
    ]
    above = dataclasses.replace(
        unclear[1], difference=dataclasses.replace(unclear[1].difference, low=0.01)
    )
    nowhere = dataclasses.replace(found, rows=tuple(unclear))
    once = dataclasses.replace(found, rows=(unclear[0], above, *unclear[2:]))
    assert (
        sentences(nowhere, "majority")[0]
        == "majority@k, each single k: B is not distinguishable from A at any k."
    )
    assert sentences(once, "majority")[0] == (
        "majority@k, each single k: B is above A at k = 2; they are not distinguishable at k = 1, "
        "4, 8, 16."
    )


def test_command_prints_tables_and_json(run, capsys):
    paths = [str(run / "grpo/seed_0"), str(run / "poly_epo/seed_0")]
    with pytest.raises(SystemExit) as code:
        main(["compare", *paths])
    assert code.value.code == 0
    printed = capsys.readouterr().out
    assert "10 problems, test; 95% intervals over problems" in printed
    assert "effective strategies" in printed
    assert "of problems" not in printed
    assert printed.count("\npass@1") == 3  # k = 1 and 16, and what is detected at k = 1
    assert printed.count("\nmajority@") == FEW + 1  # 4 of 5 places, and a sentence
    with pytest.raises(SystemExit):
        main(["compare", *paths, "--json", "--metrics", "pass"])
    data = json.loads(capsys.readouterr().out)
    assert data["schema_version"] == 2
    assert {row["metric"] for row in data["rows"]} == {"pass"}
    json.dumps(data, allow_nan=False)


def test_all_metrics_have_a_table_and_a_sentence(run):
    found = compare_paths(run / "base", run / "grpo", metrics=["all"], intervals=FAST)
    assert {row.metric for row in found.rows} == set(found.available)
    shown = comparison_text(found)
    for metric in dict.fromkeys(row.metric for row in found.rows):
        title = METRICS[metric].title
        assert f"\n{METRICS[metric].label}" in shown
        assert f"{title}: " in shown or f"{title}, each " in shown
    assert "other values of --metrics" not in shown
    [top] = found.of("top_share")
    assert top.k is None
    assert sentences(found, "top_share")[0] == "share of the commonest: B is above A."
    assert [row.k for row in found.of("cover")] == [0.1, 0.25, 0.5, 0.75, 1]


def test_details_have_all_places_and_shares_of_problems(run):
    found = compare_paths(run / "base", run / "grpo", metrics=["pass"], intervals=FAST)
    [one, *_] = found.of("pass")
    shown = comparison_text(found, details=True)
    assert f"  {100 * one.difference.improvement:.0f}% of problems" in shown
    assert [f"\npass@{row.k} " in shown for row in found.rows] == [True] * 5
    assert "other values" in shown
    assert "--details" not in shown
