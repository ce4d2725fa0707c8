"""`python -m studies biased_maze`: what is learned where a decoy pays at first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from setrl.core.inputs import check_set_size
from setrl.report.style import LIGHT, axes_grid
from studies.looks import draw_interval, legend_below, save, title
from studies.maze import LEARNERS, BiasedMaze, History, train
from studies.summaries import mean_interval, moving_average, write_numbers

STEP = 4  # every fourth update is drawn


@dataclass(frozen=True)
class BiasedMazeConfig:
    """Sizes of the study; the defaults take about half a minute on one core.

    Attributes:
        forks: D, which is the return of the right way.
        decoys: Lengths of the side corridor at the first fork, one maze each; the others have none.
        shown: The decoy of the main figure.
        start: P(action 1) of the first policy.
        num_samples: N episodes an update.
        set_size: K.
        learning_rate: η, for returns as a share of the longest.
        updates: How many.
        runs: R, at least 15 to say how often a learner gets stuck.
        window: Of the moving averages.
        seed: Of everything.
    """

    forks: int = 6
    decoys: tuple[int, ...] = (0, 3, 4)
    shown: int = 3
    start: float = 0.3
    num_samples: int = 8
    set_size: int = 4
    learning_rate: float = 3.0
    updates: int = 1_000
    runs: int = 20
    window: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.shown not in self.decoys:
            raise ValueError(f"shown must be one of decoys={self.decoys}, got {self.shown}")
        check_set_size(self.set_size, self.num_samples, needs_contrast=True)

    def maze(self, decoy: int) -> BiasedMaze:
        """The maze whose first side corridor is `decoy` long."""
        return BiasedMaze((decoy, *[0] * (self.forks - 1)), self.start)


Histories = dict[str, History]  # learner → its runs


def train_all(config: BiasedMazeConfig, decoy: int) -> Histories:
    """Every learner in one maze, from the same seeds."""
    return {
        name: train(
            config.maze(decoy),
            learner,
            set_size=config.set_size,
            num_samples=config.num_samples,
            learning_rate=config.learning_rate,
            updates=config.updates,
            runs=config.runs,
            seed=config.seed,
        )
        for name, learner in LEARNERS.items()
    }


def last_policies(config: BiasedMazeConfig, decoy: int, history: History) -> dict[str, Any]:
    """What the policies after the last update are worth, exactly."""
    maze, chances_RD = config.maze(decoy), history.chances_RTD[:, -1]
    quantities = {
        "return": maze.best_return(chances_RD),
        f"best_of_{config.set_size}": maze.best_return(chances_RD, config.set_size),
        "goal": history.goal_RT[:, -1],
        "action_1_at_first_fork": chances_RD[:, 0],
    }
    found: dict[str, Any] = {
        name: mean_interval(values).as_lists() for name, values in quantities.items()
    }
    found["runs_past_the_decoy"] = int((chances_RD[:, 0] > 0.5).sum())
    found["runs_that_mostly_reach_the_goal"] = int((history.goal_RT[:, -1] > 0.5).sum())
    return found


def run(config: BiasedMazeConfig, out_dir: Path | str) -> Path:
    """Run the study; write biased_maze.json, biased_maze.png and biased_maze_decoys.png.

    Returns:
        The path of biased_maze.json.
    """
    out = Path(out_dir)
    histories = {decoy: train_all(config, decoy) for decoy in config.decoys}
    last = {
        f"decoy_{decoy}": {
            name: last_policies(config, decoy, history) for name, history in found.items()
        }
        for decoy, found in histories.items()
    }
    path = write_numbers(out / "biased_maze.json", config, last_policies=last)
    draw_learning(config, histories[config.shown], out / "biased_maze.png")
    draw_decoys(config, histories, out / "biased_maze_decoys.png")
    return path


def draw_learning(config: BiasedMazeConfig, histories: Histories, path: Path) -> None:
    """Average return, P(action 1) at the first fork and P(goal) during training."""
    figure, axes = axes_grid(1, 3, 12.0, 4.4)
    panels: dict[str, Callable[[History], np.ndarray]] = {
        "average return": lambda h: h.returns_RT,
        "P(action 1) at the first fork": lambda h: h.chances_RTD[..., 0],
        "P(the goal is reached)": lambda h: h.goal_RT,
    }
    for ax, (name_of_panel, values) in zip(axes, panels.items(), strict=True):
        for name, history in histories.items():
            _line(ax, config, name, values(history))
        title(ax, name_of_panel, f"updates (moving average of {config.window})")
    axes[0].axhline(config.shown, color=LIGHT.muted, linewidth=0.8)
    axes[0].annotate(
        "the decoy's return", (config.updates, config.shown), (0, -11), va="center", ha="right",
        textcoords="offset points", fontsize=8, color=LIGHT.muted,
    )  # fmt: skip
    for ax in axes[1:]:
        ax.set_ylim(-0.02, 1.02)
    legend_below(figure, axes)
    save(figure, path)


def draw_decoys(config: BiasedMazeConfig, histories: Mapping[int, Histories], path: Path) -> None:
    """Average return in mazes with no decoy, a shorter and a longer one."""
    figure, axes = axes_grid(1, len(histories), 12.0, 4.4)
    for ax, (decoy, found) in zip(axes, histories.items(), strict=True):
        for name, history in found.items():
            _line(ax, config, name, history.returns_RT)
        kind = f"decoy of {decoy} steps" if decoy else "no decoy"
        title(ax, kind, f"updates (moving average of {config.window})")
        ax.set_ylim(0, config.forks + 0.2)
    axes[0].set_ylabel("average return")
    legend_below(figure, axes)
    save(figure, path)


def _line(ax: Axes, config: BiasedMazeConfig, name: str, values_RT: np.ndarray) -> None:
    found = mean_interval(moving_average(values_RT, config.window)[:, ::STEP])
    updates = np.arange(1, config.updates + 1)[::STEP]
    draw_interval(ax, updates, found, name, LEARNERS[name].label)
