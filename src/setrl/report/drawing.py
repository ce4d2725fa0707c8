"""Parts that figures share: a bare canvas in a theme, end labels that do not collide, bands."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Floats
from setrl.evaluation.intervals import Difference, Estimate
from setrl.report.style import Look, Theme

WIDTH, DPI = 9.6, 150  # inches, dots an inch
HEADLINE_WIDTH = 104  # letters a line
LABEL_GAP, LABEL_OFFSET = 0.165, 0.17  # inches between names at lines' ends, and from the lines
LETTER_WIDTH, LETTER_HEIGHT = 0.075, 0.15  # inches, of the names in figures
SIDES = (  # where a point's name may stand: offset in dots, and shift in its own width and height
    ((9, 6), (0, 0)), ((9, -6), (0, -1)), ((-9, 6), (-1, 0)), ((-9, -6), (-1, -1)),
    ((0, 11), (-0.5, 0)), ((0, -11), (-0.5, -1)), ((9, 24), (0, 0)), ((9, -24), (0, -1)),
)  # fmt: skip
BAND_ALPHA = 0.14


@dataclass(frozen=True)
class Plate:
    """A figure with its words.

    Attributes:
        name: File name without ending.
        headline: What it shows, computed; also its text for those who cannot see it.
        note: How it was made.
        draw: Draws it in a theme.
    """

    name: str
    headline: str
    note: str
    draw: Callable[[Theme], Figure]


@dataclass(frozen=True)
class EndLabel:
    """A name to write at the right end of a line."""

    y: float
    look: Look


@dataclass(frozen=True)
class Spot:
    """A point; one without a name is only kept clear."""

    x: float
    y: float
    name: str


@dataclass(frozen=True)
class Canvas:
    """An empty figure: axes, row by row, under its headline."""

    figure: Figure
    axes: list[Axes]


def canvas(
    theme: Theme,
    headline: str,
    columns: int,
    rows: int = 1,
    row_height: float = 2.9,
    margins: tuple[float, float] = (0.6, 1.1),
    gap: float = 1.5,
    title_height: float = 0.35,
) -> Canvas:
    """A figure in the theme's colours.

    Args:
        theme: Its colours.
        headline: Written above all axes, in as many lines as it takes.
        columns: Axes in a row.
        rows: Rows of axes.
        row_height: Height of a row of axes, inches.
        margins: Room to the left and to the right of all axes, inches.
        gap: Room between columns, inches.
        title_height: Room for the titles of the first row of axes, inches.
    """
    lines = [part for line in headline.split("\n") for part in textwrap.wrap(line, HEADLINE_WIDTH)]
    top, bottom, between = 0.2 + title_height + 0.2 * len(lines), 0.55, 0.85
    height = top + bottom + rows * row_height + (rows - 1) * between
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor=theme.paper)
    grid = figure.subplots(rows, columns, squeeze=False)
    axis_width = (WIDTH - sum(margins) - gap * (columns - 1)) / columns
    figure.subplots_adjust(
        left=margins[0] / WIDTH,
        right=1 - margins[1] / WIDTH,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=gap / axis_width,
        hspace=between / row_height,
    )
    figure.text(
        0.15 / WIDTH,
        1 - 0.12 / height,
        "\n".join(lines),
        va="top",
        fontsize=10.5,
        fontweight="bold",
        color=theme.ink,
        linespacing=1.3,
    )
    for ax in grid.flat:
        _dress(ax, theme)
    return Canvas(figure, list(grid.flat))


def _dress(ax: Axes, theme: Theme) -> None:
    ax.set_facecolor(theme.paper)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.muted)
    ax.tick_params(colors=theme.muted, labelsize=8.5)
    ax.grid(axis="y", color=theme.grid, linewidth=0.8)
    ax.set_axisbelow(True)
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set(color=theme.muted, fontsize=9)


def set_title(ax: Axes, text: str, theme: Theme) -> None:
    """A neutral title: what the axis shows and its unit."""
    ax.set_title(text, loc="left", fontsize=10, color=theme.ink, pad=8)


def percent_axis(ax: Axes, bottom: float | None = 0.0) -> None:
    """Shares as per cent, from 0 or from where the data begin (None)."""
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g}%"))
    ax.set_ylim(bottom=bottom)


def points_axis(ax: Axes) -> None:
    """Differences of shares, in percentage points with their sign."""
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: "0" if abs(y) < 1e-9 else f"{100 * y:+g}".replace("-", "−"))
    )


def k_axis(ax: Axes, ks: Sequence[float], name: str = "k, samples that one may try") -> None:
    """k on a base-2 logarithmic axis."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ks, [f"{k:g}" for k in ks])
    ax.minorticks_off()
    ax.set_xlabel(name)


def interval_curve(
    ax: Axes, x: ArrayLike, estimates: Sequence[Estimate | Difference], look: Look, marker: str = ""
) -> None:
    """An arm's values as a line, and their intervals as a band."""
    value, low, high = np.array([(e.value, e.low, e.high) for e in estimates]).T
    ax.plot(x, value, color=look.hue, linestyle=look.line, linewidth=2, label=look.label,
            marker=marker, markersize=3)  # fmt: skip
    ax.fill_between(np.asarray(x), low, high, color=look.hue, alpha=BAND_ALPHA, linewidth=0)


def label_ends(ax: Axes, x: float, labels: Sequence[EndLabel], theme: Theme) -> None:
    """Write names at the lines' right ends, pushed apart where they would overlap.

    Call it when the axis limits are final: the distance between labels depends on them.
    """
    if not labels:
        return
    to_axes = ax.transAxes.inverted()
    ends = [to_axes.transform(ax.transData.transform((x, label.y))) for label in labels]
    width, height = ax.get_window_extent().width / DPI, ax.get_window_extent().height / DPI
    placed = spread([end[1] for end in ends], gap=LABEL_GAP / height)
    for label, end, y in zip(labels, ends, placed, strict=True):
        ax.annotate(
            label.look.label,
            xy=(end[0], end[1]),
            xytext=(end[0] + LABEL_OFFSET / width, y),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=theme.ink,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.look.hue,
                "linewidth": 1.2,
                "shrinkA": 1,
                "shrinkB": 2,
                "relpos": (0, 0.5),
            },
        )


def label_spots(ax: Axes, spots: Sequence[Spot], theme: Theme) -> None:
    """Write names beside points, each on the first side where it covers nothing.

    A name for which no side is free is left out. Call it when the axis limits are final.
    """
    letter = np.array([LETTER_WIDTH, LETTER_HEIGHT]) * DPI
    centers = [ax.transData.transform((spot.x, spot.y)) for spot in spots]
    taken = [(center - 7, center + 7) for center in centers]
    for spot, center in zip(spots, centers, strict=True):
        extent = letter * (len(spot.name), 1)
        corners = [center + offset + np.array(shift) * extent for offset, shift in SIDES]
        boxes = [(corner, corner + extent) for corner in corners]
        free = [box for box in boxes if not any(_overlap(box, other) for other in taken)]
        if not spot.name or not free:
            continue
        taken.append(free[0])
        x, y = ax.transAxes.inverted().transform(free[0][0])
        ax.text(x, y, spot.name, transform=ax.transAxes, fontsize=8.5, color=theme.ink, va="bottom")


def right_legend(
    figure: Figure, marks: Sequence[Artist], names: Sequence[str], theme: Theme
) -> None:
    """A legend in the right margin."""
    figure.legend(
        marks, names, loc="center right", frameon=False, fontsize=8.5, labelcolor=theme.ink
    )


def _overlap(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> bool:
    """Whether two boxes, each (lower left, upper right), share area."""
    return bool(np.all(one[0] < other[1]) and np.all(other[0] < one[1]))


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """The positions moved as little as is needed to be `gap` apart, in the same order.

    Isotonic regression of y − rank·gap by pooling neighbours.

    >>> spread([0.5, 0.5, 2.0], gap=0.2)
    [0.4, 0.6, 2.0]
    """
    order = np.argsort(positions, kind="stable")
    pools: list[tuple[float, int]] = []  # (sum, count) of y − rank·gap
    for rank, place in enumerate(order):
        total, count = float(positions[place]) - rank * gap, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / count:
            more, others = pools.pop()
            total, count = total + more, count + others
        pools.append((total, count))
    levels = [total / count for total, count in pools for _ in range(count)]
    placed = [0.0] * len(order)
    for rank, place in enumerate(order):
        placed[place] = round(levels[rank] + rank * gap, 9)
    return placed


def rolling_mean(values: Floats, window: int) -> Floats:
    """Mean of each value and its neighbours within window // 2 on both sides, along the last axis.

    At the ends there are fewer neighbours; NaN is left out.

    >>> rolling_mean(np.array([0.0, 3.0, 6.0, 9.0]), 3)
    array([1.5, 3. , 6. , 7.5])
    """
    length, reach = values.shape[-1], window // 2
    place = np.arange(length)
    start, stop = np.maximum(place - reach, 0), np.minimum(place + reach + 1, length)

    def over_window(row: Floats) -> Floats:
        upto = np.concatenate([np.zeros((*row.shape[:-1], 1)), row.cumsum(axis=-1)], axis=-1)
        return upto[..., stop] - upto[..., start]

    total = over_window(np.nan_to_num(values))
    count = over_window((~np.isnan(values)).astype(np.float64))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
