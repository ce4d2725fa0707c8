"""A comparison as a figure: both curves over k, and their paired difference with its band."""

from __future__ import annotations

import textwrap
from pathlib import Path

from setrl.errors import ConfigError
from setrl.evaluation.comparison import Comparison
from setrl.evaluation.comparison_text import sentences
from setrl.evaluation.metrics import METRICS

HUES, LINES = ("#D55E00", "#0072B2"), ("--", "-")  # Okabe and Ito's; the line says it again
BAND_ALPHA = 0.14


def write_figure(comparison: Comparison, metric: str, path: Path) -> Path:
    """Draw a metric of a comparison into a file whose ending says the format.

    Raises:
        ConfigError: When matplotlib is missing or does not know the format, or the metric is one
            number.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
    except ImportError as error:
        raise ConfigError("a figure needs matplotlib: pip install 'setrl[plot]'") from error
    rows, shown = comparison.of(metric), METRICS.get(metric)
    if shown is None or not shown.axis:
        raise ConfigError(f"{metric} has no curve to draw: --metrics must begin with one that has")
    scale = 100 if shown.share else 1
    ks = [row.k for row in rows if row.k is not None]
    figure = Figure(figsize=(9.6, 4.0), dpi=150, layout="constrained")
    values, gaps = figure.subplots(1, 2)
    for name, letter, hue, line in zip(("first", "second"), "AB", HUES, LINES, strict=True):
        estimates = [getattr(row, name) for row in rows]
        values.plot(ks, [scale * e.value for e in estimates], line, color=hue, label=letter)
        low, high = ([scale * getattr(e, end) for e in estimates] for end in ("low", "high"))
        values.fill_between(ks, low, high, color=hue, alpha=BAND_ALPHA, linewidth=0)
    differences = [row.difference for row in rows]
    gaps.axhline(0, color="#5c636e", linewidth=0.8)
    gaps.plot(ks, [scale * d.value for d in differences], "-o", color="#1b1e23", markersize=3)
    low, high = ([scale * getattr(d, end) for d in differences] for end in ("low", "high"))
    gaps.fill_between(ks, low, high, color="#1b1e23", alpha=BAND_ALPHA, linewidth=0)
    unit = ", %" if scale == 100 else ""
    values.set_title(f"{shown.title}{unit}", fontsize=10)
    gaps.set_title("A − B, paired" + (", points" if scale == 100 else ""), fontsize=10)
    values.legend(frameon=False)
    for axes in (values, gaps):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(ks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:g}"))
        axes.set_xlabel(shown.axis)
        axes.spines[["top", "right"]].set_visible(False)
    heading = sentences(comparison, metric)[0]
    names = f"A: {comparison.first}    B: {comparison.second}    {comparison.problems} problems"
    figure.suptitle(f"{textwrap.fill(heading, 100)}\n{names}", fontsize=9)
    try:
        figure.savefig(path)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error
    return path
