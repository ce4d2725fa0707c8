"""Two metrics against each other: a point for each arm, a line for each sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from setrl.evaluate.intervals import WithInterval
from setrl.evaluate.looks import Look, label, sweep
from setrl.show.report import style
from setrl.show.report.drawing import right_legend
from setrl.show.report.style import Theme, numbers, place_in_sweep
from setrl.support.wording import percent_tick


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
    drawn = _by_sweep(arms)
    for arm, (x, y) in points.items():
        look = drawn[sweep(arm)]
        ax.errorbar(x.value, y.value, xerr=_reach(x), yerr=_reach(y), color=look.hue,
                    elinewidth=0.9)  # fmt: skip
        ax.add_line(_mark(look, theme, x.value, y.value))
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
        lowest, highest = _padded(up)
        # Room for a whole marker at the top, though nothing is beyond it.
        room = 0.05 * (most - lowest) if np.isfinite(most) else np.inf
        ax.set(xlim=_padded(across), ylim=(lowest, min(highest, most + room)))


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
    names, drawn = {}, _by_sweep(arms)
    for arm in arms:
        is_single = not place_in_sweep(arm, list(arms))
        names[label(arm if is_single else sweep(arm).replace("#", "").strip("_"))] = drawn[
            sweep(arm)
        ]
    right_legend(figure, [_mark(look, theme) for look in names.values()], list(names), theme)


def _by_sweep(arms: Mapping[str, Look]) -> dict[str, Look]:
    """Return the look of each sweep, which is one series here: the look of its first arm."""
    return {sweep(arm): arms[arm] for arm in reversed(list(arms))}


def _mark(look: Look, theme: Theme, x: float = 0.0, y: float = 0.0) -> Line2D:
    return Line2D([x], [y], color=look.hue, marker=look.marker, markersize=7, linestyle="",
                  markeredgecolor=theme.ink, markeredgewidth=0.6, zorder=3)  # fmt: skip


def _reach(found: WithInterval) -> np.ndarray:
    """Return how far the interval goes below and above its value, (2, 1)."""
    return np.nan_to_num([[found.value - found.low], [found.high - found.value]]).clip(0)


def _padded(found: Sequence[WithInterval]) -> tuple[float, float]:
    """Return limits around all intervals, with a margin of at least 1/40 of the highest value."""
    ends = [x for e in found for x in (e.value, e.low, e.high) if not np.isnan(x)]
    low, high = min(ends), max(ends)
    pad = max(0.1 * (high - low), 0.025 * abs(high), 1e-3)
    return low - pad, high + pad
