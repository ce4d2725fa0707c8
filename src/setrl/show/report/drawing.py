"""Parts that figures share: curves with bands, names at the ends of lines, points of a front."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from setrl.evaluate.estimators import Floats, common_prefix
from setrl.evaluate.intervals import WithInterval
from setrl.evaluate.looks import Look, label, sweep
from setrl.show.report import style
from setrl.show.report.style import BAND_ALPHA, Theme, numbers, place_in_sweep
from setrl.support.wording import percent_tick, plain

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
        separate = len(middle) - last + 1 if last else len(middle)
        band(ax, ks, (np.where(np.arange(len(middle)) < separate, middle, np.nan), low, high), look)
        if last:
            ax.plot(ks[separate - 1 :], middle[separate - 1 :], color=theme.ink, linewidth=2)
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
    for name, end, y in zip(labels, ends, placed, strict=True):
        ax.annotate(
            name.look.label,
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
                "color": name.look.hue,
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
            pool_total, pool_count = pools.pop()
            total, count = total + pool_total, count + pool_count
        pools.append((total, count))
    levels = [total / count for total, count in pools for _ in range(count)]
    placed = [0.0] * len(order)
    for rank, place in enumerate(order):
        placed[place] = round(levels[rank] + rank * gap, 9)
    return placed


def draw_front(
    ax: Axes, points: Mapping[str, tuple[WithInterval, WithInterval]], arms: Mapping[str, Look],
    theme: Theme, most: float = np.inf,
) -> None:  # fmt: skip
    """Draw a point with its intervals for each arm; lines join the arms of a sweep.

    A line follows the settings of its sweep, and has the first and the last setting at its ends:
    names of all points would cover each other.

    Args:
        ax: The axes.
        points: Arm → its place across and up; arms with an undefined place are left out.
        arms: Arm → its look, for all arms of the run.
        theme: The colours of the names.
        most: The largest upper end of the vertical axis.
    """
    points = {a: (x, y) for a, (x, y) in points.items() if not np.isnan(x.value + y.value)}
    far = far_below({arm: x.value for arm, (x, _) in points.items()})
    if far is not None:
        x, _ = points.pop(far)
        ax.text(0.02, 0.03, f"not shown: {arms[far].label}, at {percent_tick(x.value)}",
                transform=ax.transAxes, fontsize=style.LABEL_SIZE, color=theme.muted)  # fmt: skip
    sweeps: dict[str, list[str]] = {}
    drawn = _look_of_sweep(arms)
    for arm, (x, y) in points.items():
        look = drawn[sweep(arm)]
        ax.errorbar(x.value, y.value, xerr=_error_bar(x), yerr=_error_bar(y), color=look.hue,
                    elinewidth=0.9)  # fmt: skip
        ax.add_line(_arm_marker(look, theme, x.value, y.value))
        sweeps.setdefault(sweep(arm), []).append(arm)
    for members in sweeps.values():
        ordered = sorted(members, key=numbers)
        places = [points[arm] for arm in ordered]
        look = drawn[sweep(members[0])]
        ax.plot([x.value for x, _ in places], [y.value for _, y in places], color=look.hue,
                linestyle=look.line, linewidth=1.2, zorder=1)  # fmt: skip
        for arm in dict.fromkeys((ordered[0], ordered[-1])):
            x, y = points[arm]
            ax.annotate(place_in_sweep(arm, list(arms)), (x.value, y.value),
                        xytext=(6, 4), textcoords="offset points", fontsize=style.LABEL_SIZE,
                        color=theme.ink)  # fmt: skip
    if points:
        across, up = zip(*points.values(), strict=True)
        lowest, highest = _padded_limits(up)
        # Room for a whole marker at the top, though nothing is beyond it.
        room = 0.05 * (most - lowest) if np.isfinite(most) else np.inf
        ax.set(xlim=_padded_limits(across), ylim=(lowest, min(highest, most + room)))


def far_below(values: Mapping[str, float]) -> str | None:
    """Return the arm that is nearly 0, and farther below the others than these are apart.

    Such an arm squeezes what is compared at the other end of the axis.

    >>> far_below({"a": 0.0, "b": 0.8, "c": 1.0}), far_below({"a": 0.0, "b": 0.1, "c": 1.0})
    ('a', None)
    """
    if len(values) < 3:
        return None
    lowest, *others = sorted(values, key=values.__getitem__)
    low, start, end = (values[arm] for arm in (lowest, others[0], others[-1]))
    return lowest if low <= 0.01 * start and start - low > end - start else None


def front_legend(figure: Figure, arms: Mapping[str, Look], theme: Theme) -> None:
    """Write the sweeps, and the arms in no sweep, in the right margin."""
    names, drawn = {}, _look_of_sweep(arms)
    for arm in arms:
        is_single = not place_in_sweep(arm, list(arms))
        names[label(arm if is_single else sweep(arm).replace("#", "").strip("_"))] = drawn[
            sweep(arm)
        ]
    right_legend(figure, [_arm_marker(look, theme) for look in names.values()], list(names), theme)


def _look_of_sweep(arms: Mapping[str, Look]) -> dict[str, Look]:
    """Return the look of each sweep, which is one series here: the look of its first arm."""
    return {sweep(arm): arms[arm] for arm in reversed(list(arms))}


def _arm_marker(look: Look, theme: Theme, x: float = 0.0, y: float = 0.0) -> Line2D:
    return Line2D([x], [y], color=look.hue, marker=look.marker, markersize=7, linestyle="",
                  markeredgecolor=theme.ink, markeredgewidth=0.6, zorder=3)  # fmt: skip


def _error_bar(mean: WithInterval) -> np.ndarray:
    """Return how far the interval goes below and above its value, (2, 1)."""
    return np.nan_to_num([[mean.value - mean.low], [mean.high - mean.value]]).clip(0)


def _padded_limits(estimates: Sequence[WithInterval]) -> tuple[float, float]:
    """Return limits around all intervals, with a margin of at least 1/40 of the highest value."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if not np.isnan(x)]
    low, high = min(ends), max(ends)
    pad = max(0.1 * (high - low), 0.025 * abs(high), 1e-3)
    return low - pad, high + pad
