"""How the figures of the studies look: Okabe and Ito's colours, light grids, files under 200 kB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.summaries import Interval

HUES = {
    "raw": "#000000",
    "reinforce": "#D55E00",
    "s_loo": "#CC79A7",
    "ei": "#E69F00",
    "l2o": "#0072B2",
    "mixture": "#009E73",
    "poly": "#56B4E9",
    "sampled": "#56B4E9",
    "regression": "#8C6D31",
    "standardised": "#999999",
}
LINES: dict[str, str | tuple[int, tuple[int, ...]]] = {
    "raw": ":",
    "reinforce": "-",
    "s_loo": (0, (5, 1, 1, 1)),
    "ei": "--",
    "l2o": "-",
    "mixture": "-.",
    "poly": (0, (7, 2)),
    "sampled": (0, (1, 1)),
    "regression": (0, (3, 1, 1, 1, 1, 1)),
    "standardised": (0, (7, 2)),
}
DPI = 100


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure and its axes, row by row."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for ax in axes:
        ax.grid(color="#e3e6ea", linewidth=0.7)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure, axes


def draw_interval(
    ax: Axes, x: np.ndarray, interval: Interval, name: str, label: str | None = None
) -> None:
    """A mean as a line and its interval as a band, in the hue and line style of `name`."""
    hue, line = HUES[name], LINES[name]
    ax.plot(x, interval.mean, color=hue, linestyle=line, label=label, linewidth=1.8)
    ax.fill_between(x, interval.low, interval.high, color=hue, alpha=0.15, linewidth=0)


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
