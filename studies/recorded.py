"""Figures of recorded runs that no report draws: sizes of sets and windows, many vines, faults."""

from __future__ import annotations

import re

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl.show.report.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    OTHER_FILL,
    VERMILION,
    axes_grid,
)
from setrl.theory.survival import critical_success
from studies.summaries import Numbers, title

OUTCOMES = {
    "effective_goals": "effective goals (of 5)",
    "success": "success",
    "path_length": "path length (steps)",
}
WHOLE = 60  # where whole vines stand on the axis of windows
GOALS = 60  # of 64: the corners lie behind other goals
SIZES = {4: VERMILION, 16: GREY, 64: BLUE, 256: BLACK}
COUNTED = {
    "failures": (0.2, BLUE, "counted by the client"),
    "failures_in_the_servers_log": (-0.2, ORANGE, "in the server's log"),
}
JUDGED = {"right": GREEN, "unknown": OTHER_FILL, "wrong": VERMILION}


def sizes(found: Numbers) -> Figure:
    """Draw outcomes over set sizes K above, and over windows W below."""
    figure, axes = axes_grid(2, len(OUTCOMES), 10.5, 5.6)
    for column, (metric, name) in enumerate(OUTCOMES.items()):
        above, below = axes[column], axes[column + len(OUTCOMES)]
        _draw_sizes(above, found["arms"], metric, "k")
        title(above, name, "K, set size (N = 32, W = 5)")
        _draw_sizes(below, found["arms"], metric, "w")
        below.set_xlabel("W, window (N = 8, K = 4)")
    return figure


def _draw_sizes(ax: Axes, arms: Numbers, metric: str, letter: str) -> None:
    """Draw mean and standard error over seeds, and each seed."""
    found = sorted((_place(name), arm[metric]) for name, arm in arms.items() if name[0] == letter)
    xs = [x for x, _ in found]
    means, errors = ([one[key] for _, one in found] for key in ("mean", "stderr"))
    ax.errorbar(xs, means, yerr=errors, marker="o", color=BLUE, capsize=2)
    for x, one in found:
        ax.plot([x] * len(one["seeds"]), list(one["seeds"].values()), ".", color=GREY)
    ax.set_xscale("symlog" if letter == "w" else "log", base=2)
    ax.set_xticks(xs, ["whole" if letter == "w" and x == WHOLE else str(x) for x in xs])
    ax.minorticks_off()


def _place(arm: str) -> int:
    """Return the place on the axis: k8 → 8, w_whole → where whole vines stand."""
    return WHOLE if arm == "w_whole" else int(arm[1:])


def scaling(found: Numbers) -> Figure:
    """Draw effective goals over the number of vines, and what the invasion criterion allows."""
    figure, (left, right) = axes_grid(1, 2, 10.0, 3.8)
    counts = range(2, GOALS, 2)
    for size, colour in SIZES.items():
        if rows := _effective_goals(found["arms"], size):
            left.errorbar(*np.transpose(rows), marker="o", color=colour, label=f"K = {size}")
        edges = [needed(count, size) for count in counts]
        right.plot(counts, np.maximum(edges, 0.0), color=colour, label=f"K = {size}")
    left.set_xscale("log", base=2)
    left.set_ylim(0, GOALS + 2)
    left.axhline(GOALS, color=GREY, linewidth=0.8)
    title(left, "effective goals of 60, 3 seeds", "N, vines from the first state")
    name = "success from which one more goal is worth a visit"
    title(right, name, "goals that the policy reaches already")
    for ax in (left, right):
        ax.legend(frameon=False)
    return figure


def _effective_goals(arms: Numbers, size: int) -> list[tuple[int, float, float]]:
    """Return N, mean and standard error of the effective goals, for one K."""
    found = []
    for name, arm in arms.items():
        if match := re.fullmatch(rf"n(\d+)_k{size}", name):
            one = arm["effective_goals"]
            found.append((int(match[1]), one["mean"], one["stderr"]))
    return sorted(found)


def needed(count: int, size: int) -> float:
    """s_crit of `count` goals that are equally probable and always reached."""
    return float(critical_success(np.full(count, 1 / count), np.ones(count), size))


def faults(found: Numbers) -> Figure:
    """Draw failures by kind, as client and server count them, and what became of the groups."""
    figure, (left, right) = axes_grid(1, 2, 10.0, 3.6)
    _draw_failures(left, found["runs"])
    _draw_groups(right, found["runs"])
    return figure


def _draw_failures(ax: Axes, runs: list[Numbers]) -> None:
    kinds = sorted({kind for run in runs for kind in run["failures_in_the_servers_log"]})
    for key, (shift, hue, name) in COUNTED.items():
        totals = [sum(run[key].get(kind, 0) for run in runs) for kind in kinds]
        ax.barh(np.arange(len(kinds)) + shift, totals, 0.38, color=hue, label=name)
    ax.set_yticks(range(len(kinds)), [kind.replace("_", " ") for kind in kinds])
    ax.legend(frameon=False, fontsize=8)
    title(ax, "Failed requests", "")


def _draw_groups(ax: Axes, runs: list[Numbers]) -> None:
    places = np.arange(1, len(runs) + 1)
    bottom = np.zeros(len(runs))
    for key, hue in JUDGED.items():
        heights = [run[key] for run in runs]
        label = f"{key} ({', '.join(map(str, heights))})"
        ax.bar(places, heights, 0.6, bottom=bottom, color=hue, label=label)
        bottom += heights
    ax.set_xticks(places)
    ax.set_ylim(0, 1.45 * bottom[0])
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    title(ax, "Groups", "run, each with the cache of those before")
