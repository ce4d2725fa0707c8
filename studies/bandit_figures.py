"""Figures of `studies.bandits`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from studies.adam_proxy import WINDOW, Training
from studies.bandit import ESTIMATORS
from studies.looks import HUES, LINES, canvas, save
from studies.summaries import Interval

if TYPE_CHECKING:
    from studies.bandits import BanditsConfig, Curves

BAND = 0.15
REWARD_NAMES = {
    "uniform": "rewards uniform in [0, 1]",
    "normal": "rewards N(0, 1)",
    "sparse": "one arm in ten pays 1",
}


def draw_curves(config: BanditsConfig, curves: Mapping[str, Curves], path: Path) -> None:
    """Estimation error, and variance against A, K and N."""
    figure, axes = canvas(2, 2, 10.0, 7.8)
    usual = f"A = {config.arms}, N = {config.num_samples}, K = {config.set_size}"
    panels = (
        ("estimation_error", config.checkpoints, "batches averaged", f"Estimation error, {usual}"),
        ("variance_by_arms", config.arms_grid, "arms A", "Variance against the number of arms"),
        ("variance_by_set_size", range(1, config.num_samples), "set size K", "Variance against K"),
        ("variance_by_samples", config.samples_grid, "samples N", "Variance against N"),
    )
    for ax, (study, grid, label, title) in zip(axes, panels, strict=True):
        _curves(ax, np.array(list(grid)), curves[study], ticks=study != "estimation_error")
        ax.set_xlabel(label)
        ax.set_title(title, loc="left", fontsize=10.5)
    axes[0].set_ylabel("‖mean gradient − ∇J‖ / ‖∇J‖")
    for ax in axes[1:]:
        ax.set_ylabel("variance of a batch / ‖∇J‖²")
    axes[2].set_xscale("linear")
    lines = {str(line.get_label()): line for ax in axes for line in ax.get_lines()}
    handles = list(lines.values())
    figure.legend(handles, list(lines), loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _curves(ax: Axes, grid: np.ndarray, found: Curves, ticks: bool) -> None:
    for name, interval in found.items():
        _band(ax, grid, interval, name)
    ax.set(xscale="log", yscale="log")
    if ticks:
        ax.xaxis.set_major_locator(FixedLocator(grid.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(ScalarFormatter())


def draw_maps(config: BanditsConfig, maps: Mapping[str, Interval], path: Path) -> None:
    """Where leave-two-out lowers the variance of EI and where it raises it."""
    figure, axes = canvas(1, len(maps), 11.5, 4.3)
    for ax, (rewards, found) in zip(axes, maps.items(), strict=True):
        ax.grid(False)
        image = ax.imshow(np.log2(found.mean), cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        _cells(ax, found)
        ax.set_xticks(range(len(config.map_sizes)), [str(k) for k in config.map_sizes])
        ax.set_yticks(range(len(config.map_arms)), [str(a) for a in config.map_arms])
        ax.set_title(REWARD_NAMES[rewards], loc="left", fontsize=10.5)
        ax.set_xlabel(f"set size K (N = {config.map_samples})")
    axes[0].set_ylabel("arms A")
    bar = figure.colorbar(image, ax=axes, shrink=0.9, ticks=[-2, -1, 0, 1, 2])
    bar.ax.set_yticklabels(["¼", "½", "1", "2", "4"])
    bar.set_label("variance of EI + leave-two-out / that of EI")
    figure.suptitle(
        "Leave-two-out helps in blue cells and hurts in red ones "
        "(in brackets: the interval over bandits holds 1)",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    save(figure, path)


def _cells(ax: Axes, found: Interval) -> None:
    for (row, column), ratio in np.ndenumerate(found.mean):
        unsure = found.low[row, column] <= 1 <= found.high[row, column]
        text = f"({ratio:.2f})" if unsure else f"{ratio:.2f}"
        dark = abs(np.log2(ratio)) > 1.3
        colour = "white" if dark else "black"
        ax.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)


def draw_training(training: Mapping[str, Training], path: Path) -> None:
    """The variance proxy and the value during training."""
    figure, axes = canvas(1, 2, 10.5, 4.4)
    for name, found in training.items():
        steps = WINDOW * np.arange(1, len(found.proxy.mean) + 1)
        for ax, interval in zip(axes, (found.proxy, found.value), strict=True):
            _band(ax, steps, interval, name)
    axes[0].set(yscale="log", ylabel="Σ (v̂ − m̂²) of Adam's moments")
    axes[1].set_ylabel("E max of K draws, mean over prompts")
    titles: Sequence[str] = ("Adam-moment variance proxy", "What was trained for")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_xlabel("updates")
        ax.set_title(title, loc="left", fontsize=10.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _band(ax: Axes, x: np.ndarray, interval: Interval, name: str) -> None:
    label, line = ESTIMATORS[name].label, LINES[name]
    ax.plot(x, interval.mean, color=HUES[name], linestyle=line, label=label, linewidth=1.8)
    ax.fill_between(x, interval.low, interval.high, color=HUES[name], alpha=BAND, linewidth=0)
