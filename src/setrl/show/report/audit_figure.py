"""The figure of an audit: the estimator's gradient and variance next to the nearest objective's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from setrl.show.report.figure_file import save_figure
from setrl.show.report.style import BLUE, GREY, LIGHT, STRATEGY_FILLS, VERMILION, canvas, set_title
from setrl.theory.audit.audit import Audit, Curves
from setrl.theory.audit.compare import share
from setrl.theory.audit.variance import Variance
from setrl.theory.tabular import ActionTable

POINTS = 97  # success rates
SKEW = 2.0  # each strategy is used so many times as often as the next one


def draw_audit(found: Audit, path: Path) -> None:
    """Draw what an estimator pushes towards, and its noise, over success rates.

    The mean update is beside the gradient of its claim and of the nearest objective.
    """
    table = found.table
    right_A, policies_PA = _path(table)
    success, curves = policies_PA @ right_A, found.curves(policies_PA)
    name, labels = found.estimator.name, table.strategies is not None
    figure, axes = canvas(LIGHT, _title(found), columns=2 + labels, gap=0.75, margins=(0.7, 0.2))
    panels = iter(axes)
    _curves(next(panels), success, curves, right_A, "update towards right samples", name)
    if labels:
        rare_A = np.eye(len(right_A))[np.flatnonzero(right_A)[-1]]
        _curves(next(panels), success, curves, rare_A, "update towards the rarest strategy", name)
    _noise(next(panels), success, curves.variance, name)
    save_figure(figure, path)


def _title(found: Audit) -> str:
    """Return what it optimises, or is nearest to."""
    near, name = found.nearest, found.estimator.name
    if near is None:
        return f"{name}: its mean update is 0"
    off = "" if found.objective else f", {share(near.off)} off"
    return f"{name}: its mean update is {near}{off}"


def _path(table: ActionTable) -> tuple[np.ndarray, np.ndarray]:
    """Return which actions are right, and policies with success rates from 1% to 99%."""
    rewards_A = np.asarray(table.rewards, dtype=np.float64)
    right_A = (rewards_A == rewards_A.max()) * 1.0
    share_A = SKEW ** -np.arange(len(rewards_A))
    success = np.linspace(0.01, 0.99, POINTS)[:, None]
    within = [share_A * side / (share_A * side).sum() for side in (right_A, 1 - right_A)]
    return right_A, success * within[0] + (1 - success) * within[1]


def _curves(
    ax: Axes, success: np.ndarray, curves: Curves, towards_A: np.ndarray, title: str, name: str
) -> None:
    set_title(ax, title, LIGHT)
    ax.axhline(0, color=LIGHT.grid)
    for (label, near_PA), dashes in zip(curves.near.items(), ("--", ":"), strict=False):
        ax.plot(
            success, near_PA @ towards_A, color=GREY, linestyle=dashes, linewidth=2.5, label=label
        )
    own = curves.own_PA @ towards_A
    ax.plot(success, own, color=BLUE, label=name)
    ax.set_xlabel("success rate")
    ax.legend(fontsize=7, frameon=False)


def _noise(ax: Axes, success: np.ndarray, noise: Variance, name: str) -> None:
    set_title(ax, "variance of the update", LIGHT)
    for place, (rival, values) in enumerate(noise.rivals.items()):
        label = f"{rival} of {noise.label}"
        ax.plot(success, values, color=STRATEGY_FILLS[place], linestyle="--", label=label)
    ax.plot(success, noise.values_P, color=VERMILION, label=name)
    ax.set_yscale("log")
    ax.set_xlabel("success rate")
    ax.legend(fontsize=7, frameon=False)
