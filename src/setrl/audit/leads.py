"""Where an estimator leads on one prompt: how many right strategies it keeps, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.audit.paid import Paid, places
from setrl.theory.policies import entropy, softmax

STRATEGIES, WRONG = (
    3,
    0.4,
)  # right strategies on the prompt, and the share of wrong samples at first
RUNS, STEPS, RATE = 64, 2000, 0.2
KEPT = 0.01  # share of a strategy that is kept


@dataclass(frozen=True)
class Survivors:
    """What training on one prompt does, on average over runs with sampled groups.

    Attributes:
        strategies: How many right strategies the prompt has; they have equal shares at first.
        kept: How many of them have a share of at least 1% at the end.
        accuracy: The share of right samples at the end.
        collapse: The step at which half of the runs use fewer than 1½ right strategies (in effect:
            the exponential of the entropy of their shares); None if this does not happen.
        steps: How many steps the runs have.
    """

    strategies: int
    kept: float
    accuracy: float
    collapse: int | None
    steps: int


def survivors(paid: Paid, steps: int = STEPS, runs: int = RUNS) -> Survivors:
    """Train a softmax policy over actions with groups of N samples, on one prompt.

    Each update is divided by the root mean square of the advantages at the first policy, so that
    estimators of different scales take steps of the same size. A table without labels has three
    right actions that it cannot tell apart; a table with labels has one right action for each.
    """
    rewards_A = np.asarray(paid.table.rewards, dtype=np.float64)
    right_A = np.flatnonzero(rewards_A == rewards_A.max())
    copies = 1 if len(right_A) > 1 else STRATEGIES
    action_Q = np.concatenate(
        [np.repeat(right_A, copies), np.flatnonzero(rewards_A == rewards_A.min())]
    )
    is_right_Q = rewards_A[action_Q] == rewards_A.max()
    start_Q = np.where(is_right_Q, (1 - WRONG) / is_right_Q.sum(), WRONG / (~is_right_Q).sum())
    walk = _walk(paid, action_Q, start_Q, steps, runs)
    return _read(walk, is_right_Q)


def _walk(
    paid: Paid, action_Q: np.ndarray, start_Q: np.ndarray, steps: int, runs: int
) -> np.ndarray:
    """Return the policies of every 10th step, (T, runs, Q)."""
    rng, num = np.random.default_rng(0), paid.num_samples
    of_action_QA = np.eye(paid.table.num_actions)[action_Q]
    logits, kept = np.tile(np.log(start_Q), (runs, 1)), []
    size = _usual_size(paid, start_Q @ of_action_QA)
    for step in range(steps + 1):
        policy = softmax(logits)
        if step % 10 == 0:
            kept.append(policy)
        counts = rng.multinomial(num, policy)
        credit = paid.credit_SA[places(paid.groups, counts @ of_action_QA)][:, action_Q]
        totals = counts * credit
        update = totals - policy * totals.sum(axis=1, keepdims=True)
        logits = logits + RATE / num / size * update
    return np.array(kept)


def _usual_size(paid: Paid, policy_A: np.ndarray) -> float:
    chances_S = paid.groups.chances(policy_A)
    square = chances_S @ (paid.groups.counts_SA * paid.credit_SA**2).sum(axis=1)
    return float(np.sqrt(square / paid.num_samples)) or 1.0


def _read(walk: np.ndarray, is_right_Q: np.ndarray) -> Survivors:
    right = walk[..., is_right_Q]
    share = right.sum(axis=-1, keepdims=True)
    effective = np.exp(entropy(right / share))
    few_T = np.median(effective, axis=1) < 1.5
    kept = (right[-1] >= KEPT).sum(axis=-1).mean()
    return Survivors(
        int(is_right_Q.sum()),
        float(kept),
        float(share[-1].mean()),
        int(few_T.argmax() * 10) if few_T.any() else None,
        (len(walk) - 1) * 10,
    )
