"""Multisets of actions: all possible results of K independent draws, without their order.

C(A+K−1, K) multisets represent A^K tuples: 462 for 46,656 at A = K = 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from setrl.core.inputs import check_set_size
from setrl.core.objectives.ranks import check_count

MAX_MULTISETS = 1_000_000


@dataclass(frozen=True, eq=False)
class Multisets:
    """Every multiset of K out of A actions.

    Attributes:
        sets_SK: The actions of each multiset, ascending.
        counts_SA: How often each multiset holds each action, float64; rows sum to K.
        orderings_S: How many tuples each multiset represents: K! / Π counts!.
    """

    sets_SK: np.ndarray
    counts_SA: np.ndarray
    orderings_S: np.ndarray

    def chances(self, policy_A: np.ndarray) -> np.ndarray:
        """P(S) of K independent draws, shape (…, S)."""
        # exp(−1e4) is 0, so a set with an action of probability 0 gets probability 0 exactly.
        log_A = np.where(policy_A > 0, np.log(np.where(policy_A > 0, policy_A, 1.0)), -1e4)
        return self.orderings_S * np.exp(log_A @ self.counts_SA.T)

    def mean_given(self, policy_A: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return E[value | the first draw is action a], shape (…, A).

        Args:
            policy_A: Probabilities (…, A).
            values: A number per multiset, (…, S, 1), or per multiset and action, (S, A).
        """
        if not (policy_A > 0).all():
            return (self.chances_given(policy_A) * values).sum(axis=-2)
        chances_S = self.chances(policy_A)
        if values.shape[-1] == 1:
            return (chances_S * values[..., 0]) @ self._share_SA / policy_A
        return chances_S @ (values * self._share_SA) / policy_A

    def chances_given(self, policy_A: np.ndarray) -> np.ndarray:
        """P(S | the first draw is action a), shape (…, S, A), also for actions of probability 0.

        It is P(S)·count_a / (K·π_a), computed without the division by π_a.
        """
        powers_SA = policy_A[..., None, :] ** self.counts_SA
        less_SA = policy_A[..., None, :] ** np.maximum(self.counts_SA - 1, 0)
        return self.orderings_S[:, None] * self._share_SA * less_SA * _product_of_others(powers_SA)

    @cached_property
    def _share_SA(self) -> np.ndarray:
        """P(the first draw is a | the multiset)."""
        return self.counts_SA / self.sets_SK.shape[1]


def multisets(num_actions: int, set_size: int) -> Multisets:
    """Return all multisets of `set_size` out of `num_actions` actions.

    Raises:
        ValueError: If there is no action, or there are more than `MAX_MULTISETS`.
    """
    check_set_size(set_size)
    check_count("num_actions", num_actions, 1)
    total = comb(num_actions + set_size - 1, set_size)
    if total > MAX_MULTISETS:
        raise ValueError(
            f"{set_size} draws of {num_actions} actions make {total:,} multisets, more than the "
            f"{MAX_MULTISETS:,} that can be enumerated: use fewer actions or draws"
        )
    return _multisets(num_actions, set_size)


@lru_cache(maxsize=16)
def _multisets(num_actions: int, set_size: int) -> Multisets:
    flat = (
        action
        for chosen in combinations_with_replacement(range(num_actions), set_size)
        for action in chosen
    )
    sets_SK = np.fromiter(flat, dtype=np.intp).reshape(-1, set_size)
    counts_SA = np.zeros((len(sets_SK), num_actions), dtype=np.int64)
    np.add.at(counts_SA, (np.arange(len(sets_SK))[:, None], sets_SK), 1)
    choose = np.array([[comb(n, k) for k in range(set_size + 1)] for n in range(set_size + 1)])
    drawn_SA = counts_SA.cumsum(axis=1)
    orderings_S = choose.astype(np.float64)[drawn_SA.astype(int), counts_SA.astype(int)].prod(
        axis=1
    )
    for array in (sets_SK, counts_SA, orderings_S):
        array.flags.writeable = False
    return Multisets(sets_SK, counts_SA, orderings_S)


def _product_of_others(values: np.ndarray) -> np.ndarray:
    """Return, for each place on the last axis, the product of the values at all other places."""
    ones = np.ones((*values.shape[:-1], 1))
    before = np.cumprod(np.concatenate([ones, values[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, values[..., :0:-1]], axis=-1), axis=-1)
    return before * after[..., ::-1]
