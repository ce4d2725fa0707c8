"""Figures of `studies.biased_maze`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.biased_maze import BiasedMazeConfig, Histories, curve
from studies.looks import HUES, LINES, canvas, save
from studies.maze import LEARNERS, History

BAND = 0.15
STEP = 4  # every fourth update is drawn


def draw_learning(config: BiasedMazeConfig, histories: Histories, path: Path) -> None:
    """Average return, P(action 1) at the first fork and P(goal) during training."""
    figure, axes = canvas(1, 3, 12.0, 4.4)
    panels: dict[str, Callable[[History], np.ndarray]] = {
        "average return": lambda h: h.returns_RT,
        "P(action 1) at the first fork": lambda h: h.chances_RTD[..., 0],
        "P(the goal is reached)": lambda h: h.goal_RT,
    }
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        for name, history in histories.items():
            _line(ax, config, name, values(history))
        ax.set_title(title, loc="left", fontsize=10.5)
        ax.set_xlabel(f"updates (moving average of {config.window})")
    axes[0].axhline(config.shown, color="#5c636e", linewidth=0.8)
    axes[0].annotate(
        "the decoy's return", (config.updates, config.shown), (0, -11), va="center", ha="right",
        textcoords="offset points", fontsize=8, color="#5c636e",
    )  # fmt: skip
    for ax in axes[1:]:
        ax.set_ylim(-0.02, 1.02)
    _legend(figure, axes[0])
    save(figure, path)


def draw_decoys(config: BiasedMazeConfig, histories: Mapping[int, Histories], path: Path) -> None:
    """Average return in mazes with no decoy, a shorter and a longer one."""
    figure, axes = canvas(1, len(histories), 12.0, 4.4)
    for ax, (decoy, found) in zip(axes, histories.items(), strict=True):
        for name, history in found.items():
            _line(ax, config, name, history.returns_RT)
        ax.set_title(f"decoy of {decoy} steps" if decoy else "no decoy", loc="left", fontsize=10.5)
        ax.set_xlabel(f"updates (moving average of {config.window})")
        ax.set_ylim(0, config.forks + 0.2)
    axes[0].set_ylabel("average return")
    _legend(figure, axes[0])
    save(figure, path)


def _line(ax: Axes, config: BiasedMazeConfig, name: str, values_RT: np.ndarray) -> None:
    found, at = curve(config, values_RT), slice(0, None, STEP)
    updates, label = np.arange(1, config.updates + 1)[at], LEARNERS[name].label
    hue, line = HUES[name], LINES[name]
    ax.plot(updates, found.mean[at], color=hue, linestyle=line, label=label, linewidth=1.8)
    ax.fill_between(updates, found.low[at], found.high[at], color=hue, alpha=BAND, linewidth=0)


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
