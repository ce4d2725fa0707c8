"""Speculars: actions without which another action loses its positive signal (Set RL, Section 5).

Diminishing the actions X removes them from the policy and spreads their mass evenly over the
remaining actions. X is a specular set of y if y's scaffold value is positive before and negative
after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_policy
from setrl.theory.tabular import TabularObjective

MAX_SUBSETS = 1_000_000
CHUNK = 1 << 21  # multisets × actions × policies evaluated at once
ROUNDING = 1e-12  # share of the range of scores below which an advantage has no sign


@dataclass(frozen=True)
class SpecularSets:
    """The smallest specular sets of an action: its strong speculars.

    Attributes:
        action: y.
        advantage: A(y) under the policy; if it is not positive, y has no speculars.
        sets: With `search` all smallest sets in lexicographic order; with `scan` one of them; empty
            if there is none. There may be several smallest sets, unlike "the smallest set" of the
            note.
        found_by: `search` over all subsets, or `scan` of the likeliest 1, 2, … other actions.
    """

    action: int
    advantage: float
    sets: tuple[tuple[int, ...], ...]
    found_by: Literal["search", "scan"]

    @property
    def size(self) -> int | None:
        """Return the number of actions in a smallest specular set; None if no such set exists."""
        return len(self.sets[0]) if self.sets else None


def diminish(policy_A: ArrayLike, removed: ArrayLike) -> np.ndarray:
    """π'(y) = π(y) + φ on the remaining support: the policy without the actions X (Def. 5.1).

    φ = Σ_{x∈X} π(x) / |𝒢|: the removed mass over the number of remaining actions. Example 5.4 uses
    the mass of 𝒢 itself instead; its probabilities then do not sum to 1.

    Args:
        policy_A: Probabilities (A,).
        removed: (k,) actions, or (…, A) bool for many X at once.

    >>> diminish([0.6, 0.3, 0.1], [0])
    array([0. , 0.6, 0.4])
    """
    policy = check_policy(policy_A)
    removed_A = _as_mask(removed, len(policy))
    left_A = ~removed_A & (policy > 0)
    num_left = left_A.sum(axis=-1, keepdims=True)
    if not num_left.all():
        raise ValueError(
            "at least one action of positive probability must remain, but "
            f"all of {np.flatnonzero(policy).tolist()} are removed"
        )
    mass = np.where(removed_A, policy, 0.0).sum(axis=-1, keepdims=True)
    return np.where(left_A, policy + mass / num_left, 0.0)


def is_specular(
    tabular: TabularObjective, policy_A: ArrayLike, action: int, removed: ArrayLike
) -> np.ndarray:
    """Return whether X is a specular set of `action` (Def. 5.2): Λ > 0 before, < 0 without X.

    Λ = π·A has the sign of A on the support and is 0 off it. Signs are taken beyond rounding.
    """
    policy = _check(tabular, policy_A, action)
    after = diminish(policy, removed)
    tiny = ROUNDING * np.ptp(tabular.scores_S)
    before_positive = policy[action] > 0 and tabular.advantages(policy)[action] > tiny
    negative = (after[..., action] > 0) & (tabular.advantages(after)[..., action] < -tiny)
    return negative & before_positive


def smallest_speculars(
    tabular: TabularObjective,
    policy_A: ArrayLike,
    action: int,
    found_by: Literal["search", "scan"] | None = None,
) -> SpecularSets:
    """Find the smallest sets of actions without which `action` would lose probability.

    Args:
        tabular: The objective on its table.
        policy_A: Probabilities (A,).
        action: y.
        found_by: `search` tries all subsets, smallest first, and is always correct. `scan` removes
            the most probable other actions, one after the other. It is correct for f = 1{not all
            alike}: proved for K = 2 in docs/theory-proofs.md, and without exception in tests for
            K = 3, 4, 5. The default is the scan for that objective and the search otherwise.
    """
    policy = _check(tabular, policy_A, action)
    chosen = found_by or ("scan" if scores_dissimilarity(tabular) else "search")
    if chosen not in ("search", "scan"):
        raise ValueError(f"found_by must be 'search' or 'scan', got {found_by!r}")
    advantage = float(tabular.advantages(policy)[action])
    others = [a for a in np.flatnonzero(policy).tolist() if a != action]
    tried = _likeliest(policy, others) if chosen == "scan" else _subsets(others)
    for subsets_SA in tried:
        good_S = [
            is_specular(tabular, policy, action, _masks(part, len(policy)))
            for part in _chunks(subsets_SA, tabular)
        ]
        sets = tuple(
            subset for subset, good in zip(subsets_SA, np.concatenate(good_S), strict=True) if good
        )
        if sets:
            return SpecularSets(action, advantage, sets, chosen)
    return SpecularSets(action, advantage, (), chosen)


def scores_dissimilarity(tabular: TabularObjective) -> bool:
    """Return whether f is a + b·1{not all members are the same action}, b > 0 (Ex. 3.6, 5.4)."""
    scores_S = tabular.scores_S
    alike_S = tabular.sets.counts_SA.max(axis=1) == tabular.set_size
    tiny = ROUNDING * np.ptp(scores_S)
    if alike_S.all() or np.ptp(scores_S[alike_S]) > tiny or np.ptp(scores_S[~alike_S]) > tiny:
        return False
    return bool(scores_S[~alike_S][0] > scores_S[alike_S][0])


def _likeliest(policy: np.ndarray, others: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield the most probable other action, the two most probable, and so on, up to all but one."""
    ordered = sorted(others, key=lambda a: -policy[a])
    for size in range(1, len(others)):
        yield [tuple(sorted(ordered[:size]))]


def _subsets(others: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield all proper subsets of the other actions, by size (Prop. 5.3 excludes the whole set)."""
    for size in range(1, len(others)):
        if comb(len(others), size) > MAX_SUBSETS:
            raise ValueError(
                f"the search would try {comb(len(others), size):,} sets of {size} out of "
                f"{len(others)} actions, more than {MAX_SUBSETS:,}: use found_by='scan'"
            )
        yield list(combinations(others, size))


def _chunks(
    subsets: list[tuple[int, ...]], tabular: TabularObjective
) -> Iterator[list[tuple[int, ...]]]:
    """Split the list into parts that are small enough to evaluate at once."""
    step, rest = max(1, CHUNK // tabular.sets.counts_SA.size), iter(subsets)
    while part := list(islice(rest, step)):
        yield part


def _masks(subsets: list[tuple[int, ...]], num_actions: int) -> np.ndarray:
    masks_SA = np.zeros((len(subsets), num_actions), dtype=bool)
    np.put_along_axis(masks_SA, np.array(subsets), True, axis=1)
    return masks_SA


def _as_mask(removed: ArrayLike, num_actions: int) -> np.ndarray:
    given = np.asarray(removed)
    if given.dtype == bool:
        if given.shape[-1:] != (num_actions,):
            raise ValueError(
                f"removed, given as a mask, must have {num_actions} columns, got {given.shape}"
            )
        return given
    mask_A = np.zeros(num_actions, dtype=bool)
    for action in given.ravel().tolist():
        _check_action(action, num_actions)
        mask_A[action] = True
    return mask_A


def _check(tabular: TabularObjective, policy_A: ArrayLike, action: int) -> np.ndarray:
    _check_action(action, tabular.table.num_actions)
    return check_policy(policy_A, tabular.table.num_actions)


def _check_action(action: int, num_actions: int) -> None:
    if action != int(action) or not 0 <= action < num_actions:
        raise ValueError(f"actions must be integers in [0, {num_actions - 1}], got {action}")
