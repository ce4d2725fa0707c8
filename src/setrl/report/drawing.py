"""Parts that figures share: curves with bands, curves over steps, frontiers, names that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Floats
from setrl.evaluation.intervals import WithInterval
from setrl.evaluation.outcomes import Outcome
from setrl.report import style
from setrl.report.style import BAND_ALPHA, Look, Theme, numbers, place_in_sweep, sweep, sweep_label
from setrl.wording import percent_tick

LABEL_GAP, LABEL_OFFSET = 0.165, 0.17  # inches between names at lines' ends, and from the lines
# Where a point's name may be: the direction from the point, and the part of the name that is there.
DIRECTIONS = (
    ((1, 1), (0, 0)), ((1, -1), (0, -1)), ((-1, 1), (-1, 0)), ((-1, -1), (-1, -1)),
    ((0, 1.3), (-0.5, 0)), ((0, -1.3), (-0.5, -1)), ((1.5, 0), (0, -0.5)), ((-1.5, 0), (-1, -0.5)),
)  # fmt: skip
DISTANCES = (9, 22, 38, 56, 76)  # dots from the point; a line leads to a name beyond the first
CROSSING = 12  # dots farther away that a name goes rather than cover a line


Pair = tuple[float, float]
Box = tuple[Floats, Floats]  # lower left and upper right corner, in dots
Interval = WithInterval | Outcome  # each has a value and the ends of its interval


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


@dataclass(frozen=True)
class Spot:
    """A point; if its name is empty, its place is only kept clear."""

    x: float
    y: float
    name: str


def interval_curve(
    ax: Axes, x: ArrayLike, values: Sequence[Interval], look: Look, marker: str = ""
) -> EndLabel:
    """An arm's values as a line, and their intervals as a band; returns the line's name."""
    middle, low, high = np.array([(v.value, v.low, v.high) for v in values]).T
    band(ax, x, (middle, low, high), look, marker)
    return EndLabel(float(middle[-1]), look)


def band(
    ax: Axes, x: ArrayLike, ends: tuple[Floats, Floats, Floats], look: Look, marker: str = ""
) -> None:
    """A line through the middle of (middle, low, high), and a band between the other two."""
    middle, low, high = ends
    ax.plot(x, middle, color=look.hue, linestyle=look.line, linewidth=2, label=look.label,
            marker=marker, markersize=3)  # fmt: skip
    ax.fill_between(np.asarray(x), low, high, color=look.hue, alpha=BAND_ALPHA, linewidth=0)


def step_curves(
    ax: Axes, curves: Sequence[tuple[Look, Floats, Floats]], theme: Theme, bottom: float | None
) -> None:
    """Training curves: each run's thin, their mean thick with its name at the end.

    Args:
        ax: Where to.
        curves: Look, steps (T,) and values (R, T) of each arm.
        theme: Colours of the names.
        bottom: Lower end of the vertical axis; None for where the data begin.
    """
    last = max([1.0, *(float(steps_T[-1]) for _, steps_T, _ in curves)])
    ends = []
    for look, steps_T, values_RT in curves:
        # Where a batch makes several updates, only the first of these steps has measured samples.
        measured_T = ~np.isnan(values_RT).any(axis=0)
        if not measured_T.any():
            continue
        steps_T, values_RT = steps_T[measured_T], values_RT[:, measured_T]
        ax.plot(steps_T, values_RT.T, color=look.hue, linewidth=0.7, alpha=0.45)
        mean_T = values_RT.mean(axis=0)
        # Dashes would be unreadable on lines that jump: the marker sets them apart.
        ax.plot(steps_T, mean_T, color=look.hue, linewidth=2, marker=look.marker,
                 markersize=5, markevery=max(1, len(steps_T) // 5),
                markeredgecolor=theme.paper)  # fmt: skip
        ends.append(EndLabel(float(mean_T[-1]), look))
    ax.set_xlim(right=last)
    ax.set_ylim(bottom=bottom)
    label_ends(ax, last, ends, theme)


def frontier(
    ax: Axes, points: Mapping[str, tuple[Interval, Interval]], arms: Mapping[str, Look],
    theme: Theme, most: float = np.inf,
) -> None:  # fmt: skip
    """A point with its intervals for each arm; lines join the arms of a sweep.

    Args:
        ax: Where to.
        points: Arm → its place across and up; arms with an undefined place are left out.
        arms: Arm → its look, of all arms of the run.
        theme: Colours of the names.
        most: The upper end of the vertical axis at the most.
    """
    points = {a: (x, y) for a, (x, y) in points.items() if not np.isnan(x.value + y.value)}
    far = far_below({arm: x.value for arm, (x, _) in points.items()})
    if far is not None:
        x, _ = points.pop(far)
        ax.text(0.02, 0.03, f"not shown: {arms[far].label}, at {percent_tick(x.value)}",
                transform=ax.transAxes, fontsize=style.LABEL_SIZE, color=theme.muted)  # fmt: skip
    sweeps: dict[str, list[str]] = {}
    for arm, (x, y) in points.items():
        ax.errorbar(x.value, y.value, xerr=_reach(x), yerr=_reach(y), color=arms[arm].hue,
                    elinewidth=0.9)  # fmt: skip
        ax.add_line(_mark(arms[arm], theme, x.value, y.value))
        sweeps.setdefault(sweep(arm), []).append(arm)
    for members in sweeps.values():
        places = [points[arm] for arm in sorted(members, key=numbers)]
        look = arms[members[0]]
        ax.plot([x.value for x, _ in places], [y.value for _, y in places], color=look.hue,
                linestyle=look.line, linewidth=1.2, zorder=1)  # fmt: skip
    if points:
        across, up = zip(*points.values(), strict=True)
        lowest, highest = _padded(up)
        # Room for a whole marker at the top, though nothing is beyond it.
        room = 0.05 * (most - lowest) if np.isfinite(most) else np.inf
        ax.set(xlim=_padded(across), ylim=(lowest, min(highest, most + room)))
    names = {arm: place_in_sweep(arm, list(arms)) for arm in points}
    label_spots(ax, [Spot(points[a][0].value, points[a][1].value, names[a]) for a in names], theme)


def far_below(values: Mapping[str, float]) -> str | None:
    """The arm that is next to nothing, and farther below the others than these are apart.

    It is alone at its end of the axis, and squeezes what is compared at the other end.

    >>> far_below({"a": 0.0, "b": 0.8, "c": 1.0}), far_below({"a": 0.0, "b": 0.1, "c": 1.0})
    ('a', None)
    """
    if len(values) < 3:
        return None
    lowest, *others = sorted(values, key=values.__getitem__)
    low, start, end = (values[arm] for arm in (lowest, others[0], others[-1]))
    return lowest if low <= 0.01 * start and start - low > end - start else None


def frontier_legend(figure: Figure, arms: Mapping[str, Look], theme: Theme) -> None:
    """The sweeps, and the arms in none, in the right margin."""
    names = {sweep_label(arm, list(arms)): look for arm, look in arms.items()}
    right_legend(figure, [_mark(look, theme) for look in names.values()], list(names), theme)


def _mark(look: Look, theme: Theme, x: float = 0.0, y: float = 0.0) -> Line2D:
    return Line2D([x], [y], color=look.hue, marker=look.marker, markersize=7, linestyle="",
                  markeredgecolor=theme.ink, markeredgewidth=0.6, zorder=3)  # fmt: skip


def _reach(found: Interval) -> list[list[float]] | None:
    """How far the interval goes below and above its value."""
    if np.isnan(found.low):
        return None
    return [[max(found.value - found.low, 0.0)], [max(found.high - found.value, 0.0)]]


def _padded(found: Sequence[Interval]) -> tuple[float, float]:
    """Limits around all intervals, with a margin of at least a fortieth of the highest value."""
    ends = [x for e in found for x in (e.value, e.low, e.high) if not np.isnan(x)]
    low, high = min(ends), max(ends)
    pad = max(0.1 * (high - low), 0.025 * abs(high), 1e-3)
    return low - pad, high + pad


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


def label_spots(ax: Axes, spots: Sequence[Spot], theme: Theme) -> None:
    """Write names beside points, near them and where they cover nothing; farther ones with a line.

    A name for which there is no place in the axes is left out. Call it when the axis limits are
    final, and all lines are drawn.
    """
    letter = np.array([style.LETTER_WIDTH, style.LETTER_HEIGHT]) * style.DPI
    centers = [ax.transData.transform((spot.x, spot.y)) for spot in spots]
    window = ax.get_window_extent()
    space = _Space(
        room=(np.array(window.min), np.array(window.max)),
        marks=[(center - 7, center + 7) for center in centers],
        lines=_dots_of_lines(ax),
    )
    for spot, center in zip(spots, centers, strict=True):
        place = space.find(center, letter * (len(spot.name), 1)) if spot.name else None
        if place is None:
            continue
        space.names.append(place.box)
        space.leaders.append(place.leader)
        to_axes = ax.transAxes.inverted()
        if len(place.leader):
            ends = to_axes.transform(place.leader[[0, -1]])
            ax.plot(*ends.T, transform=ax.transAxes, color=theme.muted, linewidth=0.6, zorder=2)
        x, y = to_axes.transform(place.box[0])
        ax.text(
            x,
            y,
            spot.name,
            transform=ax.transAxes,
            fontsize=style.LABEL_SIZE,
            color=theme.ink,
            va="bottom",
        )


@dataclass(frozen=True)
class _Place:
    """Where a name may be: its box, the dots of the line that leads to it, and how bad it is."""

    box: Box
    leader: Floats
    cost: float


@dataclass
class _Space:
    """What a figure's names must keep clear of, in dots.

    Attributes:
        room: The axes.
        marks: Of points.
        lines: Dots of lines and bars, which a name rather does not cover.
        names, leaders: Of names that have a place, and dots of the lines that lead to them.
    """

    room: Box
    marks: list[Box]
    lines: Floats
    names: list[Box] = field(default_factory=list)
    leaders: list[Floats] = field(default_factory=list)

    def find(self, center: Floats, extent: Floats) -> _Place | None:
        """The best place for the name of a point; None if there is none."""
        found = [
            place
            for distance in DISTANCES
            for towards, shift in DIRECTIONS
            if (place := self._place(center, extent, distance, towards, shift)) is not None
        ]
        return min(found, key=lambda place: place.cost, default=None)

    def _place(
        self, center: Floats, extent: Floats, distance: int, towards: Pair, shift: Pair
    ) -> _Place | None:
        corner = center + np.array(towards) * distance * 0.8 + np.array(shift) * extent
        box = (corner, corner + extent)
        leader = np.empty((0, 2))
        if distance > DISTANCES[0]:
            leader = np.linspace(center, np.clip(center, *box), 20)
        is_inside = np.all(box[0] >= self.room[0]) and np.all(box[1] <= self.room[1])
        is_free = not any(_overlap(box, other) for other in (*self.marks, *self.names))
        crosses = any(_covers(box, dots) for dots in self.leaders) or any(
            _covers(name, leader) for name in self.names
        )
        if not is_inside or not is_free or crosses:
            return None
        return _Place(box, leader, distance + CROSSING * _covers(box, self.lines))


def _covers(box: Box, dots: Floats) -> bool:
    """Whether a box covers any of the dots."""
    return bool(np.all((dots > box[0]) & (dots < box[1]), axis=1).any())


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share area."""
    return bool(np.all(one[0] < other[1]) and np.all(other[0] < one[1]))


def _dots_of_lines(ax: Axes) -> Floats:
    """Where lines and bars are, in dots, close enough together that no name fits between two."""
    paths = [np.asarray(line.get_xydata()) for line in ax.lines]
    for bars in ax.collections:
        if isinstance(bars, LineCollection):
            paths += [np.asarray(path) for path in bars.get_segments()]
    dots = [np.empty((0, 2))]
    for path in paths:
        for start, stop in pairwise(ax.transData.transform(path)):
            dots.append(np.linspace(start, stop, max(2, int(np.abs(stop - start).max() / 4))))
    return np.concatenate(dots)


def right_legend(figure: Figure, marks: Sequence, names: Sequence[str], theme: Theme) -> None:
    """A legend in the right margin."""
    figure.legend(
        marks,
        names,
        loc="center right",
        frameon=False,
        fontsize=style.LABEL_SIZE,
        labelcolor=theme.ink,
    )


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """The positions, moved as little as necessary to be `gap` apart, in the same order.

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
