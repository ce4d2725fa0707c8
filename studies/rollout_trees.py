"""`python -m studies rollout_trees`: set policy iteration and set Q-learning on a small process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from setrl import objectives
from setrl.show.report.style import BLUE, VERMILION, axes_grid
from setrl.theory import ActionTable, TabularObjective
from setrl.theory.trees import (
    PolicyIteration,
    SetMDP,
    planned_values,
    policy_iteration,
    q_learning,
)
from studies.summaries import (
    Interval,
    Numbers,
    draw_interval,
    geometric_interval,
    title,
    write_numbers,
)


@dataclass(frozen=True)
class RolloutTreesConfig:
    """Sizes of the study; seconds on one core.

    Attributes:
        states: X.
        actions: A, each its own strategy.
        set_size: K.
        reach: γK.
        starts: Random first policies of set policy iteration.
        iterations: Of each.
        q_steps: Updates of set Q-learning.
        q_seeds: Runs of it.
        seed: Of everything.
    """

    states: int = 4
    actions: int = 3
    set_size: int = 2
    reach: float = 0.6
    starts: int = 8
    iterations: int = 15
    q_steps: int = 100_000
    q_seeds: int = 5
    seed: int = 0


def process(config: RolloutTreesConfig) -> SetMDP:
    """Make a random process with states scored by mean reward × share of different actions."""
    rng = np.random.default_rng(config.seed)
    shape = config.states, config.actions
    moves_XAX = rng.dirichlet(np.full(config.states, 0.3), size=shape)
    scores = [
        TabularObjective(
            objectives.polychromic(),
            ActionTable(rewards, strategies=list(range(config.actions))),
            config.set_size,
        )
        for rewards in rng.random(shape)
    ]
    return SetMDP(moves_XAX, scores, config.reach / config.set_size)


def climb(config: RolloutTreesConfig, mdp: SetMDP) -> list[PolicyIteration]:
    """Run set policy iteration from random policies, one sweep an iteration."""
    rng = np.random.default_rng([config.seed, 1])
    return [
        policy_iteration(
            mdp,
            rng.dirichlet(np.ones(config.actions), size=config.states),
            iterations=config.iterations,
            sweeps=1,
        )
        for _ in range(config.starts)
    ]


def learn(config: RolloutTreesConfig, mdp: SetMDP) -> tuple[np.ndarray, Interval]:
    """Return steps, and the error of set Q-learning relative to the largest value."""
    scale = np.abs(planned_values(mdp)).max()
    runs = [
        q_learning(mdp, steps=config.q_steps, rng=np.random.default_rng([config.seed, 2, r]))
        for r in range(config.q_seeds)
    ]
    return runs[0].steps_T, geometric_interval([run.errors_T / scale for run in runs])


def run(config: RolloutTreesConfig, out_dir: Path | str) -> Path:
    """Run the study; write rollout_trees.json and return its path."""
    mdp = process(config)
    paths, (steps, error) = climb(config, mdp), learn(config, mdp)
    planner = planned_values(mdp).max(axis=1).mean()
    values = np.array([path.values_TX.mean(axis=1) for path in paths])
    return write_numbers(
        Path(out_dir) / "rollout_trees.json",
        config,
        planner=float(planner),
        policy_iteration=values.round(6).tolist(),
        q_learning={"steps": steps.tolist(), "relative_error": error.as_lists()},
    )


def draw(found: Numbers) -> Figure:
    """Draw the value of set policy iteration over iterations, and set Q-learning's error."""
    figure, (climbing, learning) = axes_grid(1, 2, 10.0, 4.0)
    planner, paths = found["planner"], found["policy_iteration"]
    for values_T in paths:
        climbing.plot(values_T, color=BLUE, linewidth=1.2, alpha=0.8)
    climbing.axhline(planner, color=VERMILION, linestyle="--", linewidth=1.5)
    climbing.annotate(
        "the sets are chosen, not drawn",
        (0, planner),
        (0, 5),
        textcoords="offset points",
        fontsize=9,
    )
    climbing.set_ylabel("V♯, mean over states")
    climbing.margins(y=0.12)
    title(climbing, f"Set policy iteration, {len(paths)} starts", "iterations")
    steps, error = np.array(found["q_learning"]["steps"]), found["q_learning"]["relative_error"]
    draw_interval(learning, steps, Interval.read(error), "l2o")
    learning.set(ylabel="max |Q − Q♯*| / max Q♯*", yscale="log", xscale="log")
    title(learning, "Set Q-learning from sampled branches", "updates")
    return figure
