"""Figures of a control run: the frontier of its arms, and curves over environment steps."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from setrl.report.control_data import ControlArm, ControlData, numbers, sweep
from setrl.report.drawing import (
    EndLabel,
    Plate,
    Spot,
    canvas,
    label_ends,
    label_spots,
    right_legend,
    rolling_mean,
    set_title,
)
from setrl.report.style import Look, Theme

MOST_CURVES = 8
STEADY = ("rollout/ep_rew_mean", "mean return of recent episodes")


def plates(data: ControlData) -> list[Plate]:
    """The figures that the run has data for."""
    found = [frontier(data)] if data.quality and data.diversity else []
    return [*found, *([curves(data)] if _curved(data) else [])]


def frontier(data: ControlData) -> Plate:
    """Success against diversity: one point an arm, with standard errors over seeds."""
    quality, panels = data.quality, data.diversity
    headline = f"{data.name}: {_spoken(quality)} against {' and '.join(map(_spoken, panels))}"

    def draw(theme: Theme) -> Figure:
        columns = len(panels)
        sheet = canvas(theme, headline, columns, row_height=3.6, gap=0.7, margins=(0.6, 1.9))
        for ax, metric in zip(sheet.axes, panels, strict=True):
            _draw_frontier(ax, data, metric, theme)
            set_title(ax, _spoken(metric), theme)
        shown = {arm.name: data.looks[arm.name] for arm in data.evaluated}
        by_label = {look.label: look for look in shown.values()}
        marks = [_mark(look, theme, 0, 0) for look in by_label.values()]
        right_legend(sheet.figure, marks, list(by_label), theme)
        return sheet.figure

    note = (
        "Each point is an arm: means over seeds, bars of one standard error. All arms had the same "
        "environment steps, those of vines included. Up and to the right is better; compare at the "
        "same success. Lines join the arms of a sweep, which are named by their numbers."
    )
    return Plate("frontier", headline, note, draw)


def _draw_frontier(ax: Axes, data: ControlData, metric: str, theme: Theme) -> None:
    assert data.quality is not None
    lines: dict[str, list[tuple[tuple[float, ...], float, float]]] = {}
    spots = []
    for arm in data.evaluated:
        x, y = arm.outcome(data.quality), arm.outcome(metric)
        if math.isnan(x.mean) or math.isnan(y.mean):
            continue
        look = data.looks[arm.name]
        bars = {"xerr": np.nan_to_num(x.stderr), "yerr": np.nan_to_num(y.stderr)}
        ax.errorbar(x.mean, y.mean, color=look.hue, elinewidth=0.9, **bars)
        ax.add_line(_mark(look, theme, x.mean, y.mean))
        lines.setdefault(sweep(arm.name), []).append((numbers(arm.name), x.mean, y.mean))
        spots.append(Spot(x.mean, y.mean, _point_name(arm.name, data)))
    styles = {sweep(arm): look for arm, look in data.looks.items()}
    for name, points in lines.items():
        _, xs, ys = zip(*sorted(points), strict=True)
        look = styles[name]
        ax.plot(xs, ys, color=look.hue, linestyle=look.line, linewidth=1.2, zorder=1)
    ax.set_xlabel(_spoken(data.quality))
    ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g}%")
    ax.margins(0.08)
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())  # final, which names go by
    label_spots(ax, spots, theme)


def _point_name(arm: str, data: ControlData) -> str:
    """The numbers of an arm in a sweep; one in none is named by the legend."""
    if sum(sweep(other) == sweep(arm) for other in data.arms) < 2:
        return ""
    return " ".join(word for word in arm.split("_") if any(map(str.isdigit, word)))


def curves(data: ControlData) -> Plate:
    """Return, and diversity where it was evaluated, over environment steps."""
    keys = [STEADY, *((f"evaluation/{one}", _spoken(one)) for one in data.diversity[:1])]
    if not any(keys[-1][0] in c for arm in data.arms.values() for c in arm.curves.values()):
        keys[1:] = [("vines/distinct", "different ways among a state's vines")]
    headline = f"{data.name}: training over environment steps"

    def draw(theme: Theme) -> Figure:
        sheet = canvas(theme, headline, len(keys), gap=1.6, margins=(0.6, 1.5))
        for ax, (key, title) in zip(sheet.axes, keys, strict=True):
            _draw_curves(ax, data, key, theme)
            set_title(ax, title, theme)
        return sheet.figure

    note = (
        "Thick: mean over seeds; thin: each seed; rolling means over a tenth of the run. Steps of "
        "vines count. Of a sweep, the arm in the middle is shown."
    )
    return Plate("curves", headline, note, draw)


def _draw_curves(ax: Axes, data: ControlData, key: str, theme: Theme) -> None:
    ends, last = [], 1.0
    for arm in _curved(data):
        found = _series(arm, key)
        if found is None:
            continue
        steps_T, values_ST = found
        look = data.looks[arm.name]
        for row in values_ST:
            ax.plot(steps_T, row, color=look.hue, linewidth=0.6, alpha=0.4)
        mean_T = values_ST.mean(axis=0)
        ax.plot(steps_T, mean_T, color=look.hue, linestyle=look.line, linewidth=2)
        named = Look(arm.name.replace("_", " "), look.hue, look.line, look.marker)
        ends.append(EndLabel(float(mean_T[-1]), named))
        last = max(last, float(steps_T[-1]))
    ax.set_xlim(0, last)
    ax.set_xlabel("environment steps")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k")
    label_ends(ax, last, ends, theme)


def _series(arm: ControlArm, key: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Steps (T,) and values (seeds, T) on a common grid; None where no seed has the key."""
    known = []
    for found in arm.curves.values():
        if key in found and (is_there := ~np.isnan(found[key])).any():
            known.append((found["step"][is_there], found[key][is_there]))
    if not known:
        return None
    first, last = max(steps[0] for steps, _ in known), min(steps[-1] for steps, _ in known)
    points = min(200, *(len(steps) for steps, _ in known))
    steps_T = np.linspace(first, last, max(points, 2))
    rows = [rolling_mean(np.interp(steps_T, *row), max(points // 10, 1)) for row in known]
    return steps_T, np.array(rows)


def _curved(data: ControlData) -> list[ControlArm]:
    """Arms that curves are drawn of: those in no sweep, and the middle one of each sweep."""
    sweeps: dict[str, list[ControlArm]] = {}
    for arm in data.arms.values():
        if any("step" in found for found in arm.curves.values()):
            sweeps.setdefault(sweep(arm.name), []).append(arm)
    middle = [sorted(s, key=lambda arm: numbers(arm.name))[len(s) // 2] for s in sweeps.values()]
    return middle[:MOST_CURVES]


def _mark(look: Look, theme: Theme, x: float, y: float) -> Line2D:
    return Line2D([x], [y], color=look.hue, marker=look.marker, markersize=7, linestyle="",
                  markeredgecolor=theme.ink, markeredgewidth=0.6, zorder=3)  # fmt: skip


def _spoken(metric: str | None) -> str:
    return (metric or "").replace("_", " ")
