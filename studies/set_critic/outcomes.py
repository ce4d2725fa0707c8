"""A set critic: set advantages from a learned distribution of outcomes, instead of vines.

Continuations of a state s are independent, so what sets of them are worth follows from one
distribution, P(y | s): how an episode that is in s ends, as its strategy, its score and whether it
is right. With Y₁…Y_K independent from P(· | s):

    V♯(s) = E f(Y₁…Y_K),   Q♯(s, a) = E[f(Y₁…Y_K) | Y₁ follows a],   A♯ = Q♯ − V♯

An episode that takes a in s and ends with outcome y has the credit of y in a group with `num_draws`
outcomes that are drawn from P(· | s), as a vine has its credit in the group of the vines of s:

    E[credit | s, a] = A♯(s, a) for u − v;  (1 − K/N)·A♯(s, a) for u − U, N = num_draws + 1

So the credit is unbiased for any method if P is right, and it takes no environment steps: only the
error of the learned P biases it. Set RL note, Def. 2.1, where the K members are whole continuations
instead of actions (`setrl.theory.trees` with γ = 0).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from setrl.control.credit import by_trajectory
from setrl.core.advantages import AnyMethod
from setrl.samples.values import DEGENERATE


@dataclass(frozen=True)
class SetCritic:
    """How the distribution of outcomes is learned, and how many outcomes credit draws from it.

    The estimate is log P(y | s) = log c(y) + g(s, y) + constant. c counts the outcomes of the last
    updates, and g is a network that learns by cross entropy from every step of every episode. It
    sees the observation, the label of the episode so far, the reward so far and the number of
    steps.

    Attributes:
        num_draws: Outcomes that are drawn for the credit of one episode at one state; at least K.
        score_step: Scores are rounded to multiples of it, which makes graded outcomes finitely
            many. None: no rounding.
        memory: Share of the counts c that the next update keeps, in [0, 1).
        hidden: Width of the two layers of g.
        learning_rate: Step size of Adam.
        epochs: How often g sees an update's steps.
        batch_size: Steps of a minibatch.
    """

    num_draws: int = 128
    score_step: float | None = 0.1
    memory: float = 0.8
    hidden: int = 64
    learning_rate: float = 1e-3
    epochs: int = 4
    batch_size: int = 256

    def __post_init__(self) -> None:
        for name in ("num_draws", "hidden", "epochs", "batch_size"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise ValueError(f"set_critic: {name} must be a whole number ≥ 1, got {value!r}")
        if not 0 <= self.memory < 1:
            raise ValueError(f"set_critic: memory must be in [0, 1), got {self.memory!r}")
        for name in ("score_step", "learning_rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"set_critic: {name} must be a number > 0, got {value!r}")

    def check(self, method: AnyMethod) -> None:
        """Refuse a method that reads pairs, or more samples than there are draws."""
        if "pairs" in method.reads:
            raise ValueError(f"{method.name} reads pairs, which outcomes of a set critic lack")
        method.check_samples(self.num_draws + 1, "num_draws + 1")


class Outcome(NamedTuple):
    """How an episode ended: all that sets see of it."""

    score: float
    label: Hashable | None = None
    correct: bool | None = None


def outcome_of(
    vines: Any, episode: Any, reads: tuple[str, ...], score_step: float | None = None
) -> Outcome | None:
    """Return how an episode ended, as `vines` judge it; None if its score is unknown."""
    score = vines.worth(episode)
    if not np.isfinite(score):
        return None
    label = vines.label(episode) if "strategies" in reads and vines.label else None
    right = vines.correct(episode) if "correct" in reads and vines.correct else None
    exact = score if score_step is None else round(score / score_step) * score_step
    return Outcome(float(exact), label, right)


@dataclass
class Outcomes:
    """The outcomes that were seen so far, numbered in the order in which they came.

    Attributes:
        seen: Outcome → its number.
        labels: TrajectoryLabel → its number. An outcome's label is its strategy.
    """

    seen: dict[Outcome, int] = field(default_factory=dict)
    labels: dict[Hashable, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.seen)

    def number(self, outcome: Outcome) -> int:
        """Return the number of an outcome, a new one for a new outcome."""
        self.label(outcome.label)
        return self.seen.setdefault(outcome, len(self.seen))

    def label(self, label: Hashable | None) -> int:
        """Return the number of a label, a new one for a new label; −1 for none."""
        is_none = label in (None, DEGENERATE)
        return DEGENERATE if is_none else self.labels.setdefault(label, len(self.labels))

    def fields(self, numbers: np.ndarray, reads: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Return what a method reads besides scores, in the shape of `numbers`."""
        found = {}
        if "strategies" in reads:
            found["strategies"] = np.array([self.label(one.label) for one in self.seen])[numbers]
        if "correct" in reads and any(one.correct is not None for one in self.seen):
            found["correct"] = np.array([one.correct for one in self.seen], dtype=float)[numbers]
        return found

    def scores(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scores of outcomes, in the shape of `numbers`."""
        return np.array([one.score for one in self.seen])[numbers]


def draw(chances_RV: np.ndarray, num_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw outcomes from each of R distributions over V outcomes, (R, num_draws)."""
    edges_RV = np.cumsum(chances_RV, axis=1)
    edges_RV /= edges_RV[:, -1:]
    # One sorted list of all rows' edges, row r moved to [r, r + 1): one search finds all draws.
    rows_R1, num_outcomes = np.arange(len(edges_RV))[:, None], edges_RV.shape[1]
    at = rng.random((len(edges_RV), num_draws)) + rows_R1
    found = np.searchsorted((edges_RV + rows_R1).ravel(), at.ravel(), side="right")
    return np.minimum(found.reshape(at.shape) - rows_R1 * num_outcomes, num_outcomes - 1)


def set_advantages(
    method: AnyMethod,
    outcomes: Outcomes,
    taken_R: np.ndarray,
    chances_RV: np.ndarray,
    num_draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Credit R outcomes, each in a group with outcomes drawn at its state.

    Args:
        method: Objective, set size and baseline.
        outcomes: What the numbers mean.
        taken_R: The number of each outcome.
        chances_RV: P(y | s) at the state of each.
        num_draws: Outcomes drawn for each.
        rng: Draws them.

    Returns:
        (R,), NaN where the method gives no credit.
    """
    return credit(method, outcomes, taken_R, draw(chances_RV, num_draws, rng), rng)


def credit(
    method: AnyMethod,
    outcomes: Outcomes,
    taken_R: np.ndarray,
    drawn_RM: np.ndarray,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Credit R outcomes, each in the group that it forms with M others, (R,)."""
    group_RN = np.column_stack([taken_R, drawn_RM])
    fields = outcomes.fields(group_RN, method.reads)
    return by_trajectory(method, outcomes.scores(group_RN), fields, rng)[:, 0]
