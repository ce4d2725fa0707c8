"""Sets over time: the value of drawing K actions at every state that a tree of rollouts reaches.

Each of the K actions leads to a next state, so a tree has K^t states at depth t (Set RL note,
§2.1). Axes: X states, A actions, S multisets of K actions. A policy is policy_XA; its actions are
drawn independently at every node. The value of a tree is the value of an ordinary process with
discount γK and a reward f̄_π(x) that depends on the policy:

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

from setrl.core.objectives.ranks import check_count
from setrl.theory.policies import check_policy, shift_logits
from setrl.theory.tabular import TabularObjective


@dataclass(frozen=True, eq=False)
class SetMDP:
    """A finite Markov decision process with a set objective as its reward.

    Attributes:
        transitions_XAX: P(x' | x, a), shape (X, A, X); the last axis sums to 1.
        scores: For each state, the objective on a table of its actions; all have one K and one A.
        gamma: γ, from 0 to below 1/K.
    """

    transitions_XAX: ArrayLike
    scores: Sequence[TabularObjective]
    gamma: float

    def __post_init__(self) -> None:
        _check_scores(self.scores)
        if not 0 <= self.gamma < 1 / self.set_size:
            raise ValueError(
                f"gamma must be in [0, 1/{self.set_size}) for set_size={self.set_size}, or the sum "
                f"over the tree has no bound; got {self.gamma}"
            )
        shape = (self.num_states, self.num_actions, self.num_states)
        if np.shape(self.transitions_XAX) != shape:
            raise ValueError(
                f"transitions_XAX must have shape (X, A, X) = {shape}, as scores has one of "
                f"{self.num_actions} actions for each state; got {np.shape(self.transitions_XAX)}"
            )
        assert self.moves_XAX.size  # it raises where they are not probabilities

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
        return len(self.scores)

    @property
    def num_actions(self) -> int:
        """A."""
        return self.scores[0].table.num_actions

    @cached_property
    def moves_XAX(self) -> np.ndarray:
        """P(x' | x, a), float64."""
        moves = check_policy(self.transitions_XAX, called="transitions_XAX").copy()
        moves.setflags(write=False)  # it is kept: a change would change later values
        return moves

    @cached_property
    def counts_SA(self) -> np.ndarray:
        """Return how often each multiset of K actions holds each action."""
        return self.scores[0].sets.counts_SA

    @cached_property
    def scores_XS(self) -> np.ndarray:
        """f of every multiset at every state."""
        return np.stack([score.scores_S for score in self.scores])

    def steps(self, policy_XA: ArrayLike) -> np.ndarray:
        """P_π(x' | x), the way of one branch, shape (X, X)."""
        return np.einsum("xa,xay->xy", self._check_policy(policy_XA), self.moves_XAX)

    def rewards(self, policy_XA: ArrayLike) -> np.ndarray:
        """f̄_π(x) = E f(x, a₁…a_K), shape (X,)."""
        chances_XS = self.scores[0].sets.chances(self._check_policy(policy_XA))
        return (chances_XS * self.scores_XS).sum(axis=-1)

    def values(self, policy_XA: ArrayLike) -> np.ndarray:
        """V♯ = (I − γK·P_π)⁻¹ f̄_π, shape (X,): Set RL note, Eq. 3."""
        matrix_XX = np.eye(self.num_states) - self.reach * self.steps(policy_XA)
        return np.linalg.solve(matrix_XX, self.rewards(policy_XA))

    def set_values(self, values_X: ArrayLike) -> np.ndarray:
        """Q♯(x, S) = f(x, S) + γ Σ_{a∈S} E V♯(x'), shape (X, S): Eq. 4, given the values V♯."""
        values = np.asarray(values_X, dtype=np.float64)
        if values.shape != (self.num_states,) or not np.isfinite(values).all():
            raise ValueError(
                f"values_X must be {self.num_states} finite numbers, one for each state, got "
                f"{values.tolist()}"
            )
        return self.scores_XS + self.gamma * (self.moves_XAX @ values) @ self.counts_SA.T

    def action_values(self, policy_XA: ArrayLike, values_X: np.ndarray | None = None) -> np.ndarray:
        """E[Q♯(x, S) | a₁ = a], the other K−1 actions from π; shape (X, A).

        Args:
            policy_XA: π.
            values_X: V♯ of what follows; by default V♯ of π.
        """
        policy = self._check_policy(policy_XA)
        values_X = self.values(policy) if values_X is None else values_X
        chances_XSA = self.scores[0].sets.chances_given(policy)
        return np.einsum("xsa,xs->xa", chances_XSA, self.set_values(values_X))

    def occupancy(self, policy_XA: ArrayLike, start_X: ArrayLike) -> np.ndarray:
        """d♯(x) = (1 − γK) Σ_t (γK)^t Pr(x_t = x), shape (X,): the discounted share of visits.

        The distribution of Lemma 2.2. The note calls it stationary, but the lemma holds with this
        one, and neither with the stationary distribution nor with the discount γ.

        Args:
            policy_XA: π.
            start_X: The distribution of the first state.
        """
        start = check_policy(start_X, shape=(self.num_states,), called="start_X")
        matrix_XX = np.eye(self.num_states) - self.reach * self.steps(policy_XA).T
        return np.linalg.solve(matrix_XX, (1 - self.reach) * start)

    def set_advantages(self, policy_XA: ArrayLike) -> np.ndarray:
        """A♯(x, S) = Q♯(x, S) − V♯(x), shape (X, S)."""
        values_X = self.values(policy_XA)
        return self.set_values(values_X) - values_X[:, None]

    def gap(self, new_XA: ArrayLike, old_XA: ArrayLike, start_X: ArrayLike) -> float:
        """E_{x~d♯_new} E_{S~new} A♯_old(x, S) / (1 − γK) = V♯_new(x₀) − V♯_old(x₀): Lemma 2.2."""
        chances_XS = self.scores[0].sets.chances(self._check_policy(new_XA))
        gains_X = (chances_XS * self.set_advantages(old_XA)).sum(axis=-1)
        return float(self.occupancy(new_XA, start_X) @ gains_X / (1 - self.reach))

    def advantages(self, policy_XA: ArrayLike) -> np.ndarray:
        """A(x, a) = E[Q♯(x, S) | a₁ = a] − V♯(x), the marginal set advantage, shape (X, A)."""
        policy = self._check_policy(policy_XA)
        return self.action_values(policy) - self.values(policy)[:, None]

    def gradient(self, policy_XA: ArrayLike, start_X: ArrayLike) -> np.ndarray:
        """∂V♯(x₀)/∂z = K/(1 − γK)·d♯(x)·π(a|x)·A(x, a), with logits z; shape (X, A).

        The policy gradient theorem on trees: it follows from Lemma 2.2.

        Args:
            policy_XA: π, softmax of z.
            start_X: The distribution of x₀.
        """
        policy = self._check_policy(policy_XA)
        return self._discounted_visits(policy, start_X) * policy * self.advantages(policy)

    def _discounted_visits(self, policy_XA: np.ndarray, start_X: ArrayLike) -> np.ndarray:
        """K·Σ_t (γK)^t Pr(x_t = x), shape (X, 1): how many actions the tree draws at each state."""
        visits_X = self.occupancy(policy_XA, start_X) / (1 - self.reach)
        return self.set_size * visits_X[:, None]

    def _check_policy(self, policy_XA: ArrayLike) -> np.ndarray:
        shape = (self.num_states, self.num_actions)
        return check_policy(policy_XA, shape=shape, called="policy_XA")


def _check_scores(scores: Sequence[TabularObjective]) -> None:
    if not isinstance(scores, Sequence) or not scores:
        raise ValueError(f"scores must be a list of an objective for each state, got {scores!r}")
    if wrong := [score for score in scores if not isinstance(score, TabularObjective)]:
        raise ValueError(f"scores must hold TabularObjective values, got {wrong[0]!r}")
    for name, read in (
        ("set_size", lambda score: score.set_size),
        ("number of actions", lambda score: score.table.num_actions),
    ):
        values = [read(score) for score in scores]
        if len(set(values)) > 1:
            raise ValueError(f"all states must have one {name}, got {values}")


@dataclass(frozen=True, eq=False)
class PolicyIteration:
    """The path of set policy iteration.

    Attributes:
        policies_TXA: The policy of every iteration, the start first.
        values_TX: Their values V♯.
    """

    policies_TXA: np.ndarray
    values_TX: np.ndarray


def improve(mdp: SetMDP, policy_XA: ArrayLike, sweeps: int = 1) -> np.ndarray:
    """Return a policy whose sets are worth at least as much at every state, given V♯ of the old.

    π(a|x) ← π(a|x)·Q(x, a) / Σ_b π(b|x)·Q(x, b),   Q(x, a) = E[Q♯(x, S) | a₁ = a] − min Q♯(x, ·)

    E Q♯(x, S) is a polynomial in π(·|x) of degree K, and Q/K its slopes; with coefficients that are
    not negative such a step never lowers it (Baum and Eagon 1967). For K = 1 and many sweeps it is
    the greedy policy. The improvement carries over to V♯ by the performance-difference lemma.

    Args:
        mdp: The process.
        policy_XA: The old policy; an action of probability 0 stays there.
        sweeps: How many such steps are taken with the old values.
    """
    check_count("sweeps", sweeps, 1)
    policy, values_X = np.asarray(policy_XA, dtype=np.float64), mdp.values(policy_XA)
    lowest_X1 = mdp.set_values(values_X).min(axis=1, keepdims=True)
    for _ in range(sweeps):
        weight_XA = policy * (mdp.action_values(policy, values_X) - lowest_X1)
        total_X1 = weight_XA.sum(axis=1, keepdims=True)
        # A state where every set is worth the lowest value has nothing to choose.
        policy = np.where(total_X1 > 0, weight_XA / np.where(total_X1 > 0, total_X1, 1.0), policy)
    return policy


def policy_iteration(
    mdp: SetMDP, start_XA: ArrayLike, *, iterations: int = 50, sweeps: int = 20
) -> PolicyIteration:
    """Evaluate exactly, improve at every state, repeat.

    V♯ never falls. The objective is not concave in the policy for K > 1, so where it ends can
    depend on the start.
    """
    check_count("iterations", iterations, 1)
    policies = [np.asarray(start_XA, dtype=np.float64)]
    for _ in range(iterations):
        policies.append(improve(mdp, policies[-1], sweeps))
    return PolicyIteration(np.stack(policies), np.stack([mdp.values(p) for p in policies]))


def ppo_step(
    mdp: SetMDP,
    policy_XA: ArrayLike,
    start_X: ArrayLike,
    *,
    learning_rate: float,
    epochs: int = 10,
    clip: float = 0.2,
) -> np.ndarray:
    """Return the policy after E gradient steps on PPO's clipped objective, in expectation.

        K/(1 − γK)·Σ_x d♯(x) Σ_a π_old(a|x)·min(ρA, clip(ρ, 1 − ε, 1 + ε)·A),   ρ = π/π_old

    A(x, a) is the marginal set advantage of the old policy, which "replaces the standard advantage"
    (Set RL note, §2.3), and d♯ its occupancy. The first step is along `SetMDP.gradient`, where ρ is
    1 everywhere; one epoch is a step of policy gradient.

    Args:
        mdp: The process.
        policy_XA: π_old, softmax of the logits that move; probability 0 stays.
        start_X: The distribution of the first state.
        learning_rate: Of each of the E steps.
        epochs: E.
        clip: ε.
    """
    if not (learning_rate > 0 and clip > 0):
        raise ValueError(f"learning_rate and clip must be positive, got {learning_rate} and {clip}")
    check_count("epochs", epochs, 1)
    old, advantages_XA = mdp._check_policy(policy_XA), mdp.advantages(policy_XA)
    weight_XA, policy = mdp._discounted_visits(old, start_X) * advantages_XA, old
    for _ in range(epochs):
        gained_XA = np.sign(advantages_XA) * (policy - old)
        kept_XA = np.where(gained_XA <= clip * old, weight_XA * policy, 0.0)
        slope_XA = kept_XA - policy * kept_XA.sum(axis=1, keepdims=True)
        policy = shift_logits(policy, learning_rate * slope_XA)
    return policy


def planned_values(mdp: SetMDP, tolerance: float = 1e-12) -> np.ndarray:
    """Q♯*(x, S) = f(x, S) + γ Σ_{a∈S} E max_{S'} Q♯*(x', S'), shape (X, S): sets are chosen.

    By value iteration, which contracts by γK.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")
    values_XS = mdp.scores_XS
    while True:
        next_XS = mdp.set_values(values_XS.max(axis=1))
        if np.abs(next_XS - values_XS).max() <= tolerance * (1 - mdp.reach):
            return next_XS
        values_XS = next_XS


@dataclass(frozen=True, eq=False)
class QLearning:
    """What set Q-learning has found.

    Attributes:
        values_XS: Q(x, S) at the end.
        steps_T: The numbers of updates after which the error was taken.
        errors_T: max |Q − Q♯*| at these moments.
    """

    values_XS: np.ndarray
    steps_T: np.ndarray
    errors_T: np.ndarray


def q_learning(
    mdp: SetMDP, *, steps: int, rng: np.random.Generator, checkpoints: int = 50
) -> QLearning:
    """Learn Q over sets from sampled branches, with every state and set tried at random.

    Q(x, S) ← Q(x, S) + η·(f(x, S) + γ Σ_{a∈S} max_{S'} Q(x'_a, S') − Q(x, S)),   η = m^(−0.6)

    where (x, S) was tried m times and x'_a is a sampled successor for each member.

    Args:
        mdp: The process.
        steps: How many (state, set) pairs are tried.
        rng: Draws pairs and successors.
        checkpoints: At how many moments the error is taken.
    """
    check_count("steps", steps, 1)
    check_count("checkpoints", checkpoints, 1)
    num_states, num_sets = mdp.scores_XS.shape
    sets_SK, edges_XAX = mdp.scores[0].sets.sets_SK, mdp.moves_XAX.cumsum(axis=-1)
    table_XS, tries_XS = np.zeros((num_states, num_sets)), np.zeros((num_states, num_sets))
    target_XS = planned_values(mdp)
    taken_at = np.unique(np.geomspace(1, steps, checkpoints).astype(int))
    errors = dict.fromkeys(taken_at.tolist(), 0.0)
    states, sets = rng.integers(num_states, size=steps), rng.integers(num_sets, size=steps)
    for step in range(steps):
        x, s = states[step], sets[step]
        edges_KX = edges_XAX[x, sets_SK[s]]
        branches_K = (rng.random((len(edges_KX), 1)) * edges_KX[:, -1:] >= edges_KX).sum(axis=1)
        goal = mdp.scores_XS[x, s] + mdp.gamma * table_XS[branches_K].max(axis=1).sum()
        tries_XS[x, s] += 1
        table_XS[x, s] += (goal - table_XS[x, s]) * tries_XS[x, s] ** -0.6
        if step + 1 in errors:
            errors[step + 1] = float(np.abs(table_XS - target_XS).max())
    return QLearning(table_XS, taken_at, np.array([errors[at] for at in taken_at.tolist()]))
