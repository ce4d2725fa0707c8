"""The figure of the learning dynamics in docs/theory.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl import methods
from setrl.show.report.style import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION, axes_grid
from setrl.theory.dynamics import Success, expected_steps, simulate
from setrl.theory.tabular import ActionTable, TabularMethod

METHODS = {
    "GRPO": methods.grpo(),
    "MaxPO, sets of 4": methods.maxpo(set_size=4),
    "Poly-EPO, sets of 4": methods.poly_epo(set_size=4),
}
NUM_SAMPLES, STEPS, LEARNING_RATE, SEED = 8, 3_000, 1.0, 0
SHOWN = 400  # steps of a panel, evenly on its logarithmic axis

EQUAL = ActionTable([1, 1, 1, 1, 1, 0], strategies=range(6))
EQUAL_START = (0.30, 0.20, 0.12, 0.08, 0.05, 0.25)
UNEQUAL = Success([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
UNEQUAL_START = (0.10, 0.15, 0.25, 0.20, 0.20, 0.10)

HUES = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION)


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of strategies' probabilities over steps.

    Attributes:
        title: The method.
        policies_TA: Probabilities at every step.
        labels: Names of the strategies, bottom up.
        colours: Their fills.
    """

    title: str
    policies_TA: np.ndarray
    labels: tuple[str, ...]
    colours: tuple[str, ...]


def equally_good(steps: int = STEPS) -> list[Panel]:
    """Follow five strategies that are always right and a wrong one, by exact mean updates."""
    labels = (*(f"correct {i + 1}" for i in range(5)), "wrong")
    updates = [TabularMethod(method, EQUAL, NUM_SAMPLES).update for method in METHODS.values()]
    paths = [expected_steps(update, EQUAL_START, LEARNING_RATE, steps) for update in updates]
    return [
        Panel(title, path.policies_TA, labels, (*HUES[:5], GREY))
        for title, path in zip(METHODS, paths, strict=True)
    ]


def unequally_good(steps: int = STEPS, seed: int = SEED) -> list[Panel]:
    """Follow six strategies that are right 90 … 40 % of the time: one run, with its noise."""
    labels = tuple(f"right {rate:.0%}" for rate in np.asarray(UNEQUAL.rates_A))
    paths = [
        simulate(
            method,
            UNEQUAL.table,
            UNEQUAL_START,
            NUM_SAMPLES,
            steps,
            LEARNING_RATE,
            np.random.default_rng(seed),
            runs=1,
            success=UNEQUAL,
        )
        for method in METHODS.values()
    ]
    return [
        Panel(title, path.policies_TA[:, 0], labels, HUES)
        for title, path in zip(METHODS, paths, strict=True)
    ]


def draw_dynamics(rows: dict[str, list[Panel]]) -> Figure:
    """Draw stacked probabilities, with a row of panels for each entry."""
    figure, all_axes = axes_grid(len(rows), len(METHODS), 11, 3.3 * len(rows))
    grid = np.reshape(np.array(all_axes), (len(rows), -1))
    for axes, (name, panels) in zip(grid, rows.items(), strict=True):
        for place, (ax, panel) in enumerate(zip(axes, panels, strict=True)):
            _draw_panel(ax, panel)
            ax.set_title(f"{name}\n{panel.title}" if place == 0 else panel.title, loc="left")
        axes[0].set_ylabel("probability")
        handles, labels = axes[-1].get_legend_handles_labels()
        axes[-1].legend(
            handles[::-1],
            labels[::-1],
            loc="center left",
            bbox_to_anchor=(1.02, 0.5),
            frameon=False,
        )
    for ax in grid[-1]:
        ax.set_xlabel("updates + 1, logarithmic")
    for ax in all_axes:
        ax.label_outer()
    return figure


def _draw_panel(ax: Axes, panel: Panel) -> None:
    last = len(panel.policies_TA)
    steps = np.unique(np.geomspace(1, last, SHOWN).astype(int))
    ax.stackplot(
        steps,
        panel.policies_TA[steps - 1].T,
        labels=panel.labels,
        colors=panel.colours,
        edgecolor="white",
        linewidth=0.6,
    )
    ax.set_xscale("log")
    ax.set(xlim=(1, last), ylim=(0, 1))


def both_rows() -> Figure:
    """Draw equally good strategies above unequally good ones."""
    rows = {
        "Equally good strategies: exact mean update": equally_good(),
        f"Right 90 … 40 %: one run, {NUM_SAMPLES} samples an update": unequally_good(),
    }
    return draw_dynamics(rows)
