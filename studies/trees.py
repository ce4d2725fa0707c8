"""Rollout trees, sampled: what the values of `studies.sequential` are the means of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_policy
from studies.sequential import SetMDP

MAX_STATES = 10_000_000  # of one depth, in all trees together


def sample_returns(
    mdp: SetMDP,
    policy_XA: ArrayLike,
    state: int,
    *,
    depth: int,
    num_trees: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Σ_{t<depth} γ^t Σ_{i=1}^{K^t} f(x_t⁽ⁱ⁾, a⁽ⁱ⁾) of independent trees, shape (num_trees,).

    Their mean is V♯(state) less what lies below `depth`, at most max|f|·(γK)^depth / (1 − γK).

    Args:
        mdp: The process.
        policy_XA: What the actions of every node are drawn from.
        state: The root of the trees.
        depth: How many levels of sets are drawn.
        num_trees: How many trees.
        rng: Draws actions and states.

    Raises:
        ValueError: If the last level has too many states to hold.

    >>> from setrl import objectives
    >>> from setrl.theory import ActionTable, TabularObjective
    >>> score = TabularObjective(objectives.max(), ActionTable([1, 1]), set_size=2)
    >>> mdp = SetMDP([[[1.0], [1.0]]], [score], gamma=0.25)  # every set scores 1
    >>> rng = np.random.default_rng(0)
    >>> sample_returns(mdp, [[0.5, 0.5]], 0, depth=3, num_trees=2, rng=rng)  # 1 + 2/4 + 4/16
    array([1.75, 1.75])
    """
    returns_T = np.zeros(num_trees)
    for t, (states_TN, sets_TN) in enumerate(_levels(mdp, policy_XA, state, depth, num_trees, rng)):
        returns_T += mdp.gamma**t * mdp.scores_XS[states_TN, sets_TN].sum(axis=1)
    return returns_T


def _levels(
    mdp: SetMDP,
    policy_XA: ArrayLike,
    state: int,
    depth: int,
    num_trees: int,
    rng: np.random.Generator,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each depth, the K^t states of each tree and the sets that are drawn there, by number."""
    size = mdp.set_size
    if num_trees * size ** (depth - 1) > MAX_STATES:
        raise ValueError(
            f"{num_trees} trees have {num_trees * size ** (depth - 1):,} states at depth "
            f"{depth - 1}, more than {MAX_STATES:,}: take a smaller depth or fewer trees"
        )
    policy = check_policy(policy_XA, mdp.moves_XAX.shape[1])
    numbers = _set_numbers(mdp)
    states_TN = np.full((num_trees, 1), state)
    for _ in range(depth):
        actions_TNK = _draw(policy[states_TN][..., None, :].repeat(size, axis=-2), rng)
        yield states_TN, numbers[tuple(np.moveaxis(np.sort(actions_TNK, axis=-1), -1, 0))]
        moves_TNKX = mdp.moves_XAX[states_TN[..., None], actions_TNK]
        states_TN = _draw(moves_TNKX, rng).reshape(num_trees, -1)


def _draw(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One index from each distribution on the last axis."""
    edges = chances.cumsum(axis=-1)
    return (rng.random((*chances.shape[:-1], 1)) * edges[..., -1:] >= edges).sum(axis=-1)


def _set_numbers(mdp: SetMDP) -> np.ndarray:
    """Where each ascending tuple of K actions stands among the multisets, shape (A, …, A)."""
    sets_SK = mdp.scores[0].sets.sets_SK
    numbers = np.zeros((mdp.moves_XAX.shape[1],) * mdp.set_size, dtype=np.intp)
    numbers[tuple(sets_SK.T)] = np.arange(len(sets_SK))
    return numbers
