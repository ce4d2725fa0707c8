"""Sentences follow the data, whatever it says, and claim nothing that an interval does not bear."""

from dataclasses import replace
from pathlib import Path

import pytest

from setrl.evaluate.bands import Band
from setrl.evaluate.intervals import Difference, Estimate, IntervalConfig
from setrl.evaluate.looks import looks
from setrl.evaluate.summary import ArmDifference, ArmSummary, SplitSummary, Summary
from setrl.show.report import headlines as h
from setrl.show.report.run import ReportedRun
from setrl.show.report.tables import difference_table
from setrl.show.report.verdict import verdict_in_words
from tests import fake_run


def estimate(value):
    return Estimate(value, value - 0.05, value + 0.05, 0.02, (value,), 50, 0)


def difference(value, reach=0.05):
    return Difference(value, value - reach, value + reach, reach / 2, 0.5, 50, 0)


def arm(name, strategies, pass_1=0.5, seeds=(0, 1)):
    metrics = {f"pass@{k}": estimate(pass_1) for k in (1, 2, 4, 8)}
    metrics["correct_strategies@8"] = estimate(strategies)
    return ArmSummary(name, seeds, 8, 50, 1.0, 8, metrics, {})


def split(name="shifted", poly=(0.1, 0.1, 0.1, 0.1), grpo_base=-0.2, strategies=(8.9, 1.3, 8.1)):
    over_k = {f"pass@{k}": difference(d) for k, d in zip((1, 2, 4, 8), poly, strict=True)}
    base, grpo, poly_epo = strategies
    return SplitSummary(
        name,
        {"base": arm("base", base, seeds=()), "grpo": arm("grpo", grpo),
         "poly_epo": arm("poly_epo", poly_epo)},
        (
            ArmDifference("poly_epo", "grpo", over_k, band(over_k)),
            ArmDifference("grpo", "base", {"pass@8": difference(grpo_base)}),
        ),
    )  # fmt: skip


def band(over_k):
    ends = [(d.value, d.low, d.high) for d in over_k.values()]
    return Band((1, 2, 4, 8), *zip(*ends, strict=True), 2.0, 0.95)


def data(*splits, tmp_path="x"):
    summary = Summary("grpo", IntervalConfig(), {s.split: s for s in splits})
    drawn = looks(["base", "grpo", "poly_epo", "maxpo"])
    known = {"kind": "comparison", "arms": {}, "looks": drawn, "summary": summary}
    return ReportedRun(Path(tmp_path)).knowing(**known)


@pytest.mark.parametrize(
    ("strategies", "sentence"),
    [
        ((8.9, 1.3, 8.1), "Of the base's 8.9 correct strategies in 8 samples on the test split, "
                          "GRPO keeps 1.3; Poly-EPO keeps 8.1."),
        ((2.0, 1.3, 8.1), "Of the base's 2.0 correct strategies in 8 samples on the test split, "
                          "GRPO keeps 1.3; Poly-EPO rises to 8.1."),
    ],
)  # fmt: skip
def test_strategies_kept_or_gained(strategies, sentence):
    assert sentence in verdict_in_words(data(split("test", strategies=strategies), split()))


@pytest.mark.parametrize(
    ("poly", "first", "all_k"),
    [
        ((0.1, 0.1, 0.1, 0.1), "above GRPO", "above GRPO at every k"),
        ((0, 0, 0.1, 0.1), "not distinguishable from GRPO", "above GRPO for k = 4 to 8"),
        ((-0.1, 0, 0, 0.1), "below GRPO", "above GRPO for k = 8 and below it for k = 1"),
        ((-0.1, -0.1, 0, 0), "below GRPO", "below GRPO for k = 1 to 2"),
        ((0.1, 0, 0.1, 0), "above GRPO", "above GRPO for k = 1, 4"),
        ((0, 0.04, 0.04, 0), "not distinguishable from GRPO",
         "not distinguishable from GRPO at any k"),
    ],
)  # fmt: skip
def test_the_title_says_where_k_1_and_where_the_band_exclude_0(poly, first, all_k):
    given = data(split(poly=poly))
    assert h.pass_at_k_title(given, given.splits[0]) == (
        f"pass@1 on the shifted split: Poly-EPO is {first}. All k at once: Poly-EPO is {all_k}"
    )


def test_arms_with_the_same_verdict_share_a_phrase():
    one = split()
    two = replace(
        one,
        arms={**one.arms, "maxpo": arm("maxpo", 4.0)},
        differences=(*one.differences, replace(one.differences[0], arm="maxpo")),
    )
    title = h.pass_at_k_title(data(two), two)
    assert title == (
        "pass@1 on the shifted split: Poly-EPO and MaxPO are above GRPO. "
        "All k at once: Poly-EPO and MaxPO are above GRPO at every k"
    )


def test_the_frontier_names_the_arms_that_none_beats():
    one = split()
    arms = {
        "base": arm("base", 8.0, pass_1=0.5),
        "grpo": arm("grpo", 1.0, pass_1=0.9),
        "poly_epo": arm("poly_epo", 8.5, pass_1=0.8),
    }
    three = replace(one, arms=arms)
    title = h.frontier_title(data(three), three, 8)
    assert title.endswith("in 8 samples (shifted split): GRPO and Poly-EPO")


def test_the_time_of_the_credit_is_said(tmp_path):
    run = ReportedRun(fake_run.make(tmp_path / "r", arms=("grpo",), steps=20, evaluated=False))
    assert h.time_title(run) == "Credit takes at most 0.17% of a training step"


def test_head_title_and_table_read_every_k_alike():
    """pass@1 has its own interval: it was fixed beforehand. Other k have the band."""
    over_k = {f"pass@{k}": difference(0.1, reach=0.09) for k in (1, 2, 4, 8)}
    wide = Band((1, 2, 4, 8), (0.1,) * 4, (-0.01, 0.01, 0.01, -0.02), (0.2,) * 4, 2.0, 0.95)
    one = split()
    one = replace(one, differences=(ArmDifference("poly_epo", "grpo", over_k, wide),))
    [said, *_] = verdict_in_words(data(one))
    assert said.endswith(" solves more problems than GRPO (50.0%): +10.0 points [1.0, 19.0].")
    assert h.pass_at_k_title(data(one), one) == (
        "pass@1 on the shifted split: Poly-EPO is above GRPO. "
        "All k at once: Poly-EPO is above GRPO for k = 2 to 4"
    )
    [(_, cells)] = difference_table(data(one), one).rows
    shown = {name: (cell.shows, *cell.details) for name, cell in zip(
        difference_table(data(one), one).columns, cells, strict=True)}  # fmt: skip
    assert shown["pass@1, points"] == ("above", "[1.0, 19.0]")
    assert shown["pass@8, points"] == ("unclear", "[−2.0, 20.0]")
