"""`python -m studies rare_strategies`: which arms take up strategies that are nearly never sampled.

The tutorial says that Poly-EPO discovers strategies throughout training, also those that the base
samples with less than 0.1%. In the recorded runs this question has no answer, because nothing rare
is good there (`studies.late`). Here the shares of strategies fall like 1/rank², and P(right) of a
strategy is drawn independently of its share. A strategy is *taken up* when its share, below `rare`
at first, exceeds `used`.

Axes in addition to the library's: R draws of P(right), T + 1 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from setrl import methods, objectives
from setrl.core.method import AnyMethod
from setrl.evaluate.looks import Look
from setrl.show.report.drawing import band
from setrl.show.report.style import BLUE, GREEN, ORANGE, PINK, SKY, axes_grid
from setrl.theory.dynamics import Success, simulate
from studies.summaries import (
    Interval,
    Numbers,
    legend_below,
    mean_interval,
    title,
    write_numbers,
)

ARMS: dict[str, tuple[AnyMethod, Look]] = {
    "grpo": (methods.grpo(), Look("GRPO", BLUE, "solid", "")),
    "maxpo": (methods.maxpo(set_size=4), Look("MaxPO, K = 4", ORANGE, "dashdot", "")),
    "poly_4": (methods.poly_epo(set_size=4), Look("Poly-EPO, K = 4", GREEN, "solid", "")),
    "poly_8": (methods.poly_epo(set_size=8), Look("Poly-EPO, K = 8", GREEN, "dashed", "")),
    "distinct": (
        methods.set_rl(objectives.distinct_correct(), set_size=4),
        Look("correct strategies, K = 4", SKY, "dashed", ""),
    ),
    "counts": (
        methods.concave_counts(alpha=0.0),
        Look("concave counts, α = 0", PINK, "solid", ""),
    ),
}

STEP = 20  # every twentieth update is kept for the figure


@dataclass(frozen=True)
class RareConfig:
    """Sizes of the study; the defaults take about two minutes on one core.

    Attributes:
        strategies: How many; their shares are proportional to 1/rank².
        success: Lowest and highest P(right | strategy).
        rare: A strategy is rare if its share is below it before training.
        used: A strategy is taken up when its share is above it.
        num_samples: N.
        updates: T.
        learning_rate: Of all arms.
        draws: R, at least 2.
        seed: Of everything.
    """

    strategies: int = 40
    success: tuple[float, float] = (0.2, 1.0)
    rare: float = 0.001
    used: float = 0.01
    num_samples: int = 16
    updates: int = 2_000
    learning_rate: float = 1.0
    draws: int = 20
    seed: int = 0

    @property
    def shares(self) -> np.ndarray:
        """P(strategy) before training."""
        weights = 1 / np.arange(1, self.strategies + 1) ** 2
        return weights / weights.sum()


@dataclass(frozen=True, eq=False)
class History:
    """One arm, for each draw.

    Attributes:
        taken_up_RT: Rare strategies above `used`, at each time.
        kinds_R: Strategies above `used` at the end.
        success_R: P(right) at the end.
        above_R: Rare strategies whose P(right) is above P(right) of the policy at the end.
    """

    taken_up_RT: np.ndarray
    kinds_R: np.ndarray
    success_R: np.ndarray
    above_R: np.ndarray

    def numbers(self) -> dict[str, Any]:
        """Return what is at the end, and when half of the rare strategies in use were taken up."""
        ends = {
            "taken_up": self.taken_up_RT[:, -1],
            "strategies_in_use": self.kinds_R,
            "success": self.success_R,
            "rare_and_better_than_the_policy": self.above_R,
        }
        half = self.taken_up_RT.shape[1] // 2
        late_R = self.taken_up_RT[:, -1] - self.taken_up_RT[:, half]
        return {
            name: mean_interval(values).as_lists()
            for name, values in {**ends, "taken_up_in_the_second_half": late_R}.items()
        }


def train(config: RareConfig, method: AnyMethod) -> History:
    """Train a policy for each draw of P(right); all arms see the same draws."""
    rng = np.random.default_rng(config.seed)
    rare_C, found = config.shares < config.rare, []
    for draw in range(config.draws):
        right_C = rng.uniform(*config.success, config.strategies)
        success = Success(right_C)
        path = simulate(
            method,
            success.table,
            config.shares,
            config.num_samples,
            config.updates,
            config.learning_rate,
            np.random.default_rng([config.seed, draw]),
            runs=1,
            success=success,
        )
        shares_TC = path.policies_TA[:, 0]
        value = shares_TC[-1] @ right_C
        used_TC = shares_TC > config.used
        above = (rare_C & (right_C > value)).sum()
        found.append(((used_TC & rare_C).sum(axis=1), used_TC[-1].sum(), value, above))
    return History(*(np.array(column) for column in zip(*found, strict=True)))


def run(config: RareConfig, out_dir: Path | str) -> Path:
    """Run the study; write rare_strategies.json and return its path."""
    histories = {name: train(config, method) for name, (method, _) in ARMS.items()}
    return write_numbers(
        Path(out_dir) / "rare_strategies.json",
        config,
        rare=int((config.shares < config.rare).sum()),
        arms={name: history.numbers() for name, history in histories.items()},
        paths={
            name: mean_interval(history.taken_up_RT[:, ::STEP]).as_lists()
            for name, history in histories.items()
        },
    )


def draw_paths(found: Numbers) -> Figure:
    """Draw how many rare strategies are in use, over updates."""
    figure, [ax] = axes_grid(1, 1, 8.0, 4.2)
    for name, record in found["paths"].items():
        path = Interval.read(record)
        lines = (path.mean, path.low, path.high)
        band(ax, STEP * np.arange(path.mean.size), lines, ARMS[name][1])
    title(ax, "rare strategies in use", "updates")
    legend_below(figure, [ax])
    return figure
