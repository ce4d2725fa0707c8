"""The figure of a judge's audit: every group's value, and the mean with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from setrl.evaluate.judge_audit import JudgeAudit
from setrl.show.report.figure_file import save_figure
from setrl.show.report.style import LIGHT, STRATEGY_FILLS, canvas, set_title

PANELS = {
    "adjusted_rand": "adjusted Rand index",
    "f1": "pairwise F1",
    "flips": "flips",
    "signs_changed": "signs changed",
}
SHORT = {"itself": "itself", "pairwise": "pairs", "gold": "gold"}
SPREAD = 0.32  # how far a group's dot may be from its place


def draw_audit(found: JudgeAudit, record: dict[str, Any], path: Path) -> None:
    """Draw the groups' values, with the means and intervals of the audit's record."""
    headline = (
        f"How far {record['judge']} agrees with itself and others: {found.groups} groups (dots), "
        f"{found.orders} orders, mean and 95% interval"
    )
    figure, axes = canvas(LIGHT, headline, columns=len(PANELS), gap=0.6, margins=(0.5, 0.2))
    names = list(record["agreement"])
    for ax, (measure, title) in zip(axes, PANELS.items(), strict=True):
        set_title(ax, title, LIGHT)
        for place, name in enumerate(names):
            _column(ax, place, getattr(found, name)[measure], record["agreement"][name][measure])
        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.set_ylim(min(-0.04, ax.get_ylim()[0]), 1.04)
        ax.set_xticks(range(len(names)), [SHORT[name] for name in names])
    save_figure(figure, path)


def _column(ax: Axes, place: int, values: list[float], estimate: dict[str, Any]) -> None:
    """Draw a dot for each group, in an order without meaning, and their mean."""
    defined = [value for value in values if value == value]
    spread = SPREAD if len(defined) > 1 else 0.0
    ax.scatter(
        place + np.linspace(-spread, spread, len(defined)),
        defined,
        s=9,
        color=STRATEGY_FILLS[place],
        alpha=0.7,
        linewidths=0,
    )
    if estimate["groups"] > 1:
        ends = [[estimate["value"] - estimate["low"]], [estimate["high"] - estimate["value"]]]
        ax.errorbar([place], [estimate["value"]], ends, fmt="o", color=LIGHT.ink, capsize=4)
