"""Definitions of the Set RL note on a table: polychromic objectives (4.1), scaffolds (§3 and §5).

Is an objective polychromic? Definition 4.1 says it of any two factors.

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

What does an action's credit rest on? Sets that score well together, and actions that it needs. The
objective of Example 5.4 pays a set whose members differ. So the rare action 1 has a positive
scaffold value as long as both others are there, and loses it without one:

>>> differ = TabularObjective(objectives.differ(), ActionTable([1, 1, 1], strategies=[0, 1, 2]), 2)
>>> scaffold_values(differ, [0.6, 0.3, 0.1]).round(3)
array([-0.084,  0.048,  0.036])
>>> diminish([0.6, 0.3, 0.1], [2])
array([0.65, 0.35, 0.  ])
>>> specular_sets(differ, [0.6, 0.3, 0.1], action=1)
[(0,)]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.objectives.ranks import check_count
from setrl.theory.policies import check_action, check_policy
from setrl.theory.tabular import TabularObjective

ROUNDING = 1e-12  # of a covariance or scaffold value that is 0, as a share of the largest score


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
        reward_range=_find_score_range(reward),
        diversity_range=_find_score_range(diversity),
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


def _find_score_range(tabular: TabularObjective) -> tuple[float, float]:
    return float(tabular.scores_S.min()), float(tabular.scores_S.max())


def _rounding(tabular: TabularObjective) -> float:
    return ROUNDING * float(np.abs(tabular.scores_S).max())


def scaffold_values(
    tabular: TabularObjective, policy_A: ArrayLike, sets_SK: ArrayLike | None = None
) -> np.ndarray:
    """Λ(y₁…y_K) = Cov(f(y'), Σᵢⱼ 1{y'ᵢ = yⱼ} / I) = (1/I) Σⱼ ∂J/∂z of yⱼ: Def. 3.1.

    The second form follows by writing out the count of each action: the covariance of f with a
    count is the derivative in a logit. I is the largest Σᵢⱼ over all sets, the set itself included:
    the reading of the definition that makes the note's Λ(y…y) = π(y)·A(y) true.

    Args:
        tabular: The objective on its table.
        policy_A: Probabilities (A,).
        sets_SK: The actions of S sets; by default the A sets of K copies of one action.

    Returns:
        (S,) scaffold values.
    """
    policy = check_policy(policy_A, shape=(tabular.table.num_actions,))
    counts_SA = _count_actions(sets_SK, tabular)
    largest_S = tabular.set_size * counts_SA.max(axis=-1)
    return (counts_SA * tabular.gradient(policy)).sum(axis=-1) / largest_S


def diminish(policy_A: ArrayLike, actions: Iterable[int]) -> np.ndarray:
    """Return a policy without some actions; those left share their probability evenly: Def. 5.1.

    Args:
        policy_A: Probabilities (A,).
        actions: The actions to remove; one action of the support must be left.
    """
    policy = check_policy(policy_A, shape=(np.size(policy_A),))
    kept_A = policy > 0
    for action in actions:
        check_action(action, len(policy))
        kept_A[action] = False
    if not kept_A.any():
        raise ValueError("an action of the support must be left, and all are removed")
    return np.where(kept_A, policy + policy[~kept_A].sum() / max(kept_A.sum(), 1), 0.0)


def specular_sets(
    tabular: TabularObjective, policy_A: ArrayLike, action: int
) -> list[tuple[int, ...]]:
    """Return the sets of other actions without which y loses its support: Def. 5.2.

    Λ(y…y) is positive, and negative after the set is diminished. The note's strong specular set is
    the smallest; there can be several of the smallest size.

    Args:
        tabular: The objective on its table; 2^(A−1) sets of its actions are tried.
        policy_A: Probabilities (A,).
        action: y, whose scaffold value must be positive.

    Returns:
        The sets, smallest first.
    """
    policy = check_policy(policy_A, shape=(tabular.table.num_actions,))
    check_action(action, len(policy))
    value = scaffold_values(tabular, policy)[action]
    rounding = ROUNDING * np.abs(tabular.scores_S).max()
    if not value > rounding:
        raise ValueError(f"action {action} needs a positive scaffold value, it has {value:.3g}")
    others = [a for a in np.flatnonzero(policy).tolist() if a != action]
    # Without all others y is certain, and its scaffold value is 0 (Prop. 5.3).
    tried = list(chain.from_iterable(combinations(others, k) for k in range(1, len(others))))
    if not tried:
        return []
    left_TA = np.stack([diminish(policy, removed) for removed in tried])
    lost_T = tabular.gradient(left_TA)[:, action] < -rounding
    return [removed for removed, lost in zip(tried, lost_T, strict=True) if lost]


def _count_actions(sets_SK: ArrayLike | None, tabular: TabularObjective) -> np.ndarray:
    num_actions, set_size = tabular.table.num_actions, tabular.set_size
    if sets_SK is None:
        return set_size * np.eye(num_actions)
    sets = np.asarray(sets_SK)
    if sets.ndim != 2 or sets.shape[1] != set_size or sets.dtype.kind not in "iu":
        raise ValueError(f"sets_SK must be integers of shape (S, {set_size}), got {sets.shape}")
    wrong = sets[(sets < 0) | (sets >= num_actions)]
    if wrong.size:
        raise ValueError(f"actions must be in [0, {num_actions - 1}], got {wrong[0]}")
    return (sets[..., None] == np.arange(num_actions)).sum(axis=1)
