"""The canvas that every figure is drawn on, its themes and axes. Text is never coloured.

How arms look is in `setrl.evaluate.looks`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from setrl.evaluate import looks
from setrl.evaluate.looks import HUES, REGISTRY, sweep
from setrl.logs.run import base_as_cold, is_base
from setrl.support.wording import count, percent_tick

BLACK, GREY, BROWN, ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = (HUES[name] for name in (
    "black", "grey", "brown", "orange", "sky", "green", "blue", "vermilion", "pink"))  # fmt: skip
STRATEGY_FILLS = tuple(REGISTRY["fills"])  # Paul Tol's "light" scheme, made for filled areas
OTHER_FILL: str = REGISTRY["other"]
# The style of a line above a page.
WARNING = f"background:{REGISTRY['warning']};color:white;padding:0.6em 1em"
BAND_ALPHA = 0.14

WIDTH, DPI = 9.6, 150  # inches, dots per inch
LETTERS = 500  # of a sample on a page
HEADLINE_SIZE, TITLE_SIZE, AXIS_SIZE, LABEL_SIZE = 10.5, 10, 9, 8.5  # points
MOST_ARMS = 6  # whose curves one figure shows
HEADLINE_WIDTH = 104  # letters per line: fewer with a larger HEADLINE_SIZE


@dataclass(frozen=True)
class Theme:
    """Colours of a page or figure that are not data.

    Attributes:
        paper, back: Behind figures and tables, and behind the page.
        ink, muted, grid: Of text, of text that is less important, and of lines.
        plus, minus: The colours of what is above or correct, and of what is below or wrong.
    """

    name: str
    paper: str
    back: str
    ink: str
    muted: str
    grid: str
    plus: str
    minus: str


LIGHT, DARK = (Theme(name, **colours) for name, colours in REGISTRY["themes"].items())


def numbers(arm: str) -> tuple[float, ...]:
    """Return the numbers in the name of an arm, which order the arms of a sweep."""
    return tuple(float(match[0]) for match in looks.NUMBER.finditer(arm))


def place_in_sweep(arm: str, arms: Sequence[str]) -> str:
    """Return the parts of an arm's name that differ from the other arms of its sweep.

    >>> place_in_sweep("poly_n8_k4", ["poly_n8_k4", "poly_n16_k8"]), place_in_sweep("a_1", ["a_1"])
    ('n8 k4', '')
    """
    if sum(sweep(other) == sweep(arm) for other in arms) < 2:
        return ""
    return " ".join(word for word in arm.split("_") if any(map(str.isdigit, word)))


def cut(text: str) -> str:
    """Return the first letters of text, and how many more it has: `setrl view` shows them all."""
    hidden = len(text) - LETTERS
    return text if hidden <= 0 else f"{text[:LETTERS]} … ({count(hidden, 'more letter')})"


def main_arms(arms: Sequence[str]) -> list[str]:
    """Return the arms for figures of curves: all as trained, or, if many, those outside sweeps."""
    arms = [arm for arm in arms if base_as_cold(arm) is None]
    if len(arms) <= MOST_ARMS:
        return list(arms)
    alone = [arm for arm in arms if not place_in_sweep(arm, arms)]
    return alone if sum(not is_base(arm) for arm in alone) > 1 else list(arms)


def strategy_fills(mean_shares: Mapping[str, float]) -> dict[str, str]:
    """Choose a fill for each of the commonest strategies; the others are "other"."""
    order = sorted(mean_shares, key=lambda name: (-mean_shares[name], name))
    named = [name for name in order if name != "other"][: len(STRATEGY_FILLS)]
    return dict(zip(named, STRATEGY_FILLS, strict=False))


def axes_grid(
    rows: int,
    columns: int,
    width: float,
    height: float,
    theme: Theme = LIGHT,
    layout: Literal["constrained"] | None = "constrained",
) -> tuple[Figure, list[Axes]]:
    """Make a figure without text; return it and its axes, row by row.

    Args:
        rows, columns: How many axes.
        width, height: The size of the figure in inches.
        theme: Its colours.
        layout: How matplotlib places the axes; None leaves that to the caller.
    """
    sheet = Figure(figsize=(width, height), dpi=DPI, facecolor=theme.paper, layout=layout)
    axes = sheet.subplots(rows, columns, squeeze=False).ravel().tolist()
    for ax in axes:
        ax.set_facecolor(theme.paper)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(theme.muted)
        ax.tick_params(colors=theme.muted, labelsize=LABEL_SIZE)
        ax.grid(axis="y", color=theme.grid, linewidth=0.8)
        ax.set_axisbelow(True)
        for text in (ax.xaxis.label, ax.yaxis.label):
            text.set(color=theme.muted, fontsize=AXIS_SIZE)
    return sheet, axes


def canvas(
    theme: Theme,
    headline: str,
    columns: int,
    row_height: float = 2.9,
    margins: tuple[float, float] = (0.6, 1.1),
    gap: float = 1.5,
) -> tuple[Figure, list[Axes]]:
    """Make the figure of a page, with a headline; return it and its empty axes.

    Args:
        theme: Its colours.
        headline: Written above all axes, in as many lines as it takes.
        columns: Axes in its row.
        row_height: Height of the axes, inches.
        margins: Space to the left and to the right of all axes, inches.
        gap: Space between columns, inches.
    """
    lines = [part for line in headline.split("\n") for part in textwrap.wrap(line, HEADLINE_WIDTH)]
    top, bottom = 0.55 + 0.2 * len(lines), 0.55
    height = top + bottom + row_height
    axis_width = (WIDTH - sum(margins) - gap * (columns - 1)) / columns
    figure, axes = axes_grid(1, columns, WIDTH, height, theme, layout=None)
    figure.subplots_adjust(
        left=margins[0] / WIDTH,
        right=1 - margins[1] / WIDTH,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=gap / axis_width,
    )
    figure.text(
        0.15 / WIDTH, 1 - 0.12 / height, "\n".join(lines), va="top", fontsize=HEADLINE_SIZE,
        fontweight="bold", color=theme.ink, linespacing=1.3,
    )  # fmt: skip
    return figure, axes


def set_title(ax: Axes, text: str, theme: Theme) -> None:
    """Write a neutral title: what the axis shows, and the unit."""
    ax.set_title(text, loc="left", fontsize=TITLE_SIZE, color=theme.ink, pad=8)


def percent_axis(ax: Axes) -> None:
    """Shares as per cent, from 0."""
    ax.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    ax.set_ylim(bottom=0.0)


def points_axis(ax: Axes) -> None:
    """Differences of shares, in percentage points with their sign."""
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: "0" if abs(y) < 1e-9 else f"{100 * y:+g}".replace("-", "−"))
    )


def k_axis(ax: Axes, ks: Sequence[float]) -> None:
    """k on a base-2 logarithmic axis."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ks, [f"{k:g}" for k in ks])
    ax.minorticks_off()
    ax.set_xlabel("k, samples that one may try")
