"""How the figures of the studies look: the report's style, and files under 200 kB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl.report import style
from setrl.report.drawing import band
from studies.summaries import Interval

STYLES: dict[str, style.Style] = {
    "raw": (style.BLACK, ":", ""),
    "reinforce": (style.VERMILION, "-", ""),
    "s_loo": (style.PINK, (0, (5, 1, 1, 1)), ""),
    "ei": (style.ORANGE, "--", ""),
    "l2o": (style.BLUE, "-", ""),
    "mixture": (style.GREEN, "-.", ""),
    "poly": (style.SKY, style.LONG_DASHES, ""),
    "sampled": (style.SKY, style.DOTTED, ""),
    "regression": (style.BROWN, style.DASH_DOT_DOT, ""),
    "standardised": (style.GREY, style.LONG_DASHES, ""),
}
DPI = 100


def draw_interval(ax: Axes, x: np.ndarray, interval: Interval, name: str, label: str = "") -> None:
    """A mean as a line and its interval as a band, in the hue and line style of `name`."""
    look = style.Look(label, *STYLES[name])
    band(ax, x, (interval.mean, interval.low, interval.high), look)


def title(ax: Axes, text: str, xlabel: str) -> None:
    """A small title on the left, and what the x axis shows."""
    ax.set_title(text, loc="left", fontsize=10.5)
    ax.set_xlabel(xlabel)


def legend_below(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend below the panels, each label once."""
    lines = {
        str(line.get_label()): line for ax in axes for line in ax.get_legend_handles_labels()[0]
    }
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=3, frameon=False
    )


def save(figure: Figure, path: Path) -> None:
    """Write a PNG."""
    figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
