"""Strategies of a policy: how much of it each has, how many live, and those that work at times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.samples import DEGENERATE
from setrl.theory.policies import check_policy
from setrl.theory.tabular import ActionTable

Velocity = Callable[[np.ndarray], np.ndarray]  # a policy (A,) → a direction in its logits (A,)

LIVE = 0.01  # a strategy with less probability than this counts as dead


def strategy_mass(
    policy_A: ArrayLike, table: ActionTable, correct_only: bool = False
) -> np.ndarray:
    """The probability of each strategy, (…, C): that of the actions in its cluster.

    Degenerate actions are in none. With `correct_only`, actions of reward ≤ 0.5 are left out.
    """
    table.check_reads(("clusters",))
    policy = check_policy(policy_A, table.num_actions)
    clusters_A, rewards_A = table.samples.clusters[0], table.samples.rewards[0]
    counted_A = clusters_A != DEGENERATE
    labels = np.unique(clusters_A[counted_A])
    if correct_only:
        counted_A = counted_A & (rewards_A > 0.5)
    return policy @ ((clusters_A[:, None] == labels) & counted_A[:, None])


def live_strategies(
    policy_A: ArrayLike, table: ActionTable, correct_only: bool = False, at_least: float = LIVE
) -> np.ndarray:
    """How many strategies have probability `at_least`, shape (…)."""
    return (strategy_mass(policy_A, table, correct_only) >= at_least).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class Success:
    """Strategies that work with a chance: a sample of strategy a is right with rate_a.

    The outcomes are the actions of `table`: strategy a done right is outcome a, done wrong a + A.

    Attributes:
        rates_A: The chance that a sample of each strategy is correct, in [0, 1].
    """

    rates_A: ArrayLike

    def __post_init__(self) -> None:
        rates = self._rates
        if rates.ndim != 1 or not ((rates >= 0) & (rates <= 1)).all():
            raise ValueError(f"rates_A must be (A,) numbers in [0, 1], got {rates.tolist()}")

    @property
    def table(self) -> ActionTable:
        """The 2A outcomes: reward 1 or 0, and the strategy as the cluster."""
        num = len(self._rates)
        return ActionTable(np.repeat([1.0, 0.0], num), clusters=np.tile(np.arange(num), 2))

    def outcomes(self, policy_A: ArrayLike) -> np.ndarray:
        """The probabilities of the outcomes, (…, 2A), of a policy over strategies (…, A)."""
        policy, rates = check_policy(policy_A, len(self._rates)), self._rates
        return np.concatenate([policy * rates, policy * (1 - rates)], axis=-1)

    def velocity(self, advantages: Velocity, scale: float = 1.0) -> Velocity:
        """The direction in the strategies' logits, from what outcomes are owed.

        Args:
            advantages: `TabularMethod.advantages`, or `TabularObjective.advantages`, on `table`.
            scale: 1 for a method; K for ∇J of an objective.
        """
        rates = self._rates

        def of(policy_A: np.ndarray) -> np.ndarray:
            right_A, wrong_A = np.split(advantages(self.outcomes(policy_A)), 2, axis=-1)
            owed_A = rates * right_A + (1 - rates) * wrong_A
            return scale * policy_A * (owed_A - (policy_A * owed_A).sum(axis=-1, keepdims=True))

        return of

    @property
    def _rates(self) -> np.ndarray:
        return np.asarray(self.rates_A, dtype=np.float64)
