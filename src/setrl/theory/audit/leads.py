"""Where an estimator leads on one prompt: which right strategies its expected update keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl.theory.audit.paid import Paid
from setrl.theory.dynamics import Path, Success, gradient_flow
from setrl.theory.policies import entropy, shift_logits
from setrl.theory.tabular import ActionTable

STRATEGIES = 3  # on a prompt, if the estimator does not read labels
SUCCESS = 0.9, 0.7  # how often the best and the worst strategy are right
TIMES = np.concatenate([[0.0], np.geomspace(1, 3000, 60)])  # learning rate × steps
STEPS, RATE = 400, 2.5  # of a path whose groups are drawn
KEPT = 0.05  # share of a strategy that is kept


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
        until: Learning rate × steps at the end.
    """

    success: tuple[float, ...]
    shares: tuple[float, ...]
    kept: int
    accuracy: float
    collapse: float | None
    until: float = float(TIMES[-1])


def survivors(paid: Paid) -> Survivors:
    """Follow the expected update of a softmax policy over strategies, without noise.

    A sample of a strategy is right with the strategy's rate of success. Its label is the strategy,
    if the table has labels. The time is 3,000 learning rates × steps.
    """
    outcome_OA = _actions(paid.table)
    rates, start = _strategies(outcome_OA)

    def advantages(outcomes_O: np.ndarray) -> np.ndarray:
        return outcome_OA @ paid.groups.mean_given(outcomes_O @ outcome_OA, paid.credit_SA)

    strategies = Success(rates)
    scale = _usual_size(paid, strategies.outcomes(start) @ outcome_OA)
    path = gradient_flow(strategies.velocity(advantages, 1 / scale), start, TIMES, 1e-6)
    return _survivors(rates, path)


def drawn_survivors(
    advantages: Callable[[np.ndarray], np.ndarray], table: ActionTable, num: int, groups: int
) -> Survivors:
    """Follow the update of groups that are drawn in every step, for groups too many to enumerate.

    Args:
        advantages: The actions of groups (B, N) → their advantages (B, N).
        table: The kinds of samples.
        num: N.
        groups: The groups of a step: their noise stays in the path.
    """
    outcome_OA, rng = _actions(table), np.random.default_rng(0)
    rates, share = _strategies(outcome_OA)
    action_O, strategies, scale = outcome_OA.argmax(axis=1), Success(rates), 0.0
    policies = [share]
    for _ in range(STEPS):
        outcomes = rng.choice(len(action_O), (groups, num), p=strategies.outcomes(policies[-1]))
        values = advantages(action_O[outcomes])
        scale = scale or float(np.sqrt((values**2).mean())) or 1.0
        used = (outcomes % len(rates))[..., None] == np.arange(len(rates))
        move_A = (values[..., None] * (used - policies[-1])).mean(axis=(0, 1)) / scale
        policies.append(shift_logits(policies[-1], RATE * move_A))
    return _survivors(rates, Path(RATE * np.arange(STEPS + 1), np.array(policies)))


def _strategies(outcome_OA: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the success rates of the strategies, and their equal shares."""
    rates = np.linspace(*SUCCESS, len(outcome_OA) // 2)
    return rates, np.full(len(rates), 1 / len(rates))


def _survivors(rates: np.ndarray, path: Path) -> Survivors:
    shares, used_T = path.policies_TA[-1], np.exp(entropy(path.policies_TA))
    few = np.flatnonzero(used_T < 1.5)
    return Survivors(
        tuple(rates.round(3).tolist()),
        tuple(round(float(share), 4) for share in shares),
        int((shares >= KEPT).sum()),
        float(shares @ rates),
        float(round(path.times_T[few[0]])) if few.size else None,
        float(path.times_T[-1]),
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
