"""Parts that figures share: curves with bands, and names at the ends of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from setrl.evaluate.estimators import Floats, common_prefix
from setrl.evaluate.intervals import WithInterval
from setrl.evaluate.looks import Look
from setrl.show.report import style
from setrl.show.report.style import BAND_ALPHA, Theme
from setrl.support.wording import plain

LABEL_GAP, LABEL_OFFSET = 0.165, 0.17  # inches between names at lines' ends, and from the lines


@dataclass(frozen=True)
class Chart:
    """A figure with its words.

    Attributes:
        name: File name without ending.
        headline: What it shows, computed; also the text for readers who cannot see it.
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


def interval_curves(
    ax: Axes, curves: Sequence[tuple[Sequence[int], Sequence[WithInterval], Look]], theme: Theme
) -> list[EndLabel]:
    """Draw a line and a band for each arm (its x, values and look); return the ends' labels.

    Lines that show the same values up to their end are one line there.
    """
    shared = shared_tails([[(k, plain(100 * v.value)) for k, v in zip(ks, values, strict=True)]
                           for ks, values, _ in curves])  # fmt: skip
    for (ks, values, look), last in zip(curves, shared, strict=True):
        middle, low, high = np.array([(v.value, v.low, v.high) for v in values]).T
        own = len(middle) - last + 1 if last else len(middle)
        band(ax, ks, (np.where(np.arange(len(middle)) < own, middle, np.nan), low, high), look)
        if last:
            ax.plot(ks[own - 1 :], middle[own - 1 :], color=theme.ink, linewidth=2)
    return [EndLabel(float(values[-1].value), look) for _, values, look in curves]


def shared_tails(curves: Sequence[Sequence[object]]) -> list[int]:
    """Return how many of its last points each curve has in common with another; 0 for a single one.

    >>> shared_tails(["abc", "xbc", "xyc"])
    [2, 2, 0]
    """
    most = [
        max((common_prefix(a[::-1], b[::-1]) for b in curves if b is not a), default=0)
        for a in curves
    ]
    return [length if length > 1 else 0 for length in most]


def band(ax: Axes, x: ArrayLike, ends: tuple[Floats, Floats, Floats], look: Look) -> None:
    """Draw a line through the middle of (middle, low, high), and a band between low and high."""
    middle, low, high = ends
    ax.plot(x, middle, color=look.hue, linestyle=look.line, linewidth=2, label=look.label)
    ax.fill_between(np.asarray(x), low, high, color=look.hue, alpha=BAND_ALPHA, linewidth=0)


def label_ends(ax: Axes, x: float, labels: Sequence[EndLabel], theme: Theme) -> None:
    """Write names at the lines' right ends, moved apart if they would overlap.

    Call it when the axis limits are final: the distance between labels depends on them.
    """
    to_axes = ax.transAxes.inverted()
    ends = [to_axes.transform(ax.transData.transform((x, label.y))) for label in labels]
    box = ax.get_window_extent()
    placed = spread([end[1] for end in ends], gap=LABEL_GAP / (box.height / style.DPI))
    for label, end, y in zip(labels, ends, placed, strict=True):
        ax.annotate(
            label.look.label,
            xy=(end[0], end[1]),
            xytext=(end[0] + LABEL_OFFSET / (box.width / style.DPI), y),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=style.LABEL_SIZE,
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


def right_legend(figure: Figure, marks: Sequence, names: Sequence[str], theme: Theme) -> None:
    """Draw a legend in the right margin."""
    figure.legend(
        marks,
        names,
        loc="center right",
        frameon=False,
        fontsize=style.LABEL_SIZE,
        labelcolor=theme.ink,
    )


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move positions as little as necessary, so that they are `gap` apart, in the same order.

    Isotonic regression of y − rank·gap by pooling neighbours.

    >>> spread([0.5, 0.5, 2.0], gap=0.2)
    [0.4, 0.6, 2.0]
    """
    order = np.argsort(positions, kind="stable")
    pools: list[tuple[float, int]] = []  # (sum, count) of y − rank·gap
    for rank, place in enumerate(order):
        total, count = float(positions[place]) - rank * gap, 1
        # A pool that would end above the next one moves together with it, to their common mean.
        while pools and pools[-1][0] / pools[-1][1] >= total / count:
            more, others = pools.pop()
            total, count = total + more, count + others
        pools.append((total, count))
    levels = [total / count for total, count in pools for _ in range(count)]
    placed = [0.0] * len(order)
    for rank, place in enumerate(order):
        placed[place] = round(levels[rank] + rank * gap, 9)
    return placed
