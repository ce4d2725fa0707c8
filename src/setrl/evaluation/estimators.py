"""What n samples of a problem say about k of them: unbiased estimators, in closed form.

Axes: P problems, N samples of a problem (their number is ``n``), C labels of a problem's samples
(strategies, or final answers).

A metric "at k" is the expected value of a statistic of k fresh samples. Each function here
returns the mean of that statistic over all C(n, k) subsets of the n samples at hand, without
enumerating them; such a mean (a complete U-statistic) is unbiased for every k ≤ n, and nothing is
unbiased for k > n, which is therefore an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def hit_probabilities(n: int, k: int) -> Floats:
    """Probability that k of n samples, drawn without replacement, meet m marked ones.

        hit[m] = 1 − C(n−m, k) / C(n, k)        for m = 0 … n

    It is added up from its positive steps, hit[m+1] − hit[m] = k/(n−m) · C(n−m, k)/C(n, k), so
    that nothing overflows or cancels.

    >>> hit_probabilities(4, 2)
    array([0.        , 0.5       , 0.83333333, 1.        , 1.        ])
    """
    check_size(n, k)
    m = np.arange(n)
    miss = np.cumprod(np.concatenate([[1.0], np.maximum(n - k - m, 0) / (n - m)]))
    hit = np.concatenate([[0.0], np.cumsum(miss[:-1] * k / (n - m))])
    return np.where(miss > 0, np.minimum(hit, 1.0), 1.0)


def pass_at_k(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """Probability that at least one of k samples is correct.

        pass@k = 1 − C(n−c, k) / C(n, k)

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples a problem.
        k: Samples that one may try, 1 … n.

    Returns:
        (P,) values in [0, 1].

    Raises:
        ValueError: When k is not in [1, n] or a count not in [0, n].

    Chen et al. (arXiv:2107.03374), Eq. 1.

    >>> pass_at_k([0, 1, 2, 4], n=4, k=2)
    array([0.        , 0.5       , 0.83333333, 1.        ])
    """
    hit = hit_probabilities(n, k)
    return hit[checked_counts(correct_count_P, n)]


def pass_at_k_variance(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """Sampling variance of each problem's `pass_at_k`, estimated without bias.

        q(j) = C(n−c, j) / C(n, j)              share of j-subsets with no correct sample
        Var  = q(k)² − q(2k)

    Why: pass@k = 1 − q(k), and q(2k) is unbiased for (1−p)^(2k), the square of what q(k) is
    unbiased for. In terms of pairs of k-subsets, of which a share h(j) =
    C(k, j)·C(n−k, k−j)/C(n, k) overlap in j samples: q(k)² = Σ_j h(j)·q(2k−j), so
    Var = Σ_j h(j)·(q(2k−j) − q(2k)), which is never negative.

    Returns:
        (P,) variances; NaN for 2k > n, where no unbiased estimator exists.
    """
    check_size(n, k)
    counts = checked_counts(correct_count_P, n)
    if 2 * k > n:
        return np.full(counts.shape, np.nan)
    none_in_k = 1 - hit_probabilities(n, k)[counts]
    none_in_2k = 1 - hit_probabilities(n, 2 * k)[counts]
    return np.maximum(none_in_k**2 - none_in_2k, 0.0)


def max_at_k(rewards_PN: ArrayLike, k: int) -> Floats:
    """Expected largest reward among k samples.

        max@k = Σ_i C(i−1, k−1)/C(n, k) · r_(i)         r_(1) ≤ … ≤ r_(n)

    With rewards in {0, 1} this is pass@k.

    Args:
        rewards_PN: Rewards of each problem's n samples; a missing one (NaN) makes its problem NaN.
        k: Samples that one may try, 1 … n.

    Returns:
        (P,) values in the rewards' unit.

    Walder and Karkhanis (arXiv:2505.15201).

    >>> max_at_k([[0.0, 1.0, 3.0]], k=2)
    array([2.33333333])
    """
    rewards = np.asarray(rewards_PN, dtype=np.float64)
    n = rewards.shape[-1]
    steps = np.diff(hit_probabilities(n, k))
    return np.sort(rewards, axis=-1) @ steps[::-1]


def distinct_at_k(count_PC: ArrayLike, n: int, k: int) -> Floats:
    """Expected number of different labels among k samples (rarefaction).

        distinct@k = Σ_c 1 − C(n−m_c, k) / C(n, k)

    With m_c = samples that use strategy c it counts strategies; with m_c = *correct* samples that
    use it, a strategy counts when one of its correct samples is among the k.

    Args:
        count_PC: m_c for each problem; zeros pad problems that have fewer labels. Samples without
            a label are in no column, but are among the n.
        n: Samples a problem.
        k: Samples that one may try, 1 … n.

    Returns:
        (P,) values in [0, min(k, C)].

    Hurlbert (Ecology 52, 1971).

    >>> distinct_at_k([[2, 2], [4, 0]], n=4, k=2)
    array([1.66666667, 1.        ])
    """
    hit = hit_probabilities(n, k)
    return hit[checked_counts(count_PC, n)].sum(axis=-1)


def effective_number(count_PC: ArrayLike) -> Floats:
    """Number of equally common labels that would have the same entropy: exp(−Σ_c p_c log p_c).

    The shares p_c = m_c/Σm are those of the samples at hand (plug-in), so the value is low for
    small n; compare problems and arms at the same n only. NaN for a problem without labels.

    >>> effective_number([[5, 5, 0], [8, 0, 0]])
    array([2., 1.])
    """
    counts = np.asarray(count_PC, dtype=np.float64)
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    log_share = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.exp(-(share * log_share).sum(axis=-1))


def top_share(count_PC: ArrayLike, n: int) -> Floats:
    """Share of the commonest label among all n samples of a problem, max_c m_c / n.

    >>> top_share([[2, 1], [4, 0]], n=4)
    array([0.5, 1. ])
    """
    return checked_counts(count_PC, n).max(axis=-1) / n


@dataclass(frozen=True)
class LabelCounts:
    """How often each label occurs in each problem; columns are a problem's own labels.

    Attributes:
        all_PC: Samples with the label; zeros pad problems with fewer labels than the most.
        correct_PC: Correct samples with the label, in the same columns.
    """

    all_PC: Counts
    correct_PC: Counts


def count_labels(labels_PN: ArrayLike, correct_PN: ArrayLike) -> LabelCounts:
    """Count the samples, and the correct samples, of each label in each problem.

    Args:
        labels_PN: Integer label of each sample; a negative one (`setrl.DEGENERATE`) is no label.
        correct_PN: Whether each sample is correct.

    >>> count_labels([[7, 7, 3, -1]], [[1, 0, 1, 1]])
    LabelCounts(all_PC=array([[1, 2]]), correct_PC=array([[1, 1]]))
    """
    labels, correct = np.asarray(labels_PN), np.asarray(correct_PN, dtype=bool)
    if labels.shape != correct.shape:
        raise ValueError(
            f"labels and correct must have the same shape, got {labels.shape} and {correct.shape}"
        )
    problem, sample = np.nonzero(labels >= 0)
    names, name = np.unique(labels[problem, sample], return_inverse=True)
    pairs, pair = np.unique(problem * max(len(names), 1) + name, return_inverse=True)
    row = pairs // max(len(names), 1)
    column = np.arange(len(pairs)) - np.searchsorted(row, row)
    counts = np.zeros((2, len(labels), column.max(initial=0) + 1), dtype=np.int64)
    counts[0, row, column] = np.bincount(pair, minlength=len(pairs))
    counts[1, row, column] = np.bincount(pair[correct[problem, sample]], minlength=len(pairs))
    return LabelCounts(all_PC=counts[0], correct_PC=counts[1])


def check_size(n: int, k: int) -> None:
    """Refuse a k that n samples say nothing about."""
    if not 1 <= k <= n:
        raise ValueError(f"k must be in [1, {n}], the number of samples a problem, got {k}")


def checked_counts(counts: ArrayLike, n: int) -> Counts:
    """The counts as int64, refused unless they are integers in [0, n]."""
    array = np.asarray(counts)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"counts must be integers, got {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > n):
        raise ValueError(f"counts must be in [0, {n}], got {array.min()} … {array.max()}")
    return array.astype(np.int64)
