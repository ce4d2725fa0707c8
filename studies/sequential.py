"""Set RL in sequence: at every visited state K actions are drawn, and each leads on.

The rollout is a tree with K^t states at depth t. Set RL note, §2.1. Axes: X states, A actions, S
multisets of K actions. A policy is policy_XA, its actions drawn independently at every node.

The value of a tree is that of an ordinary process with discount γK and reward f̄_π(x), which depends
on the policy:

    V♯ = f̄_π + γK·P_π V♯,   f̄_π(x) = E f(x, a₁…a_K),   γ < 1/K

>>> from setrl import objectives
>>> from setrl.theory import ActionTable
>>> score = TabularObjective(objectives.max(), ActionTable([1, 0]), set_size=2)
>>> mdp = SetMDP(transitions_XAX=[[[1.0], [1.0]]], scores=[score], gamma=0.25)
>>> mdp.values([[0.5, 0.5]])  # 0.75 / (1 − 0.25·2)
array([1.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_policy
from setrl.theory.tabular import TabularObjective


@dataclass(frozen=True, eq=False)
class SetMDP:
    """A finite Markov decision process whose reward is a set objective's.

    Attributes:
        transitions_XAX: P(x' | x, a), shape (X, A, X).
        scores: For each state, the objective on a table of its A actions; one K for all.
        gamma: γ, from 0 to below 1/K.
    """

    transitions_XAX: ArrayLike
    scores: Sequence[TabularObjective]
    gamma: float

    def __post_init__(self) -> None:
        shape = np.shape(self.transitions_XAX)
        if len(shape) != 3 or shape[0] != shape[2] or 0 in shape:
            raise ValueError(f"transitions_XAX must have shape (X, A, X), got {shape}")
        check_policy(self.transitions_XAX)
        wanted = {(shape[1], score.set_size) for score in self.scores}
        if len(self.scores) != shape[0] or len(wanted) != 1:
            raise ValueError(
                f"scores must hold one objective for each of {shape[0]} states, all of one "
                f"set_size, got {len(self.scores)} of sizes {sorted({k for _, k in wanted})}"
            )
        for x, score in enumerate(self.scores):
            if score.table.num_actions != shape[1]:
                raise ValueError(
                    f"scores[{x}] must be over {shape[1]} actions, got {score.table.num_actions}"
                )
        if not 0 <= self.gamma < 1 / self.set_size:
            raise ValueError(
                f"gamma must be in [0, 1/{self.set_size}) for set_size={self.set_size}, or the sum "
                f"over the tree has no bound; got {self.gamma}"
            )

    @property
    def set_size(self) -> int:
        """K: how many actions are drawn at a state."""
        return self.scores[0].set_size

    @property
    def reach(self) -> float:
        """γK, the discount of the tree's values: below 1."""
        return self.gamma * self.set_size

    @property
    def num_states(self) -> int:
        """X."""
        return self.moves_XAX.shape[0]

    @cached_property
    def moves_XAX(self) -> np.ndarray:
        """P(x' | x, a), float64."""
        return np.asarray(self.transitions_XAX, dtype=np.float64)

    @cached_property
    def counts_SA(self) -> np.ndarray:
        """How often each multiset of K actions holds each action."""
        return self.scores[0].sets.counts_SA

    @cached_property
    def scores_XS(self) -> np.ndarray:
        """f of every multiset at every state."""
        return np.stack([score.scores_S for score in self.scores])

    def steps(self, policy_XA: ArrayLike) -> np.ndarray:
        """P_π(x' | x), the way of one branch, shape (X, X)."""
        return np.einsum("xa,xay->xy", self._policy(policy_XA), self.moves_XAX)

    def rewards(self, policy_XA: ArrayLike) -> np.ndarray:
        """f̄_π(x) = E f(x, a₁…a_K), shape (X,)."""
        return self._mean(self.scores_XS, self._policy(policy_XA))

    def values(self, policy_XA: ArrayLike) -> np.ndarray:
        """V♯ = (I − γK·P_π)⁻¹ f̄_π, shape (X,): Set RL note, Eq. 3."""
        matrix_XX = np.eye(self.num_states) - self.reach * self.steps(policy_XA)
        return np.linalg.solve(matrix_XX, self.rewards(policy_XA))

    def set_values(self, values_X: np.ndarray) -> np.ndarray:
        """Q♯(x, S) = f(x, S) + γ Σ_{a∈S} E V♯(x'), shape (X, S): Eq. 4, given the values V♯."""
        return self.scores_XS + self.gamma * (self.moves_XAX @ values_X) @ self.counts_SA.T

    def set_advantages(self, policy_XA: ArrayLike) -> np.ndarray:
        """A♯(x, S) = Q♯(x, S) − V♯(x), shape (X, S)."""
        values_X = self.values(policy_XA)
        return self.set_values(values_X) - values_X[:, None]

    def action_values(self, policy_XA: ArrayLike, values_X: np.ndarray | None = None) -> np.ndarray:
        """E[Q♯(x, S) | a₁ = a], the other K−1 actions from π; shape (X, A).

        Args:
            policy_XA: π.
            values_X: V♯ of what follows; that of π unless given.
        """
        policy = self._policy(policy_XA)
        values_X = self.values(policy) if values_X is None else values_X
        chances_XSA = self.scores[0].sets.chances_given(policy)
        return np.einsum("xsa,xs->xa", chances_XSA, self.set_values(values_X))

    def occupancy(self, policy_XA: ArrayLike, start_X: ArrayLike) -> np.ndarray:
        """d♯(x) = (1 − γK) Σ_t (γK)^t P(x_t = x), shape (X,): the weight of a state in the tree.

        The discount is γK, for depth t has K^t states, each discounted by γ^t. Lemma 2.2 of the Set
        RL note holds with this d♯; it does not with the stationary distribution that it names, nor
        with discount γ.
        """
        matrix_XX = np.eye(self.num_states) - self.reach * self.steps(policy_XA).T
        return (1 - self.reach) * np.linalg.solve(matrix_XX, check_policy(start_X, self.num_states))

    def performance_difference(
        self, new_XA: ArrayLike, old_XA: ArrayLike, start_X: ArrayLike
    ) -> float:
        """E_{x~d♯ of new} E_{S~new} A♯ of old / (1 − γK), which is V♯ of new − V♯ of old."""
        gain_X = self._mean(self.set_advantages(old_XA), self._policy(new_XA))
        return float(self.occupancy(new_XA, start_X) @ gain_X / (1 - self.reach))

    def gradient(self, policy_XA: ArrayLike, start_X: ArrayLike) -> np.ndarray:
        """∂V♯(start)/∂z_xa = d♯(x)/(1 − γK) · K·π(a|x)·(action value − V♯(x)), shape (X, A).

        z are the logits of a softmax policy at each state.
        """
        policy = self._policy(policy_XA)
        gain_XA = self.action_values(policy) - self.values(policy)[:, None]
        weight_X = self.occupancy(policy, start_X) / (1 - self.reach)
        return weight_X[:, None] * self.set_size * policy * gain_XA

    def _mean(self, numbers_XS: np.ndarray, policy_XA: np.ndarray) -> np.ndarray:
        """E over the sets that the policy draws at each state."""
        return (self.scores[0].sets.chances(policy_XA) * numbers_XS).sum(axis=-1)

    def _policy(self, policy_XA: ArrayLike) -> np.ndarray:
        shape = self.moves_XAX.shape[:2]
        if np.shape(policy_XA) != shape:
            raise ValueError(
                f"policy_XA must have shape {shape}, one row a state, got {np.shape(policy_XA)}"
            )
        return check_policy(policy_XA)
