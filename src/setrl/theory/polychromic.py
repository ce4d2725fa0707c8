"""Is an objective polychromic? Set RL note, Definition 4.1, for any two factors.

Poly-EPO's diversity pushes down the likeliest action of this policy, and no diversity can push down
every action; its smallest value is 1/2, the smallest mean reward 0:

>>> from setrl import objectives
>>> from setrl.theory import ActionTable, TabularObjective
>>> table = ActionTable([1, 1, 0], strategies=[0, 1, 2])
>>> parts = [objectives.mean(), objectives.distinct_share()]
>>> reward, diversity = (TabularObjective(part, table, set_size=2) for part in parts)
>>> found = polychromic_conditions(reward, diversity, [0.6, 0.3, 0.1])
>>> bool(found.pays_reward), found.pushes_down_A, found.same_range
(True, array([ True, False, False]), False)
>>> polychromic_conditions(reward, diversity, policy_grid(3, 12)).pays_reward.mean()
np.float64(1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.objectives.ranks import check_count
from setrl.theory.policies import check_policy
from setrl.theory.tabular import TabularObjective

ROUNDING = 1e-12  # of a covariance that is 0, as a share of the largest score


@dataclass(frozen=True, eq=False)
class PolychromicConditions:
    """The three conditions of Definition 4.1 on φ = φ_R·φ_d, for one policy or many (…).

    Attributes:
        reward_covariance: Cov(φ_R, Σᵢ r(yᵢ)), shape (…): condition 1 wants it above 0.
        count_covariances_A: Cov(φ_d, Σᵢ 1{yᵢ = y}) of each action y, shape (…, A): condition 2
            wants all below 0. They add up to 0, so that no φ_d fulfils it for every y.
        reward_range: Smallest and largest φ_R of a set: condition 3 wants the range of φ_d.
        diversity_range: Smallest and largest φ_d of a set.
        pays_reward: Whether condition 1 holds, shape (…).
        pushes_down_A: For which actions condition 2 holds, shape (…, A).
    """

    reward_covariance: np.ndarray
    count_covariances_A: np.ndarray
    reward_range: tuple[float, float]
    diversity_range: tuple[float, float]
    pays_reward: np.ndarray
    pushes_down_A: np.ndarray

    @property
    def same_range(self) -> bool:
        """Whether condition 3 holds; it does not depend on the policy."""
        return bool(np.allclose(self.reward_range, self.diversity_range, rtol=0, atol=ROUNDING))


def polychromic_conditions(
    reward: TabularObjective, diversity: TabularObjective, policy_A: ArrayLike
) -> PolychromicConditions:
    """Cov(f, Σᵢ g(yᵢ)) = Σ_y g(y)·∂E f/∂z_y: the covariances of Def. 4.1, from exact gradients.

    Args:
        reward: φ_R on a table of actions, whose rewards are r.
        diversity: φ_d on the same actions, with the same set size.
        policy_A: Probabilities (…, A), such as `policy_grid(A, 12)`.
    """
    num_actions = reward.table.num_actions
    if (diversity.table.num_actions, diversity.set_size) != (num_actions, reward.set_size):
        raise ValueError("reward and diversity must have equally many actions, and one set size")
    policy = check_policy(policy_A, num_actions)
    rewards_A = np.asarray(reward.table.rewards, dtype=float)
    paid = (reward.gradient(policy) * rewards_A).sum(axis=-1)
    counted_A = diversity.gradient(policy)
    return PolychromicConditions(
        reward_covariance=paid,
        count_covariances_A=counted_A,
        reward_range=_range(reward),
        diversity_range=_range(diversity),
        pays_reward=paid > _rounding(reward) * np.abs(rewards_A).max(),
        pushes_down_A=counted_A < -_rounding(diversity),
    )


def policy_grid(num_actions: int, denominator: int) -> np.ndarray:
    """Return all policies with positive probabilities that are multiples of 1/denominator.

    Returns:
        (C(denominator − 1, A − 1), A) probabilities.

    >>> policy_grid(2, 4)
    array([[0.25, 0.75],
           [0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    check_count("num_actions", num_actions, 1)
    check_count("denominator", denominator, num_actions)
    cuts = list(combinations(range(1, denominator), num_actions - 1))
    inner = np.array(cuts, dtype=float).reshape(len(cuts), num_actions - 1)
    return np.diff(inner, axis=1, prepend=0.0, append=float(denominator)) / denominator


def _range(tabular: TabularObjective) -> tuple[float, float]:
    return float(tabular.scores_S.min()), float(tabular.scores_S.max())


def _rounding(tabular: TabularObjective) -> float:
    return ROUNDING * float(np.abs(tabular.scores_S).max())
