"""How far metrics at k would move with other samples of the same problem: exact variances.

A metric at k is the mean U of a statistic over all k-subsets. Two disjoint subsets are independent
draws, so that the mean of the product over all pairs of disjoint k-subsets is unbiased for the
square of the true value, and

    Var = U² − mean over disjoint pairs (A, B) of statistic(A) · statistic(B)

is unbiased for the variance of U, whatever the problem. It takes 2k ≤ n samples; for more there is
no unbiased estimator, and the functions return NaN. A single problem's value may come out below 0
(not for pass@k); add values over problems before taking a root, as `sampling_stderr` does.

Each function finds the mean over pairs in closed form. `pass_at_k_variance` stands beside
`pass_at_k`. Majority vote has no closed form here: intervals over problems contain its noise, as
they contain that of all metrics.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import (
    Counts,
    Floats,
    check_size,
    checked_counts,
    hit_probabilities,
)
from setrl.evaluation.reliability import hypergeometric, needed_of
from setrl.evaluation.selection import Places, by_proxy, level_sizes, tie_means


def g_pass_at_k_variance(correct_count_P: ArrayLike, n: int, k: int, tau: float) -> Floats:
    """Sampling variance of each problem's `g_pass_at_k`, estimated without bias.

    With y of 2k samples correct, a of them in the first half: the product's mean is
    w(y) = Σ_a h(2k, k, y; a)·[a ≥ m]·[y−a ≥ m], m = ⌈τ·k⌉, averaged over the law of y.

    Returns:
        (P,) variances; NaN for 2k > n.
    """
    check_size(n, k)
    counts, needed = checked_counts(correct_count_P, n), needed_of(k, tau)
    if 2 * k > n:
        return np.full(counts.shape, np.nan)
    y, a = np.arange(2 * k + 1)[:, None], np.arange(k + 1)
    both_Y = (hypergeometric(2 * k, k, y[:, 0]) * ((a >= needed) & (y - a >= needed))).sum(axis=1)
    different, place = np.unique(counts, return_inverse=True)
    value = hypergeometric(n, k, different)[:, needed:].sum(axis=1)
    variance = value**2 - hypergeometric(n, 2 * k, different) @ both_Y
    return variance[place.reshape(counts.shape)]


def max_at_k_variance(rewards_PN: ArrayLike, k: int) -> Floats:
    """Sampling variance of each problem's `max_at_k`, estimated without bias.

    Returns:
        (P,) variances in the rewards' unit squared; NaN for 2k > n or a missing reward.
    """
    return best_of_k_variance(rewards_PN, rewards_PN, k)


def best_of_k_variance(rewards_PN: ArrayLike, proxy_PN: ArrayLike, k: int) -> Floats:
    """Sampling variance of each problem's `best_of_k`, estimated without bias.

        mean over pairs = 2/T · Σ_{i<j} C(i−1, k−1)·C(j−1−k, k−1) · r_[i]·r_[j]
        T = C(n, k)·C(n−k, k)

    for samples in ascending order of the proxy: the lower subset's best is i, and the upper's
    other members are among the j−1 below j less the k that are taken. Two samples with the same
    score stand in either order, so r_[i]·r_[j] is the mean over the pairs of their level.

    Returns:
        (P,) variances in the rewards' unit squared; NaN for 2k > n or a missing value.
    """
    rewards, proxy = (np.asarray(array, dtype=np.float64) for array in (rewards_PN, proxy_PN))
    n = rewards.shape[1]
    check_size(n, k)
    if 2 * k > n:
        return np.full(len(rewards), np.nan)
    sorted_PN, start_PN = by_proxy(rewards, proxy)
    mean_PN = tie_means(sorted_PN, start_PN)
    value_P = mean_PN @ np.diff(hit_probabilities(n, k))[::-1]
    mean_PN = mean_PN - value_P[:, None]  # a shift changes no variance, and loses fewer digits
    lower_N, upper_N = _pair_weights(n, k)
    below_PN = (mean_PN * lower_N).cumsum(axis=1) - mean_PN * lower_N
    pairs_P = (mean_PN * upper_N * below_PN).sum(axis=1)
    pairs_P -= _within_levels(sorted_PN, start_PN, lower_N, upper_N)
    missing_P = np.isnan(rewards).any(axis=1) | np.isnan(proxy).any(axis=1)
    return np.where(missing_P, np.nan, -2 * pairs_P)


def distinct_at_k_variance(count_PC: ArrayLike, n: int, k: int) -> Floats:
    """Sampling variance of each problem's `distinct_at_k`, estimated without bias.

        Var = Σ_c Σ_d q(m_c)·q(m_d) − q(c, d)

    with q(m) the chance that a k-subset misses m samples, and q(c, d) that one misses label c and
    another, disjoint one misses label d. Takes time ∝ C²·k a problem.

    Returns:
        (P,) variances; NaN for 2k > n.
    """
    check_size(n, k)
    counts_PC = checked_counts(count_PC, n)
    if 2 * k > n:
        return np.full(len(counts_PC), np.nan)
    return np.array([_distinct_variance(row[row > 0], n, k) for row in counts_PC])


def _pair_weights(n: int, k: int) -> tuple[Floats, Floats]:
    """C(i−1, k−1)/C(n, k) and C(j−1−k, k−1)/C(n−k, k), of the samples in ascending order."""
    lower_N, upper_N = np.diff(hit_probabilities(n, k))[::-1], np.zeros(n)
    upper_N[k:] = np.diff(hit_probabilities(n - k, k))[::-1]
    return lower_N, upper_N


def _within_levels(sorted_PN: Floats, start_PN: Places, lower_N: Floats, upper_N: Floats) -> Floats:
    """What pairs of one level have too much when the square of its mean stands for their product.

    The mean of r_i·r_j over the pairs i ≠ j of b values is mean² − variance/(b−1).
    """
    spread_PN = tie_means((sorted_PN - tie_means(sorted_PN, start_PN)) ** 2, start_PN)
    size_PN = level_sizes(start_PN)
    before_N = lower_N.cumsum() - lower_N
    pair_weight_PN = upper_N * (before_N - before_N[start_PN])
    return (pair_weight_PN * spread_PN / np.maximum(size_PN - 1, 1)).sum(axis=1)


def _distinct_variance(counts_C: Counts, n: int, k: int) -> float:
    """The variance of one problem, from its different numbers of samples a label."""
    m_U, repeats_U = np.unique(counts_C, return_counts=True)
    miss_U = 1 - hit_probabilities(n, k)[m_U]
    miss_both_U = 1 - hit_probabilities(n, 2 * k)[m_U]  # one label twice
    apart_UU = miss_U[:, None] * miss_U - _miss_each(m_U, n, k)
    twice_U = miss_U**2 - miss_both_U
    return float(
        repeats_U @ apart_UU @ repeats_U - repeats_U @ np.diag(apart_UU) + repeats_U @ twice_U
    )


def _miss_each(m_U: Counts, n: int, k: int) -> Floats:
    """Chance (U, U) that a k-subset misses c samples and a disjoint one misses d others.

        Σ_a C(d, a)·C(n−c−d, k−a)/C(n, k) · C(n−k−d+a, k)/C(n−k, k)

    a: how many of the d the first subset takes. Sizes that do not fit together (c + d > n) are no
    two labels of a problem and stand as 0.
    """
    joint_UU = np.zeros((len(m_U), len(m_U)))
    for row, c in enumerate(m_U):
        missed = 1 - hit_probabilities(n, k)[c]
        fits = m_U <= n - c
        if missed == 0 or not fits.any():
            continue
        taken_Ua = hypergeometric(n - c, k, m_U[fits])  # given that the c are missed
        left_Ua = np.clip(m_U[fits][:, None] - np.arange(k + 1), 0, n - k)
        joint_UU[row, fits] = missed * (taken_Ua * (1 - hit_probabilities(n - k, k)[left_Ua])).sum(
            1
        )
    return joint_UU
