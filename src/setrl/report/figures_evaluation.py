"""Figures of the evaluation: pass@k with paired differences, and the frontier of the arms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from setrl.evaluation.intervals import Difference, Estimate
from setrl.evaluation.summary import SplitSummary
from setrl.logs.run_folder import BASE
from setrl.report import headlines
from setrl.report.data import RunData
from setrl.report.drawing import (
    EndLabel,
    Plate,
    Spot,
    canvas,
    interval_curve,
    k_axis,
    label_ends,
    label_spots,
    percent_axis,
    points_axis,
    right_legend,
    set_title,
)
from setrl.report.style import Look, Theme, family, label, main_arms


def pass_at_k(data: RunData, split: SplitSummary) -> Plate:
    """pass@k of every arm, and its paired difference to the reference."""
    reference = data.summary.reference
    level = f"{100 * data.summary.intervals.level:g}%"
    headline = headlines.pass_at_k_title(split, reference, data.looks)

    def draw(theme: Theme) -> Figure:
        sheet = canvas(theme, headline, columns=2)
        _draw_pass_curves(sheet.axes[0], data, split, theme)
        _draw_differences(sheet.axes[1], data, split, theme)
        return sheet.figure

    sizes = sorted({arm.n for arm in split.arms.values()})
    problems = sorted({arm.problems for arm in split.arms.values()})
    note = (
        f"Left: unbiased pass@k from n = {_listed(sizes)} samples of {_listed(problems)} problems, "
        f"mean over seeds; bands: {level} bootstrap intervals over problems and seeds; beyond "
        f"k = n/2 few subsets are independent. Right: the same problems paired; “above” and "
        f"“below” are said where the interval excludes 0."
    )
    return Plate(f"pass_at_k_{split.split}", headline, note, draw)


def _draw_pass_curves(ax: Axes, data: RunData, split: SplitSummary, theme: Theme) -> None:
    ends = []
    for arm in main_arms(list(split.arms)):
        ks, values = _over_k(split.arms[arm].metrics)
        interval_curve(ax, ks, values, data.looks[arm])
        ends.append(EndLabel(values[-1].value, data.looks[arm]))
    k_axis(ax, ks)
    ax.set_ylim(top=min(1.02, ax.get_ylim()[1]))
    percent_axis(ax)
    set_title(ax, f"pass@k, {split.split} split", theme)
    label_ends(ax, ks[-1], ends, theme)


def _draw_differences(ax: Axes, data: RunData, split: SplitSummary, theme: Theme) -> None:
    reference = data.summary.reference
    ends, ks = [], [1]
    for arm in main_arms(list(split.arms)):
        signed = _signed_difference(split, arm, reference)
        if signed is None:
            continue
        ks, values = _over_k(signed)
        interval_curve(ax, ks, values, data.looks[arm])
        ends.append(EndLabel(values[-1].value, data.looks[arm]))
    if not ends or reference is None:
        ax.set_axis_off()
        return
    ax.axhline(0, color=theme.muted, linewidth=1)
    k_axis(ax, ks)
    points_axis(ax)
    set_title(ax, f"paired difference to {data.looks[reference].label}, points", theme)
    label_ends(ax, ks[-1], ends, theme)


def _signed_difference(
    split: SplitSummary, arm: str, reference: str | None
) -> dict[str, Difference] | None:
    """Arm minus reference; the base's from the reference's difference to it, turned round."""
    if reference is None or arm == reference:
        return None
    if arm != BASE:
        found = split.difference(arm, reference)
        return found.metrics if found else None
    found = split.difference(reference, BASE)
    return {name: d.negated() for name, d in found.metrics.items()} if found else None


def _over_k(
    metrics: Mapping[str, Estimate] | Mapping[str, Difference],
) -> tuple[list[int], list[Estimate | Difference]]:
    """The k of pass@k, and its values."""
    ks = sorted(int(name[5:]) for name in metrics if name.startswith("pass@"))
    return ks, [metrics[f"pass@{k}"] for k in ks]


def frontier(data: RunData, split: SplitSummary) -> Plate:
    """Every arm's pass@1 against its strategies and its pass@k."""
    k = headlines.headline_k(split)
    metrics = [(f"correct_strategies@{k}", f"correct strategies in {k} samples"),
               (f"pass@{k}", f"pass@{k}")]  # fmt: skip
    headline = headlines.frontier_title(split, metrics[0][0], data.looks)

    def draw(theme: Theme) -> Figure:
        sheet = canvas(theme, headline, columns=2, gap=0.7, margins=(0.6, 1.65))
        for ax, (metric, title) in zip(sheet.axes, metrics, strict=True):
            _draw_frontier(ax, data, split, metric, theme)
            set_title(ax, f"{title}, {split.split} split", theme)
        sheet.axes[1].yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
        families = _families(data, split)
        marks = [_mark(look, theme) for look in families.values()]
        right_legend(sheet.figure, marks, [label(name) for name in families], theme)
        return sheet.figure

    note = (
        f"Means with {100 * data.summary.intervals.level:g}% intervals over problems and seeds. "
        "Up and to the right is better; lines join the arms of a sweep, "
        "which are named by their number."
    )
    return Plate(f"frontier_{split.split}", headline, note, draw)


def _draw_frontier(ax: Axes, data: RunData, split: SplitSummary, metric: str, theme: Theme) -> None:
    sweeps: dict[str, list[tuple[float, float]]] = {}
    spots = []
    for arm, summary in split.arms.items():
        x, y, look = summary.metrics["pass@1"], summary.metrics[metric], data.looks[arm]
        ax.errorbar(x.value, y.value, xerr=_reach(x), yerr=_reach(y), color=look.hue,
                    elinewidth=0.9)  # fmt: skip
        ax.add_line(_mark(look, theme, x.value, y.value))
        sweeps.setdefault(family(arm), []).append((x.value, y.value))
        spots.append(Spot(x.value, y.value, arm.removeprefix(family(arm)).strip("_")))
    for name, look in _families(data, split).items():
        line = sorted(sweeps[name])
        ax.plot(*zip(*line, strict=True), color=look.hue, linewidth=1.2, zorder=1)
    ax.set_xlim(*_padded([summary.metrics["pass@1"] for summary in split.arms.values()]))
    lowest, highest = _padded([summary.metrics[metric] for summary in split.arms.values()])
    ax.set_ylim(lowest, min(highest, 1.004) if metric.startswith("pass@") else highest)
    ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g}%")
    ax.set_xlabel("pass@1")
    label_spots(ax, spots, theme)


def _families(data: RunData, split: SplitSummary) -> dict[str, Look]:
    """Sweep, or arm in none → its look."""
    return {family(arm): data.looks[arm] for arm in split.arms}


def _mark(look: Look, theme: Theme, x: float = 0.0, y: float = 0.0) -> Line2D:
    return Line2D([x], [y], color=look.hue, marker=look.marker, markersize=7, linestyle="",
                  markeredgecolor=theme.ink, markeredgewidth=0.6, zorder=3)  # fmt: skip


def _reach(estimate: Estimate) -> list[list[float]] | None:
    if np.isnan(estimate.low):
        return None
    below, above = estimate.value - estimate.low, estimate.high - estimate.value
    return [[max(below, 0.0)], [max(above, 0.0)]]


def _padded(estimates: list[Estimate]) -> tuple[float, float]:
    """Limits with room around all intervals, and a twentieth of the value at the least."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if not np.isnan(x)]
    low, high = min(ends), max(ends)
    pad = max(0.1 * (high - low), 0.025 * abs(high), 1e-3)
    return low - pad, high + pad


def _listed(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))
