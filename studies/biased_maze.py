"""`python -m studies biased_maze`: what is learned where a decoy pays at first.

The Biased Maze is a corridor of forks with one right way, and a policy that leans to the wrong one.
After MaxPO (arXiv:2606.06080, App., Fig. 6–7), whose text is public, but no number: actions 0
and 1, +1 for each forward step on a valid path, one correct path. Ours, so that short-sighted
learning is deceived: fork t has the right way, 1, and a side corridor of `corridors[t]` further
steps that ends there. A side corridor at the first fork that pays more than the right way does at
first is a decoy.

Axes in addition to the library's: D forks, R runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setrl import credit, objectives
from setrl.core.advantages import set_advantages
from setrl.core.objectives import Objective
from setrl.show.report.style import LIGHT, axes_grid
from studies.bandit import ESTIMATORS
from studies.summaries import (
    Interval,
    Numbers,
    draw_interval,
    legend_below,
    mean_interval,
    moving_average,
    title,
    write_numbers,
)

STEP = 20  # every twentieth update is kept for the figures


@dataclass(frozen=True)
class BiasedMaze:
    """A maze, given by its dead ends.

    Attributes:
        corridors: Forward steps to be had in the side corridor of each fork.
        start: P(action 1) of the first policy at every fork, in (0, 1).
    """

    corridors: tuple[int, ...] = (3, 0, 0, 0, 0, 0)
    start: float = 0.3

    @property
    def num_forks(self) -> int:
        """Return D, which is also the return of the right way."""
        return len(self.corridors)

    def play(self, chances_RD: np.ndarray, num_samples: int, rng: np.random.Generator) -> Episodes:
        """Sample N episodes of each of R policies, given by their P(action 1)."""
        shape = (*chances_RD.shape[:1], num_samples, self.num_forks)
        right_RND = rng.random(shape) < chances_RD[:, None, :]
        passed_RND = np.cumprod(right_RND, axis=-1).astype(bool)
        depth_RN = passed_RND.sum(axis=-1)
        visited_RND = np.arange(self.num_forks) <= depth_RN[..., None]
        return Episodes(right_RND, visited_RND, depth_RN, self.returns_E[depth_RN])

    @property
    def returns_E(self) -> np.ndarray:
        """Return what each of the D + 1 ends pays: the dead end of each fork, and the goal."""
        return np.arange(self.num_forks + 1) + np.array([*self.corridors, 0])

    def ends(self, chances_RD: np.ndarray) -> np.ndarray:
        """P(an episode ends there), (R, D + 1)."""
        reach_RE = np.cumprod(np.pad(chances_RD, ((0, 0), (1, 0)), constant_values=1.0), axis=1)
        return reach_RE * (1 - np.pad(chances_RD, ((0, 0), (0, 1))))

    def best_return(self, chances_RD: np.ndarray, draws: int = 1) -> np.ndarray:
        """Return the exact mean of the best of `draws` independent returns: (R,)."""
        order_E = np.argsort(self.returns_E)
        below_RE = self.ends(chances_RD)[:, order_E].cumsum(axis=1) ** draws
        return np.diff(below_RE, axis=1, prepend=0.0) @ self.returns_E[order_E]


@dataclass(frozen=True, eq=False)
class Episodes:
    """What happened in R × N episodes.

    Attributes:
        right_RND: Whether action 1 was drawn at each fork; means nothing where not visited.
        visited_RND: Whether the fork was reached.
        depth_RN: Forks passed the right way, D at the goal: the path, and so its strategy.
        returns_RN: Forward steps.
    """

    right_RND: np.ndarray
    visited_RND: np.ndarray
    depth_RN: np.ndarray
    returns_RN: np.ndarray


Advantage = Callable[[Episodes, int, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Learner:
    """A way to credit episodes, scaled so that its mean update is the gradient of its objective.

    Attributes:
        label: The name in figures.
        advantages: (episodes, K, longest return, rng) → (R, N).
    """

    label: str
    advantages: Advantage


def _of_max(name: str) -> Advantage:
    """Return Max@K of the returns, as a share of the longest."""

    def advantages(
        episodes: Episodes, set_size: int, longest: int, rng: np.random.Generator
    ) -> np.ndarray:
        return ESTIMATORS[name].advantages(episodes.returns_RN / longest, set_size, rng)

    return advantages


def _all_sets(objective: Objective, fixed_size: int | None = None) -> Advantage:
    """Compare every set of K episodes, or of a fixed size, with the sets without the episode.

    The objective is of returns as a share of the longest; paths are its strategies.
    """

    def advantages(
        episodes: Episodes, set_size: int, longest: int, rng: np.random.Generator
    ) -> np.ndarray:
        found = set_advantages(
            episodes.returns_RN / longest,
            objective=objective,
            set_size=fixed_size or set_size,
            strategies=episodes.depth_RN,
            baseline="leave_one_out",
            estimator=credit.Exact(),
        )
        return found.values_BN * (fixed_size or set_size) / episodes.returns_RN.shape[1]

    return advantages


SHARES = ("goal", "action_1_at_first_fork")  # of what is measured at the end; returns are not
LEARNERS: dict[str, Learner] = {
    "reinforce": Learner("REINFORCE (mean return)", _all_sets(objectives.mean(), fixed_size=1)),
    "raw": Learner("max@K, no baseline", _of_max("raw")),
    "s_loo": Learner("max@K, PKPO s_loo", _of_max("s_loo")),
    "l2o": Learner("max@K, EI + leave-two-out (MaxPO)", _of_max("l2o")),
    "ei": Learner("max@K, EI (PKPO s_loo−1)", _of_max("ei")),
    "poly": Learner("Poly-EPO, strategies = paths", _all_sets(objectives.polychromic())),
}


@dataclass(frozen=True, eq=False)
class History:
    """R runs of a learner.

    Attributes:
        returns_RT: Mean return of each update's episodes.
        chances_RTD: P(action 1) at each fork before each update.
    """

    returns_RT: np.ndarray
    chances_RTD: np.ndarray

    @property
    def goal_RT(self) -> np.ndarray:
        """P(the goal is reached)."""
        return self.chances_RTD.prod(axis=-1)


def train(
    maze: BiasedMaze,
    learner: Learner,
    *,
    set_size: int,
    num_samples: int,
    learning_rate: float,
    updates: int,
    runs: int,
    seed: int,
) -> History:
    """Climb the gradient of a logit at each fork, in R independent runs side by side.

    z_t ← z_t + η Σᵢ Aᵢ (aᵢ_t − P_t(1)) over the episodes that reach fork t.
    """
    rng = np.random.default_rng(seed)
    logits_RD = np.full((runs, maze.num_forks), np.log(maze.start / (1 - maze.start)))
    returns_RT = np.empty((runs, updates))
    chances_RTD = np.empty((runs, updates, maze.num_forks))
    for t in range(updates):
        chances_RD = 1 / (1 + np.exp(-logits_RD))
        episodes = maze.play(chances_RD, num_samples, rng)
        returns_RT[:, t], chances_RTD[:, t] = episodes.returns_RN.mean(axis=1), chances_RD
        advantages_RN = learner.advantages(episodes, set_size, maze.num_forks, rng)
        score_RND = episodes.visited_RND * (episodes.right_RND - chances_RD[:, None, :])
        logits_RD += learning_rate * np.einsum("rn,rnd->rd", advantages_RN, score_RND)
    return History(returns_RT, chances_RTD)


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

    def maze(self, decoy: int) -> BiasedMaze:
        """Return the maze whose first side corridor is `decoy` long."""
        return BiasedMaze((decoy, *[0] * (self.forks - 1)), self.start)


Histories = dict[str, History]  # learner → its runs


def train_all(config: BiasedMazeConfig, decoy: int) -> Histories:
    """Train every learner in one maze, from the same seeds."""
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
    """Return what the policies after the last update are worth, exactly."""
    maze, chances_RD = config.maze(decoy), history.chances_RTD[:, -1]
    quantities = {
        "return": maze.best_return(chances_RD),
        f"best_of_{config.set_size}": maze.best_return(chances_RD, config.set_size),
        "goal": history.goal_RT[:, -1],
        "action_1_at_first_fork": chances_RD[:, 0],
    }
    found: dict[str, Any] = {
        name: mean_interval(values, (0.0, 1.0) if name in SHARES else (0.0, np.inf)).as_lists()
        for name, values in quantities.items()
    }
    found["runs_past_the_decoy"] = int((chances_RD[:, 0] > 0.5).sum())
    found["runs_that_mostly_reach_the_goal"] = int((history.goal_RT[:, -1] > 0.5).sum())
    return found


def run(config: BiasedMazeConfig, out_dir: Path | str) -> Path:
    """Run the study; write biased_maze.json and return its path."""
    histories = {decoy: train_all(config, decoy) for decoy in config.decoys}
    last = {
        f"decoy_{decoy}": {
            name: last_policies(config, decoy, history) for name, history in found.items()
        }
        for decoy, found in histories.items()
    }
    training = {
        f"decoy_{decoy}": {
            name: curves(config, history, PANELS if decoy == config.shown else (RETURN,))
            for name, history in found.items()
        }
        for decoy, found in histories.items()
    }
    path = Path(out_dir) / "biased_maze.json"
    return write_numbers(path, config, last_policies=last, training=training)


RETURN = "average return"
PANELS: dict[str, Callable[[History], np.ndarray]] = {
    RETURN: lambda h: h.returns_RT,
    "P(action 1) at the first fork": lambda h: h.chances_RTD[..., 0],
    "P(the goal is reached)": lambda h: h.goal_RT,
}


def curves(
    config: BiasedMazeConfig, history: History, panels: Iterable[str]
) -> dict[str, dict[str, list]]:
    """Return what panels show of training, at every `STEP`th update."""
    smooth = {name: moving_average(PANELS[name](history), config.window) for name in panels}
    return {name: mean_interval(values[:, ::STEP]).as_lists() for name, values in smooth.items()}


def draw_learning(found: Numbers) -> Figure:
    """Draw the average return, P(action 1) at the first fork and P(goal) during training."""
    config = BiasedMazeConfig(**found["config"])
    figure, axes = axes_grid(1, 3, 12.0, 4.4)
    for ax, panel in zip(axes, PANELS, strict=True):
        _draw_panel(ax, config, found["training"][f"decoy_{config.shown}"], panel)
        title(ax, panel, f"updates (moving average of {config.window})")
    axes[0].axhline(config.shown, color=LIGHT.muted, linewidth=0.8)
    axes[0].annotate(
        "the decoy's return", (config.updates, config.shown), (0, -11), va="center", ha="right",
        textcoords="offset points", fontsize=8, color=LIGHT.muted,
    )  # fmt: skip
    for ax in axes[1:]:
        ax.set_ylim(-0.02, 1.02)
    legend_below(figure, axes)
    return figure


def draw_decoys(found: Numbers) -> Figure:
    """Draw the average return in mazes without a decoy, with a shorter and with a longer one."""
    config = BiasedMazeConfig(**found["config"])
    figure, axes = axes_grid(1, len(config.decoys), 12.0, 4.4)
    for ax, decoy in zip(axes, config.decoys, strict=True):
        _draw_panel(ax, config, found["training"][f"decoy_{decoy}"], RETURN)
        kind = f"decoy of {decoy} steps" if decoy else "no decoy"
        title(ax, kind, f"updates (moving average of {config.window})")
        ax.set_ylim(0, config.forks + 0.2)
    axes[0].set_ylabel(RETURN)
    legend_below(figure, axes)
    return figure


def _draw_panel(ax: Axes, config: BiasedMazeConfig, training: Numbers, panel: str) -> None:
    updates = np.arange(1, config.updates + 1)[::STEP]
    for name, found in training.items():
        draw_interval(ax, updates, Interval.read(found[panel]), name, LEARNERS[name].label)
