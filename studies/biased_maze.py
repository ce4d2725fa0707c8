"""`python -m studies biased_maze`: what is learned where a decoy pays at first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.maze import LEARNERS, BiasedMaze, History, train
from studies.summaries import Interval, mean_interval, moving_average

SCHEMA_VERSION = 1


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
        if not 1 <= self.set_size < self.num_samples:
            raise ValueError(
                f"set_size must be in [1, {self.num_samples - 1}], got {self.set_size}"
            )

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


def curve(config: BiasedMazeConfig, values_RT: np.ndarray) -> Interval:
    """The moving average, mean over runs with its interval."""
    return mean_interval(moving_average(values_RT, config.window))


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
    from studies import maze_figures

    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    histories = {decoy: train_all(config, decoy) for decoy in config.decoys}
    numbers = {
        "schema_version": SCHEMA_VERSION,
        "config": asdict(config),
        "last_policies": _numbers(config, histories),
    }
    path = out / "biased_maze.json"
    path.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    maze_figures.draw_learning(config, histories[config.shown], out / "biased_maze.png")
    maze_figures.draw_decoys(config, histories, out / "biased_maze_decoys.png")
    return path


def _numbers(config: BiasedMazeConfig, histories: Mapping[int, Histories]) -> dict[str, Any]:
    return {
        f"decoy_{decoy}": {
            name: last_policies(config, decoy, history) for name, history in found.items()
        }
        for decoy, found in histories.items()
    }
