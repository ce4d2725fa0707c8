"""Set policy iteration and set Q-learning on small processes.

Two optima differ here. A *policy* draws the K actions of a set independently, so it cannot promise
that they differ; a *planner* picks the set. Set policy iteration climbs to a policy; Q-learning
over sets finds the planner's values, which bound those of every policy from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from studies.sequential import SetMDP


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
    """A policy whose expected sets are worth at least as much at every state, given V♯ of the old.

    π(a|x) ← π(a|x)·Q(x, a) / Σ_b π(b|x)·Q(x, b),   Q(x, a) = E[Q♯(x, S) | a₁ = a] − min Q♯(x, ·)

    E Q♯(x, S) is a polynomial in π(·|x) of degree K, and Q/K its slopes; with coefficients that are
    not negative such a step never lowers it (Baum and Eagon 1967). For K = 1 and many sweeps it is
    the greedy policy. The improvement carries over to V♯ by the performance-difference lemma.

    Args:
        mdp: The process.
        policy_XA: The old policy; an action of probability 0 stays there.
        sweeps: How many such steps are taken with the old values.
    """
    values_X = mdp.values(policy_XA)
    policy = np.asarray(policy_XA, dtype=np.float64)
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
    policies = [np.asarray(start_XA, dtype=np.float64)]
    for _ in range(iterations):
        policies.append(improve(mdp, policies[-1], sweeps))
    return PolicyIteration(np.stack(policies), np.stack([mdp.values(p) for p in policies]))


def planned_values(mdp: SetMDP, tolerance: float = 1e-12) -> np.ndarray:
    """Q♯*(x, S) = f(x, S) + γ Σ_{a∈S} E max_{S'} Q♯*(x', S'), shape (X, S): sets are chosen.

    By value iteration, which contracts by γK.
    """
    values_XS = mdp.scores_XS
    while True:
        next_XS = mdp.set_values(values_XS.max(axis=1))
        if np.abs(next_XS - values_XS).max() <= tolerance * (1 - mdp.reach):
            return next_XS
        values_XS = next_XS


def q_learning(
    mdp: SetMDP, *, steps: int, rng: np.random.Generator, checkpoints: int = 50
) -> tuple[np.ndarray, np.ndarray]:
    """Q-learning over sets from sampled branches, every state and set tried at random.

    Q(x, S) ← Q(x, S) + η·(f(x, S) + γ Σ_{a∈S} max_{S'} Q(x'_a, S') − Q(x, S)),   η = m^(−0.6)

    with m how often (x, S) was tried and x'_a a sampled successor for each member.

    Args:
        mdp: The process.
        steps: How many (state, set) pairs are tried.
        rng: Draws pairs and successors.
        checkpoints: At how many moments the error is taken.

    Returns:
        The steps at which the error was taken, and there max |Q − Q♯*|, both (checkpoints,).
    """
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
    return taken_at, np.array([errors[at] for at in taken_at.tolist()])
