"""How reliably problems are solved: Cover@τ, G-Pass@k.

pass@k asks for one correct sample among k, which many guesses at a short answer will give; these
ask for a share τ of the samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Floats, check_size, checked_counts


def hypergeometric(n: int, k: int, counts_U: ArrayLike) -> Floats:
    """Probability that k of n samples, drawn without replacement, hold j of c marked ones.

        h[c, j] = C(c, j) · C(n−c, k−j) / C(n, k)       for j = 0 … k

    Args:
        n: Samples.
        k: Samples that are drawn, 1 … n.
        counts_U: The numbers c of marked samples, 0 … n.

    Returns:
        (U, k+1) probabilities; each row sums to 1.

    >>> hypergeometric(4, 2, [2]).round(6)
    array([[0.166667, 0.666667, 0.166667]])
    """
    check_size(n, k)
    c, j = checked_counts(counts_U, n)[..., None], np.arange(k + 1)
    log_factorial = np.array([math.lgamma(i + 1) for i in range(n + 1)])
    possible = (j <= c) & (k - j <= n - c)
    inside, outside = np.where(possible, c - j, 0), np.where(possible, n - c - (k - j), 0)
    log_ways = log_factorial[c] - log_factorial[inside] + log_factorial[n - c]
    log_ways = log_ways - log_factorial[outside] - log_factorial[j] - log_factorial[k - j]
    log_all = log_factorial[n] - log_factorial[k] - log_factorial[n - k]
    chance = np.where(possible, np.exp(np.where(possible, log_ways - log_all, 0.0)), 0.0)
    return chance / chance.sum(axis=-1, keepdims=True)


def g_pass_at_k(correct_count_P: ArrayLike, n: int, k: int, tau: float) -> Floats:
    """Probability that at least a share τ of k samples is correct.

        G-Pass@k_τ = Σ_{j ≥ ⌈τ·k⌉} C(c, j)·C(n−c, k−j) / C(n, k)

    τ ≤ 1/k gives pass@k, τ = 1 the probability that all k are correct.

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples a problem.
        k: Samples that are drawn, 1 … n.
        tau: The share asked for, in (0, 1].

    Returns:
        (P,) values in [0, 1].

    Liu et al., "Are Your LLMs Capable of Stable Reasoning?" (arXiv:2412.13147).

    >>> g_pass_at_k([0, 2, 4], n=4, k=2, tau=1.0).round(6)
    array([0.      , 0.166667, 1.      ])
    """
    return _solved_at_least(correct_count_P, n, k)[..., needed_of(k, tau)]


def mean_g_pass_at_k(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """G-Pass@k averaged over the shares τ above one half: mG-Pass@k.

        mG-Pass@k = 2/k · Σ_{i = ⌈k/2⌉+1}^{k} G-Pass@k_{i/k}

    the sum form of 2·∫_{1/2}^1 G-Pass@k_τ dτ. For odd k it has (k−1)/2 terms, so that it stays
    below 1 by 1/k; k = 1 has none, and is NaN.

    Liu et al. (arXiv:2412.13147).

    >>> mean_g_pass_at_k([2, 4], n=4, k=4)
    array([0., 1.])
    """
    check_size(n, k)
    first = math.ceil(k / 2) + 1
    if k == 1:
        return np.full(checked_counts(correct_count_P, n).shape, np.nan)
    return 2 / k * _solved_at_least(correct_count_P, n, k)[..., first:].sum(axis=-1)


def cover_at(correct_count_P: ArrayLike, n: int, tau: float) -> Floats:
    """Whether a problem's success rate is at least τ; the mean over problems is Cover@τ.

        Cover@τ = share of problems with p ≥ τ          here c/n ≥ τ

    pass@k weights it: pass@k = ∫₀¹ k(1−τ)^(k−1) · Cover@τ dτ, with nearly all weight on τ ≲ 1/k.

    A share of problems above a threshold has no unbiased estimator from n samples a problem: this
    one takes the rate at hand for the rate (plug-in), and errs where rates lie within about
    √(τ(1−τ)/n) of τ. `g_pass_at_k` at the same τ is its unbiased relative, and equals it at k = n.

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples a problem.
        tau: The rate asked for, in (0, 1].

    Returns:
        (P,) values, 0 or 1.

    "Beyond pass@k" (arXiv:2510.08325) has the metric.

    >>> cover_at([0, 3, 8], n=10, tau=0.3)
    array([0., 1., 1.])
    """
    counts = checked_counts(correct_count_P, n)
    return (counts >= needed_of(n, tau)).astype(np.float64)


def needed_of(k: int, tau: float) -> int:
    """⌈τ·k⌉, with τ·k rounded first: 0.07 · 100 is 7, not a little more.

    >>> needed_of(100, 0.07), needed_of(4, 0.01)
    (7, 1)
    """
    if not 0 < tau <= 1:
        raise ValueError(f"tau must be in (0, 1], got {tau}")
    return math.ceil(round(tau * k, 9))


def _solved_at_least(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """Probability (P, k+1) that j or more of k samples are correct."""
    check_size(n, k)
    counts = checked_counts(correct_count_P, n)
    different, place = np.unique(counts, return_inverse=True)
    chance = hypergeometric(n, k, different)
    at_least = np.minimum(chance[:, ::-1].cumsum(axis=1)[:, ::-1], 1.0)
    return at_least[place.reshape(counts.shape)]
