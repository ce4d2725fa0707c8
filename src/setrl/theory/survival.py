"""Which strategies an objective keeps in the long run, if each strategy keeps its success rate.

A policy chooses among strategies; a sample of strategy c is correct with probability s_c for every
share q_c. The strategy of a wrong sample is recognised too. Proofs are in docs/theory-proofs.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.inputs import check_set_size
from setrl.core.objectives.ranks import check_count
from setrl.theory.policies import check_policy


def water_filling(success_C: ArrayLike, alpha: float = 1.0) -> np.ndarray:
    """Return the best shares for (1 − α)·mean reward + α·polychromic, with sets of two.

        q_c = (1 − λ/s_c)₊ / α,   λ = (m − α) / Σ 1/s_c over the m strategies with s_c > λ

    α = 1 is Poly-EPO with K = 2. Equal strategies get equal shares for every α > 0.

    >>> water_filling([0.9, 0.8, 0.4]).round(3)
    array([0.529, 0.471, 0.   ])
    """
    success = _check_some_success(success_C)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be above 0 and at most 1, got {alpha}")
    best = np.sort(success[success > 0])[::-1]
    levels = (np.arange(1, len(best) + 1) - alpha) / np.cumsum(1 / best)
    # A strategy survives if it is above the level of all better strategies; the level then rises.
    above = np.append(0.0, levels[:-1])
    level = levels[np.flatnonzero(best > above)[-1]]
    shares = np.where(success > level, 1 - level / np.where(success > 0, success, 1.0), 0.0)
    return shares / alpha


def critical_success(shares_C: ArrayLike, success_C: ArrayLike, set_size: int) -> float:
    """Return the success above which a new strategy has a positive polychromic advantage.

        s_crit = (K²·J − (K−1)·E[R̄(1 + D)]) / E[1 + D]

    D is the number of strategies among K − 1 samples of the incumbents, R̄ their mean reward. For
    K = 2, at the incumbents' best shares, it is the λ of `water_filling`. If it is below 0, a
    strategy that is always wrong is encouraged too.
    """
    success = _check_success(success_C)
    shares = check_policy(shares_C, shape=success.shape, called="shares_C")
    check_set_size(set_size)
    k, right = set_size, shares * success
    accuracy = right.sum()
    num_strategies = (1 - (1 - shares) ** (k - 1)).sum()
    missed = _power(1 - shares, k - 2)
    # Σ of rewards × strategies, over the K members of a set and over K − 1 of them.
    whole = k * (accuracy - (accuracy - right) * (1 - shares) ** (k - 1)).sum()
    without_one = (k - 1) * (accuracy + (accuracy - (accuracy - right) * missed).sum())
    return float((whole - without_one) / (1 + num_strategies))


def counts_shares(success_C: ArrayLike, num_samples: int, alpha: float = 0.0) -> np.ndarray:
    """Return the best shares for concave counts, Σ_c Σ_{j ≤ m_c} j^(α−1) of N samples.

        s_c·E[(1 + M)^(α−1)] = λ for each survivor, M ~ Bin(N − 1, q_c·s_c)

    A strategy survives if s_c > λ. For many samples, shares are ∝ s_c^(α/(1−α)): equal for α = 0.

    >>> counts_shares([0.9, 0.5, 0.05], num_samples=16).round(3)
    array([0.503, 0.497, 0.   ])
    """
    success = _check_some_success(success_C)
    check_count("num_samples", num_samples, 1)
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha must be in [0, 1), got {alpha}")
    pay_N = np.arange(1, num_samples + 1) ** (alpha - 1.0)

    def shares_at(level: np.ndarray) -> np.ndarray:
        """Return each strategy's q at which the marginal pay s·E pay(1 + M) falls to the level."""
        ones = np.ones_like(success)
        return _bisect(lambda q: success * _mean_pay(q * success, pay_N) > level, ones)

    shares = shares_at(_bisect(lambda level: shares_at(level).sum() > 1, np.asarray(success.max())))
    return shares / shares.sum()


def _bisect(is_below: Callable[[np.ndarray], ArrayLike], high: np.ndarray) -> np.ndarray:
    """Return the numbers from 0 to `high` up to which `is_below` holds, by halving intervals."""
    low: np.ndarray = np.zeros_like(high)
    for _ in range(40):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low


def _mean_pay(chance_C: np.ndarray, pay_N: np.ndarray) -> np.ndarray:
    """E pay(1 + M), M ~ Bin(N − 1, chance)."""
    num = len(pay_N) - 1
    m_n = np.arange(num + 1)
    ways_n = np.append(1.0, np.cumprod((num - m_n[:-1]) / (m_n[:-1] + 1)))
    chance = chance_C[:, None]
    return (ways_n * chance**m_n * (1 - chance) ** (num - m_n)) @ pay_N


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    """base^exponent; 0 for K − 2 = −1, where there is no other member."""
    return base**exponent if exponent >= 0 else np.zeros_like(base)


def _check_some_success(success_C: ArrayLike) -> np.ndarray:
    success = _check_success(success_C)
    if not success.any():
        raise ValueError("at least one strategy must have success above 0, got only zeros")
    return success


def _check_success(success_C: ArrayLike) -> np.ndarray:
    success = np.asarray(success_C, dtype=np.float64)
    if success.ndim != 1 or not success.size or not ((success >= 0) & (success <= 1)).all():
        raise ValueError(f"success_C must be (C,) numbers in [0, 1], got {success.tolist()}")
    return success
