"""Fronts: every arm has a point, sweeps are joined by lines, and their ends are named."""

import numpy as np

from setrl.evaluate.looks import looks
from setrl.evaluate.outcomes import OverSeeds
from setrl.show.report.drawing import draw_front, front_legend
from setrl.show.report.style import LIGHT, canvas

SWEEP = {"ppo_ent_0.2": (0.9, 0.5), "ppo_ent_0.1": (0.8, 0.6), "ppo_ent_0.3": (0.95, 0.4)}


def drawn_front(places, most=np.inf):
    """The axes of a frontier, and the texts in it; the places are (across, up) by arm."""
    ax = canvas(LIGHT, "headline", 1)[1][0]
    spots = {
        arm: tuple(OverSeeds(value, value - 0.01, value + 0.01, 0.01) for value in at)
        for arm, at in places.items()
    }
    draw_front(ax, spots, looks(list(places)), LIGHT, most)
    ax.figure.draw_without_rendering()
    return ax, [text.get_text() for text in ax.texts]


def test_an_arm_at_0_does_not_squeeze_the_others_and_is_named():
    places = {"grpo_kl_1": (0.9, 7), "grpo_kl_2": (0.94, 6), "ppo": (0.99, 1)}
    without, _ = drawn_front(places)
    ax, texts = drawn_front({**places, "grpo_entropy_0.3": (0.0, 0.0)})
    assert ax.get_xlim() == without.get_xlim()
    assert "not shown: GRPO entropy 0.3, at 0%" in texts
    assert ax.get_xlim()[0] > 0.8
    low, texts = drawn_front({**places, "grpo": (0.03, 1)})
    assert low.get_xlim()[0] < 0.03, "an arm that is only bad is shown"
    assert not any("not shown" in text for text in texts)


def test_markers_at_the_upper_end_are_whole():
    ax, _ = drawn_front({"a": (0.5, 0.2), "b": (0.7, 1.0)}, most=1.0)
    marker = 3.5 / 72 * ax.figure.dpi  # half of its size, in dots
    top = ax.transData.transform((0.7, 1.0))[1]
    assert top + marker < ax.get_window_extent().y1
    assert ax.get_ylim()[1] < 1.1


def test_a_line_follows_the_settings_of_a_sweep_and_names_its_ends():
    ax, _ = drawn_front({**SWEEP, "grpo": (0.7, 0.7)})
    lines = [np.round(line.get_xydata(), 3).tolist() for line in ax.lines]
    assert [[0.8, 0.6], [0.9, 0.5], [0.95, 0.4]] in lines
    named = {text.get_text(): text.xy for text in ax.texts if text.get_text()}
    assert named == {"0.1": (0.8, 0.6), "0.3": (0.95, 0.4)}
    bars = [np.round(one, 3).tolist() for bar in ax.collections for one in bar.get_segments()]
    assert [[0.69, 0.7], [0.71, 0.7]] in bars


def test_an_arm_without_an_interval_has_a_point():
    ax = canvas(LIGHT, "headline", 1)[1][0]
    none, one = OverSeeds(*[np.nan] * 4), OverSeeds(0.5, np.nan, np.nan, np.nan)
    draw_front(ax, {"grpo": (one, one), "ppo": (none, one)}, looks(["grpo", "ppo"]), LIGHT)
    marks = [line for line in ax.lines if line.get_marker() != "None"]
    assert [line.get_xydata().tolist() for line in marks] == [[[0.5, 0.5]]]


def test_the_legend_names_a_sweep_once():
    ax, _ = drawn_front(SWEEP)
    front_legend(ax.figure, looks([*SWEEP, "grpo"]), LIGHT)
    [legend] = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ppo ent", "GRPO"]
