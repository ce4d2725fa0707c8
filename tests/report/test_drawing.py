"""Labels that do not collide, smoothing, looks, and what figures draw."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from setrl.evaluate.intervals import mean_over_problems
from setrl.evaluate.looks import Look, sweep
from setrl.show.report.drawing import (
    EndLabel,
    interval_curves,
    label_ends,
    spread,
)
from setrl.show.report.over_steps import rolling_mean, share_fills, stacked_shares
from setrl.show.report.page import charts
from setrl.show.report.run import ReportedRun
from setrl.show.report.style import LIGHT, canvas, main_arms, strategy_fills
from tests import fake_run

SOURCES = (".py", ".html", ".css")


def test_colours_are_in_one_file():
    home = Path(__file__).parents[2]
    drawn = [home / name for name in ("src/setrl/show/report", "studies", "recipes", "benchmarks")]
    paths = [path for folder in drawn for path in folder.rglob("*") if path.suffix in SOURCES]
    colour = re.compile(r"#[0-9A-Fa-f]{6}\b")
    assert [path.name for path in paths if colour.search(path.read_text())] == []


def test_spread_keeps_the_order_and_the_gap_and_leaves_what_is_apart():
    rng = np.random.default_rng(0)
    for _ in range(20):
        positions = rng.uniform(0, 1, size=8)
        placed = np.array(spread(list(positions), gap=0.1))
        assert (np.diff(placed[np.argsort(positions)]) >= 0.1 - 1e-6).all()
        assert placed.mean() == pytest.approx(positions.mean(), abs=1e-6)
    assert spread([0.9, 0.1, 0.5], gap=0.2) == [0.9, 0.1, 0.5]
    assert spread([], gap=0.2) == []


def test_names_at_line_ends_do_not_overlap():
    ax = canvas(LIGHT, "headline", 1)[1][0]
    ax.set_ylim(0, 1)
    ends = [EndLabel(1.0, Look(name, "#000000", "solid", "circle")) for name in "abcd"]
    label_ends(ax, 1.0, ends, LIGHT)
    ax.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # the names without their lines
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_curves_that_show_the_same_up_to_their_end_are_one_line_there():
    ax = canvas(LIGHT, "headline", 1)[1][0]
    shares = {"a": (0.5, 1, 1, 1), "b": (0.2, 0.9, 1, 0.9999), "c": (0.1, 0.2, 0.3, 0.4)}
    curves = [
        ([1, 2, 4, 8], [mean_over_problems([y, y]) for y in ys], Look(name, name, "solid", "o"))
        for name, ys in zip(("red", "blue", "green"), shares.values(), strict=True)
    ]
    ends = interval_curves(ax, curves, LIGHT)
    drawn = {colour: np.isfinite(y).sum() for colour, y in
             ((line.get_color(), line.get_ydata()) for line in ax.lines)}  # fmt: skip
    assert drawn == {"red": 3, "blue": 3, "green": 4, LIGHT.ink: 2}
    assert [end.look.label for end in ends] == ["red", "blue", "green"]


def test_rolling_mean_leaves_missing_values_out():
    values = np.array([[1.0, np.nan, 3.0, 5.0], [np.nan, np.nan, np.nan, 1.0]])
    smooth = rolling_mean(values, 3)
    np.testing.assert_allclose(smooth[0], [1, 2, 4, 4])
    np.testing.assert_allclose(smooth[1], [np.nan, np.nan, 1, 1])
    np.testing.assert_allclose(rolling_mean(np.array([1.0, 3.0]), 9), [2, 2])


@pytest.mark.parametrize(
    ("arm", "name"),
    [
        ("grpo", "grpo"),
        ("grpo_kl_0.01", "grpo_kl_#"),
        ("grpo_kl_1e-3", "grpo_kl_#"),
        ("poly_epo_k8", "poly_epo_k#"),
    ],
)
def test_sweeps(arm, name):
    assert sweep(arm) == name


def test_of_many_arms_the_sweeps_are_left_to_the_frontier():
    betas = [f"grpo_kl_{beta}" for beta in (0.001, 0.01, 0.1)]
    many = ["base", "grpo", "poly_epo", "maxpo", *betas]
    assert main_arms(many) == ["base", "grpo", "poly_epo", "maxpo"]
    assert main_arms(many[2:]) == many[2:]
    ks = ["base", *(f"poly_epo_k{k}" for k in (2, 3, 4, 5, 6, 8))]
    assert main_arms(ks) == ks


def test_the_commonest_strategies_have_fills():
    shares = {f"s{i:02}": 1 / (i + 1) for i in range(20)} | {"other": 9.0}
    fills = strategy_fills(shares)
    assert list(fills) == [f"s{i:02}" for i in range(8)]
    assert len(set(fills.values())) == 8


def test_every_figure_of_a_run_with_sweeps_is_drawn(tmp_path):
    betas = tuple(f"grpo_kl_{beta}" for beta in (0.01, 0.1))
    arms = ("grpo", "maxpo", "poly_epo", "grpo_div", "mine", *betas)
    run = fake_run.make(tmp_path / "r", arms, (0,), steps=3, problems=3, n=4)
    for chart in charts(ReportedRun(run)):
        figure = chart.draw(LIGHT)
        figure.draw_without_rendering()
        written = [text.get_text().replace("\n", " ") for text in figure.texts]
        assert chart.headline in written


def test_stacked_shares_never_exceed_one(tmp_path):
    data = ReportedRun(fake_run.make(tmp_path / "r", steps=6, evaluated=False))
    _, stack = stacked_shares(data, "grpo", share_fills(data))
    assert 0 < sum(stack.values()).max() <= 1 + 1e-9
