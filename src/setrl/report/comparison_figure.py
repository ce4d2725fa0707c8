"""A comparison as a figure: both curves over k, and their paired difference with its band."""

from __future__ import annotations

from pathlib import Path

from setrl.errors import ConfigError
from setrl.evaluation.comparison import Comparison
from setrl.evaluation.comparison_text import sentences
from setrl.evaluation.metrics import METRICS
from setrl.report.drawing import interval_curve
from setrl.report.style import (
    BLUE,
    LIGHT,
    VERMILION,
    Look,
    canvas,
    k_axis,
    percent_axis,
    points_axis,
    set_title,
)

FIRST, SECOND = Look("A", VERMILION, "--", "s"), Look("B", BLUE, "-", "o")
GAP = Look("A − B", LIGHT.ink, "-", "o")


def write_figure(comparison: Comparison, metric: str, path: Path) -> Path:
    """Draw a metric of a comparison into a file whose ending names the format.

    Raises:
        ConfigError: If matplotlib does not know the format, or the metric is a single number.
    """
    rows, shown = comparison.of(metric), METRICS.get(metric)
    if shown is None or not shown.axis:
        raise ConfigError(
            f"{metric} is a single number and has no curve to draw: "
            "begin --metrics with a metric over k, τ or position"
        )
    names = f"A: {comparison.first}    B: {comparison.second}    {comparison.problems} problems"
    headline = f"{sentences(comparison, metric)[0]}\n{names}"
    figure, (values, gaps) = canvas(LIGHT, headline, columns=2, margins=(0.6, 0.3), gap=0.7)
    ks = [row.k for row in rows if row.k is not None]
    interval_curve(values, ks, [row.first for row in rows], FIRST)
    interval_curve(values, ks, [row.second for row in rows], SECOND)
    values.legend(frameon=False, labelcolor=LIGHT.ink)
    set_title(values, shown.title, LIGHT)
    gaps.axhline(0, color=LIGHT.muted, linewidth=0.8)
    interval_curve(gaps, ks, [row.difference for row in rows], GAP, marker="o")
    set_title(gaps, "A − B, paired" + (", points" if shown.share else ""), LIGHT)
    if shown.share:
        percent_axis(values, bottom=None)
        points_axis(gaps)
    for ax in (values, gaps):
        k_axis(ax, ks, shown.axis)
    try:
        figure.savefig(path)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    return path
