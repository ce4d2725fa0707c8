"""What an action's credit rests on: sets that score well together, and actions that it needs.

Set RL note, §3 and §5. The objective of Example 5.4 pays a set whose members differ. So the rare
action 1 has a positive scaffold value as long as both others are there, and loses it without one:

>>> from setrl import objectives
>>> from setrl.theory import ActionTable, TabularObjective
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
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_action, check_policy
from setrl.theory.tabular import TabularObjective

ROUNDING = 1e-12  # of a scaffold value that is 0, as a share of the largest score


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
    counts_SA = _counts(sets_SK, tabular)
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
    left_TA = np.stack([diminish(policy, gone) for gone in tried])
    lost_T = tabular.gradient(left_TA)[:, action] < -rounding
    return [gone for gone, lost in zip(tried, lost_T, strict=True) if lost]


def _counts(sets_SK: ArrayLike | None, tabular: TabularObjective) -> np.ndarray:
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
