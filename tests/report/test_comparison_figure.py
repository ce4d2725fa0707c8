"""The figure of `setrl compare --figure`."""

import numpy as np
import pytest

from setrl.evaluate import metrics
from setrl.evaluate.comparison import compare, compare_paths, curve_between, load_sides
from setrl.evaluate.intervals import IntervalConfig
from setrl.show.report import draw_comparison, figures_evaluation
from setrl.support.errors import ConfigError
from tests import fake_run

FAST = IntervalConfig(resamples=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return fake_run.make(tmp_path_factory.mktemp("runs") / "comparison", problems=10, n=16, steps=2)


def compared(run, metric, ks=()):
    paths = run / "base", run / "grpo/seed_0"
    return compare_paths(*paths, metrics=[metric], intervals=FAST, ks=ks)


@pytest.mark.parametrize("metric", ["pass", "strategies", "cover"])
def test_its_lines_are_the_comparison_s_numbers(run, tmp_path, monkeypatch, metric):
    sheets = []

    def kept(*args, **kwargs):
        sheets.append(canvas(*args, **kwargs))
        return sheets[-1]

    canvas = figures_evaluation.canvas
    monkeypatch.setattr(figures_evaluation, "canvas", kept)
    found, curve = compared(run, metric), compared(run, metric, range(1, 17))
    path = draw_comparison(found, metric, tmp_path / "figure.svg", curve.of(metric))
    assert path.read_text().startswith("<?xml")
    sheet, (values, gaps) = sheets[0]
    drawn = {"first": values.lines[:2], "second": values.lines[2:4], "difference": gaps.lines[1:3]}
    for name, parts in drawn.items():  # a line through every k, and dots at the k of the tables
        for line, rows in zip(parts, (curve.of(metric), found.of(metric)), strict=True):
            heights = [getattr(row, name).value for row in rows]
            np.testing.assert_array_equal(line.get_ydata(), heights)
            np.testing.assert_array_equal(line.get_xdata(), [row.k for row in rows])
    if metric != "cover":
        assert len(curve.of(metric)) == 16
    assert [text.get_text() for text in values.get_legend().get_texts()] == ["base", "seed_0"]
    headline, caption = (text.get_text() for text in sheet.texts)
    assert "seed_0 is" in headline
    assert gaps.get_title(loc="left").startswith("seed_0 − base, paired")
    for word in ("Dots: ", "Shaded: 95%", f"base: {run / 'base'}"):
        assert word in caption.replace("\n", " ")
    assert ("Dotted: " in caption) == (metric == "pass")


def test_a_figure_of_no_known_format_is_a_config_error(run, tmp_path):
    with pytest.raises(ConfigError, match=r"figure\.bmpx"):
        draw_comparison(compared(run, "pass"), "pass", tmp_path / "figure.bmpx")


@pytest.mark.parametrize("metric", ["top_share", "support"])
def test_what_is_no_curve_has_no_figure(run, tmp_path, metric):
    with pytest.raises(ConfigError, match=f"{metric} is a single number"):
        draw_comparison(compared(run, metric), metric, tmp_path / "figure.png")


@pytest.mark.parametrize("metric", ["pass", "correct_strategies", "cover", "branches", "top_share"])
def test_the_curve_in_between_is_that_of_a_comparison_at_all_places(run, monkeypatch, metric):
    runs = load_sides(run / "base", run / "grpo/seed_0", None, False, None)
    found = compare(*runs, [metric], intervals=FAST)
    is_curve = metrics.METRICS[metric].axis == "k"
    whole = compare(*runs, [metric], intervals=FAST, ks=range(1, 17)).of(metric)
    computed = []

    def counted(evaluation, sizes, only):
        scores = set_scores(evaluation, sizes, only)
        computed.extend(scores)
        return scores

    set_scores = metrics._set_scores
    monkeypatch.setattr(metrics, "_set_scores", counted)
    assert str(curve_between(*runs, found, metric)) == str(whole if is_curve else [])  # NaN too
    assert set(computed) <= {metric}  # no other score of sets is computed a second time


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_only_a_figure_of_ours_is_replaced(run, tmp_path, ending):
    found, path = compared(run, "pass"), tmp_path / f"mine.{ending}"
    draw_comparison(found, "pass", path)
    draw_comparison(found, "pass", path)
    path.write_bytes(path.read_bytes().replace(b"setrl", b"other"))
    kept = path.read_bytes()
    with pytest.raises(ConfigError, match=rf"mine\.{ending} exists already and is not a figure of"):
        draw_comparison(found, "pass", path)
    assert path.read_bytes() == kept
