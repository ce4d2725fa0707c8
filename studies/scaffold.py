"""Scaffold values: whether sets like this one score above the average (Set RL, Def. 3.1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from setrl.support import names
from setrl.theory.policies import check_policy
from setrl.theory.tabular import TabularObjective


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
