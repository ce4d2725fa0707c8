"""How the figures of the studies look: Okabe and Ito's colours, light grids, files under 200 kB."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

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


def save(figure: Figure, path: Path) -> None:
    """Write a PNG."""
    figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
