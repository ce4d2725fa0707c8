"""How large a diversity bonus must be before a wrong but rare action is encouraged."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.core import methods
from setrl.core.objectives.ranks import check_count
from setrl.theory.policies import check_action, check_policy
from setrl.theory.tabular import ActionTable, TabularMethod


def bonus_needed(
    table: ActionTable, policy_A: ArrayLike, action: int, num_samples: int
) -> np.ndarray:
    """λ* above which reward shaping r + λ·d gives an action a positive advantage on average.

        E[A | y] = a₀ + λ·a₁ > 0   ⇔   λ > λ* = −a₀ / a₁,     for a₁ > 0

    For a wrong action, a₀ = −p·(N−1)/N and a₁ = E[d | y] − E d̄ among N samples, which is the
    tutorial's λ·d > p + λ·d̄ in expectation. λ* stays finite as p → 1. For a rare action next to a
    single correct strategy it is (N−1)²/(N(N−2)), slightly more than 1: not large, and not
    impossible. d is the bonus of `setrl.core.shaping.DiversityBonus`; the advantage is the one of
    `methods.grpo_div`.

    Args:
        table: The actions, with strategies.
        policy_A: Probabilities (…, A).
        action: y.
        num_samples: N ≥ 3.

    Returns:
        (…) λ*; 0 where no bonus is needed, inf where no bonus suffices.
    """
    check_action(action, table.num_actions)
    check_count("num_samples", num_samples, 3)
    policy = check_policy(policy_A, table.num_actions)
    without, with_one = (
        TabularMethod(methods.grpo_div(weight), table, num_samples).advantages(policy)[..., action]
        for weight in (0.0, 1.0)
    )
    gained = with_one - without
    needed = np.where(gained > 0, -without / np.where(gained > 0, gained, 1.0), np.inf)
    return np.where(without > 0, 0.0, needed)
