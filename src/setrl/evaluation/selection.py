"""Best of k under a proxy: what a selector gets that cannot see the rewards."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setrl.evaluation.estimators import Floats, hit_probabilities

Places = NDArray[np.int64]


def best_of_k(rewards_PN: ArrayLike, proxy_PN: ArrayLike, k: int) -> Floats:
    """Expected reward of the sample with the highest proxy score among k.

        best_of@k = Σ_i C(i−1, k−1)/C(n, k) · r_[i]       proxy_[1] ≤ … ≤ proxy_[n]

    Among equal proxy scores the choice is drawn uniformly. With the reward as its own proxy it is
    `max_at_k`; with a constant proxy it is the mean reward at every k.

    Args:
        rewards_PN: Rewards of each problem's n samples.
        proxy_PN: What the selector goes by, the higher the better: a reward model's score, a
            length, a likelihood. A missing (NaN) reward or score makes its problem NaN.
        k: Samples that are selected from, 1 … n.

    Returns:
        (P,) values in the rewards' unit.

    >>> best_of_k([[0.0, 1.0, 0.0]], [[0.1, 0.9, 0.5]], k=2)
    array([0.66666667])
    """
    rewards, proxy = (np.asarray(array, dtype=np.float64) for array in (rewards_PN, proxy_PN))
    if rewards.shape != proxy.shape or rewards.ndim != 2:
        raise ValueError(f"rewards and proxy must have one shape (P, N), got {rewards.shape} "
                         f"and {proxy.shape}")  # fmt: skip
    n = rewards.shape[1]
    steps = np.diff(hit_probabilities(n, k))[::-1]
    values = tie_means(*by_proxy(rewards, proxy)) @ steps
    return np.where(np.isnan(rewards).any(axis=1) | np.isnan(proxy).any(axis=1), np.nan, values)


def by_proxy(rewards_PN: Floats, proxy_PN: Floats) -> tuple[Floats, Places]:
    """Rewards in ascending order of the proxy, and where the level of each begins.

    A level is what has the same proxy score.
    """
    order = np.argsort(proxy_PN, axis=1, kind="stable")
    proxy = np.take_along_axis(proxy_PN, order, axis=1)
    begins = np.diff(proxy, axis=1, prepend=proxy[:, :1]) > 0
    start_PN = np.maximum.accumulate(np.where(begins, np.arange(proxy.shape[1]), 0), axis=1)
    return np.take_along_axis(rewards_PN, order, axis=1), start_PN


def level_sizes(start_PN: Places) -> Places:
    """How many values are at the level of each."""
    place = _level(start_PN)
    return np.bincount(place, minlength=start_PN.size)[place].reshape(start_PN.shape)


def tie_means(values_PN: Floats, start_PN: Places) -> Floats:
    """Each value replaced by the mean over its level."""
    place = _level(start_PN)
    total = np.bincount(place, weights=values_PN.ravel(), minlength=values_PN.size)
    return total[place].reshape(values_PN.shape) / level_sizes(start_PN)


def _level(start_PN: Places) -> Places:
    """A number for each level of each problem."""
    rows, columns = start_PN.shape
    return (np.arange(rows)[:, None] * columns + start_PN).ravel()
