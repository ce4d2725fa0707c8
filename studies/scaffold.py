"""Scaffold values: whether sets like this one score above the average (Set RL, Def. 3.1).

The module also has the conditions and bounds for polychromic objectives (Def. 4.1, Prop. 4.2, 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from setrl import names
from setrl.core.objectives.base import Objective
from setrl.theory.policies import check_policy
from setrl.theory.tabular import ActionTable, TabularObjective

GRID = 2_000  # values of π(y) at which a scaffold value is computed
ROUNDING = 1e-12


def scaffold_values(
    tabular: TabularObjective,
    policy_A: ArrayLike,
    sets_SK: ArrayLike | None = None,
    normaliser: str = "pairs",
) -> np.ndarray:
    """Λ(y₁…y_K) = Cov(f(y'), Σᵢⱼ 1{y'ᵢ = yⱼ} / I) = (1/I) Σⱼ ∂J/∂z of yⱼ, for each set.

    The second form follows by writing out the count of each action: the covariance of f with a
    count is the derivative in a logit.

    Args:
        tabular: The objective on its table.
        policy_A: Probabilities (A,).
        sets_SK: The actions of S sets; by default the A sets of K copies of one action, whose
            value is π(y)·A(y) with the default normaliser.
        normaliser: I. The definition, "the maximum size of the intersection with any other set",
            can be read in three ways. Only the first makes the note's Λ(y…y) = π·A true:
            `pairs` max over all sets of Σᵢⱼ, the set itself included (K times the largest
            multiplicity); `intersection` K, the size of the set as a multiset; `other_set` max over
            the sets that differ from it. `one` does not divide at all.

    Returns:
        (S,) scaffold values.
    """
    policy = check_policy(policy_A, tabular.table.num_actions)
    divide = names.look_up("normaliser", normaliser, NORMALISERS)
    counts_SA = _counts(sets_SK, tabular)
    return (counts_SA * tabular.gradient(policy)).sum(axis=-1) / divide(counts_SA)


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


def _pairs(counts_SA: np.ndarray) -> np.ndarray:
    """Return the overlap with K copies of the set's most frequent action, the largest of all."""
    return counts_SA.sum(axis=-1) * counts_SA.max(axis=-1)


def _other_set(counts_SA: np.ndarray) -> np.ndarray:
    """Return `pairs`, unless the set itself is K copies: then another action replaces one copy.

    NaN for K = 1, where no other set overlaps with the set.
    """
    size_S, most_S = counts_SA.sum(axis=-1), counts_SA.max(axis=-1)
    meeting_S = np.where(most_S == size_S, size_S * (size_S - 1.0), size_S * most_S)
    return np.where(meeting_S > 0, meeting_S, np.nan)


NORMALISERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pairs": _pairs,
    "intersection": lambda counts_SA: counts_SA.sum(axis=-1),
    "other_set": _other_set,
    "one": lambda counts_SA: np.ones(counts_SA.shape[:-1]),
}


@dataclass(frozen=True, eq=False)
class Conditions:
    """Def. 4.1 for the factors φ_R and φ_d of an objective, under one policy.

    Attributes:
        reward_covariance: Cov(φ_R, Σᵢ r(yᵢ)); condition 1 wants it positive.
        count_covariances_A: Cov(φ_d, #y) of every action; condition 2 wants them negative "for any
            y". They sum to 0, because the counts sum to K, so they are never all negative.
        reward_range: Smallest and largest φ_R over the sets that the policy can draw.
        diversity_range: Smallest and largest φ_d; condition 3 wants the two ranges to be equal.
    """

    reward_covariance: float
    count_covariances_A: np.ndarray
    reward_range: tuple[float, float]
    diversity_range: tuple[float, float]

    @property
    def same_range(self) -> bool:
        """Return whether condition 3 holds."""
        return bool(np.allclose(self.reward_range, self.diversity_range, rtol=1e-12, atol=1e-12))

    @property
    def discouraged_A(self) -> np.ndarray:
        """Return the actions for which condition 2 holds, beyond rounding."""
        return self.count_covariances_A < -ROUNDING * (1 + np.abs(self.diversity_range).max())


def polychromic_conditions(
    reward: Objective,
    diversity: Objective,
    table: ActionTable,
    policy_A: ArrayLike,
    set_size: int,
) -> Conditions:
    """Compute the three conditions of Def. 4.1, each with its number.

    Args:
        reward: φ_R.
        diversity: φ_d.
        table: The actions.
        policy_A: Probabilities (A,).
        set_size: K.
    """
    policy = check_policy(policy_A, table.num_actions)
    of_reward = TabularObjective(reward, table, set_size)
    of_diversity = TabularObjective(diversity, table, set_size)
    # Cov(φ, #y) is ∂E φ/∂z_y, so Cov(φ, Σ r) is the derivative weighted by rewards.
    weights_A = of_reward.gradient(policy)
    possible_S = of_reward.sets.chances(policy) > 0
    return Conditions(
        reward_covariance=float(weights_A @ table.samples.rewards[0]),
        count_covariances_A=of_diversity.gradient(policy),
        reward_range=_range(of_reward.scores_S[possible_S]),
        diversity_range=_range(of_diversity.scores_S[possible_S]),
    )


def _range(scores_S: np.ndarray) -> tuple[float, float]:
    return float(scores_S.min()), float(scores_S.max())


@dataclass(frozen=True, eq=False)
class HomogeneousScaffold:
    """Prop. 4.2 along a path: π(y) = p, the other actions in fixed proportions.

    Attributes:
        probabilities_G: p, a grid from 0 to 1 without its ends.
        scaffold_G: Λ(y…y) = p·A(y) at each.
        turns_negative_at: ε, above which Λ < 0 up to p = 1; NaN if Λ ≥ 0 close to 1, where the
            proposition's first half fails.
        slope_near_one: lim Λ/(1−p) for p → 1, which is Σ w(y')·[f(y…y) − f(y…y, y')] with the
            others' proportions w: its sign is the sign of Λ near 1.
        largest_over_bound: The largest Λ/√(p(1−p)/K) on the grid; the second half says ≤ 1.
    """

    probabilities_G: np.ndarray
    scaffold_G: np.ndarray
    turns_negative_at: float
    slope_near_one: float
    largest_over_bound: float


def homogeneous_scaffold(
    tabular: TabularObjective, policy_A: ArrayLike, action: int
) -> HomogeneousScaffold:
    """Follow the scaffold value of K copies of an action while its probability goes from 0 to 1.

    Args:
        tabular: The objective on its table.
        policy_A: Probabilities (A,): the proportions of the other actions are kept.
        action: y.
    """
    policy = check_policy(policy_A, tabular.table.num_actions)
    is_action_A = (np.arange(len(policy)) == action) * 1.0
    others_A = policy * (1 - is_action_A)
    if not others_A.any():
        raise ValueError(f"at least one action other than {action} must have positive probability")
    others_A = others_A / others_A.sum()

    def scaffold(p: np.ndarray) -> np.ndarray:
        policy_GA = p[..., None] * is_action_A + (1 - p[..., None]) * others_A
        return p * tabular.advantages(policy_GA)[..., action]

    p_G = np.arange(1, GRID) / GRID
    scaffold_G = scaffold(p_G)
    values_A = tabular.action_values(is_action_A)  # at p = 1: f(y…y) and f(y…y, y')
    slope = float(values_A[action] - others_A @ values_A)
    bound_G = np.sqrt(p_G * (1 - p_G) / tabular.set_size)
    negative_near_one = slope < -ROUNDING * np.ptp(tabular.scores_S)
    return HomogeneousScaffold(
        probabilities_G=p_G,
        scaffold_G=scaffold_G,
        turns_negative_at=_last_sign_change(scaffold, p_G, scaffold_G)
        if negative_near_one
        else np.nan,
        slope_near_one=slope,
        largest_over_bound=float((scaffold_G / bound_G).max()),
    )


def _last_sign_change(
    scaffold: Callable[[np.ndarray], np.ndarray], p_G: np.ndarray, scaffold_G: np.ndarray
) -> float:
    """Return the p above which the scaffold stays negative, by bisection; 0 if it always is."""
    not_negative = np.flatnonzero(scaffold_G >= 0)
    if not not_negative.size:
        return 0.0
    low, high = p_G[not_negative[-1]], np.append(p_G, 1.0)[not_negative[-1] + 1]
    while high - low > ROUNDING:
        middle = (low + high) / 2
        low, high = (middle, high) if scaffold(np.array(middle)) >= 0 else (low, middle)
    return float(low)


@dataclass(frozen=True)
class HeterogeneousScaffold:
    """Prop. 4.3 for one set: its scaffold value and the bound that the note gives.

    Attributes:
        value: Λ(y₁…y_K).
        bound: q·pᴷ·(1−p)/K. The proposition says that the value is larger. This is false for p
            close to 1/K, where every set overlaps equally with this one, and for q = 0.
    """

    value: float
    bound: float

    @property
    def holds(self) -> bool:
        """Return whether value > bound."""
        return self.value > self.bound


def heterogeneous_scaffold(
    tabular: TabularObjective, policy_A: ArrayLike, members: ArrayLike
) -> HeterogeneousScaffold:
    """Evaluate Prop. 4.3 for K different actions of one probability p, q of them with reward 1.

    Args:
        tabular: The objective on its table.
        policy_A: Probabilities (A,): equal for the members; all other actions have reward 0.
        members: (K,) different actions.
    """
    policy, set_A = check_policy(policy_A, tabular.table.num_actions), np.asarray(members)
    value = float(scaffold_values(tabular, policy, set_A[None])[0])
    p, rewards_A = float(policy[set_A[0]]), tabular.table.samples.rewards[0]
    outside_A = np.delete(np.arange(len(policy)), set_A)
    if len(set(set_A.tolist())) < len(set_A) or not np.allclose(policy[set_A], p):
        raise ValueError(f"members must be different and equally likely, got {set_A.tolist()}")
    if rewards_A[outside_A[policy[outside_A] > 0]].any():
        raise ValueError("actions that are not members must have reward 0")
    q = float((rewards_A[set_A] == 1).sum())
    return HeterogeneousScaffold(value, q * p**tabular.set_size * (1 - p) / tabular.set_size)
