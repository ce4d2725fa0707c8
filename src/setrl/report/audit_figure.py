"""The figure of an audit: the estimator's gradient and variance next to the nearest objective's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from setrl.audit import Audit
from setrl.report.figure_file import save_figure
from setrl.report.style import BLUE, GREY, LIGHT, STRATEGY_FILLS, VERMILION, canvas, set_title

POINTS = 97  # success rates
SKEW = 2.0  # each strategy is used so many times as often as the next one


def draw_audit(found: Audit, path: Path) -> None:
    """Draw what an estimator pushes towards, and its noise, over success rates."""
    right_A, policies_PA = _path(found)
    success = policies_PA @ right_A
    own, near = found.along(policies_PA)
    labels = found.paid.table.clusters is not None
    figure, axes = canvas(
        LIGHT, found.sentences()[0], columns=2 + labels, gap=0.75, margins=(0.7, 0.2)
    )
    panels = iter(axes)
    _curves(
        next(panels),
        success,
        own @ right_A,
        near @ right_A,
        "gradient towards right samples",
        found,
    )
    if labels:
        rare = int(np.flatnonzero(right_A)[-1])
        title = "gradient towards the rarest strategy"
        _curves(next(panels), success, own[:, rare], near[:, rare], title, found)
    _noise(next(panels), success, found, policies_PA)
    save_figure(figure, path)


def _path(found: Audit) -> tuple[np.ndarray, np.ndarray]:
    """Return which actions are right, and policies with success rates from 1% to 99%."""
    rewards_A = np.asarray(found.paid.table.rewards, dtype=np.float64)
    right_A = (rewards_A == rewards_A.max()) * 1.0
    share_A = SKEW ** -np.arange(len(rewards_A))
    success = np.linspace(0.01, 0.99, POINTS)[:, None]
    within = [share_A * side / (share_A * side).sum() for side in (right_A, 1 - right_A)]
    return right_A, success * within[0] + (1 - success) * within[1]


def _curves(
    ax: Axes, success: np.ndarray, own: np.ndarray, near: np.ndarray, title: str, found: Audit
) -> None:
    set_title(ax, title, LIGHT)
    ax.axhline(0, color=LIGHT.grid)
    match = found.claim or found.nearest
    if match is not None:
        ax.plot(success, near, color=GREY, linestyle="--", linewidth=2.5, label=str(match))
    ax.plot(success, own, color=BLUE, label=found.estimator.name)
    ax.set_xlabel("success rate")
    ax.legend(fontsize=7, frameon=False)


def _noise(ax: Axes, success: np.ndarray, found: Audit, policies_PA: np.ndarray) -> None:
    set_title(ax, "variance of the update", LIGHT)
    noise = found.noise(policies_PA)
    for place, (name, values) in enumerate(noise.rivals.items()):
        ax.plot(success, values, color=STRATEGY_FILLS[place], linestyle="--", label=name)
    ax.plot(success, noise.values_P, color=VERMILION, label=found.estimator.name)
    ax.set_yscale("log")
    ax.set_xlabel("success rate")
    ax.legend(fontsize=7, frameon=False)
