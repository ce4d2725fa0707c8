"""Where an estimator leads on one prompt: which right strategies its expected update keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.theory.audit.paid import Paid
from setrl.theory.dynamics import Success, gradient_flow
from setrl.theory.policies import entropy
from setrl.theory.tabular import ActionTable

STRATEGIES = 3  # on a prompt, if the estimator does not read labels
SUCCESS = 0.9, 0.7  # how often the best and the worst strategy are right
TIMES = np.concatenate([[0.0], np.geomspace(1, 3000, 60)])  # learning rate × steps
KEPT = 0.05  # share of a strategy that is kept
FEW = 1.5  # strategies that are used, below which a policy has collapsed


@dataclass(frozen=True)
class Survivors:
    """What the expected update does on a prompt with several strategies, from equal shares.

    Attributes:
        success: How often each strategy is right.
        shares: Their shares at the end.
        kept: How many have a share of at least 5% at the end.
        accuracy: The share of right samples at the end; 0.8 at first.
        collapse: When fewer than 1½ strategies are used, by the exponential of the entropy: the
            learning rate × steps, for advantages of root mean square 1. None if it never happens.
    """

    success: tuple[float, ...]
    shares: tuple[float, ...]
    kept: int
    accuracy: float
    collapse: float | None


def survivors(paid: Paid) -> Survivors:
    """Follow the expected update of a softmax policy over strategies, without noise.

    A sample of a strategy is right with the strategy's rate of success. Its label is the strategy,
    if the table has labels. The time is 3,000 learning rates × steps.
    """
    outcome_OA = _actions(paid.table)
    rates = np.linspace(*SUCCESS, len(outcome_OA) // 2)
    start = np.full(len(rates), 1 / len(rates))

    def advantages(outcomes_O: np.ndarray) -> np.ndarray:
        return outcome_OA @ paid.groups.mean_given(outcomes_O @ outcome_OA, paid.credit_SA)

    strategies = Success(rates)
    scale = _usual_size(paid, strategies.outcomes(start) @ outcome_OA)
    path = gradient_flow(strategies.velocity(advantages, 1 / scale), start, TIMES, 1e-6)
    shares, used_T = path.policies_TA[-1], np.exp(entropy(path.policies_TA))
    few = np.flatnonzero(used_T < FEW)
    return Survivors(
        tuple(rates.round(3).tolist()),
        tuple(round(float(share), 4) for share in shares),
        int((shares >= KEPT).sum()),
        float(shares @ rates),
        float(round(path.times_T[few[0]])) if few.size else None,
    )


def _actions(table: ActionTable) -> np.ndarray:
    """Return which action of the table each outcome is, one-hot: right ones first, then wrong."""
    rewards_A = np.asarray(table.rewards, dtype=np.float64)
    right, wrong = (np.flatnonzero(rewards_A == end) for end in (rewards_A.max(), rewards_A.min()))
    num = min(len(right), len(wrong))
    if num < 2:  # strategies that the estimator cannot tell apart
        return np.repeat(np.eye(len(rewards_A))[[right[0], wrong[0]]], STRATEGIES, axis=0)
    return np.eye(len(rewards_A))[np.concatenate([right[:num], wrong[:num]])]


def _usual_size(paid: Paid, policy_A: np.ndarray) -> float:
    """Return the root mean square of the advantages; 1 if all are 0."""
    chances_S = paid.groups.chances(policy_A)
    square = chances_S @ (paid.groups.counts_SA * paid.credit_SA**2).sum(axis=1)
    return float(np.sqrt(square / paid.num_samples)) or 1.0
