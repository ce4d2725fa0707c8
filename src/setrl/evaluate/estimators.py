"""Estimators for a problem: from counts of its samples (pass@k), and of what two samples share.

Axes: P problems, N samples of a problem (their number is ``n``), C labels of a problem's samples.

A metric "at k" is the expected value of a statistic of k fresh samples. Its estimate is the mean
of the statistic over all C(n, k) subsets of the n samples of a problem, in closed form; such a
mean (a complete U-statistic) is unbiased for every k ≤ n, and nothing is unbiased for k > n, which
is therefore an error. All of them are `setrl.mean_set_scores` of an objective; this module has
those that need no more than counts, and the prefixes that two samples share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setrl.core.objectives.chances import chances, marked_chances
from setrl.core.objectives.labels import find_labels

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
More = ParamSpec("More")
OfCounts = Callable[Concatenate[ArrayLike, int, More], Floats]
OfCountsAndSizes = Callable[Concatenate[ArrayLike, ArrayLike, More], Floats]


def _for_each_n(function: OfCounts[More]) -> OfCountsAndSizes[More]:
    """Extend a function of (counts, n, …) to problems that differ in n: one n for each row."""

    @wraps(function)
    def of_sizes(
        counts: ArrayLike, n: ArrayLike, *args: More.args, **kwargs: More.kwargs
    ) -> Floats:
        if np.ndim(n) == 0:
            return function(counts, n, *args, **kwargs)  # type: ignore[arg-type]
        n_P, rows = np.asarray(n), np.asarray(counts)
        if n_P.shape != rows.shape[:1]:
            raise ValueError(f"n must be one number or one for each of {len(rows)} problems, "
                             f"got {n_P.shape}")  # fmt: skip
        result = np.full(rows.shape, np.nan)
        for size in np.unique(n_P):
            result[n_P == size] = function(rows[n_P == size], int(size), *args, **kwargs)
        return result

    return of_sizes


@_for_each_n
def pass_at_k(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """Probability that at least one of k samples is correct.

        pass@k = 1 − C(n−c, k) / C(n, k)

    It is `mean_set_scores` of `objectives.any_correct()`, for those who have counts.

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples of a problem; one number, or (here and below) one for each problem.
        k: Samples that one may try, 1 … n.

    Returns:
        Values in [0, 1], in the shape of the counts.

    Raises:
        ValueError: When k is not in [1, n] or a count not in [0, n].

    Chen et al. (arXiv:2107.03374), Eq. 1.

    >>> pass_at_k([0, 1, 2, 4], n=4, k=2)
    array([0.        , 0.5       , 0.83333333, 1.        ])
    """
    _check_size(n, k)
    return chances(n, k).hit[_checked_counts(correct_count_P, n)]


@_for_each_n
def g_pass_at_k(correct_count_P: ArrayLike, n: int, k: int, tau: float) -> Floats:
    """Probability that at least a share τ of k samples is correct.

        G-Pass@k_τ = Σ_{j ≥ ⌈τ·k⌉} C(c, j)·C(n−c, k−j) / C(n, k)

    τ ≤ 1/k gives pass@k, which many guesses at a short answer reach; τ = 1 gives the probability
    that all k are correct.

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples of a problem.
        k: Samples that are drawn, 1 … n.
        tau: The share that is needed, in (0, 1].

    Returns:
        (P,) values in [0, 1].

    Liu et al., "Are Your LLMs Capable of Stable Reasoning?" (arXiv:2412.13147).

    >>> g_pass_at_k([0, 2, 4], n=4, k=2, tau=1.0).round(6)
    array([0.      , 0.166667, 1.      ])
    """
    return _correct_at_least(correct_count_P, n, k)[..., needed_of(k, tau)]


@_for_each_n
def mean_g_pass_at_k(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """G-Pass@k averaged over the shares τ above one half: mG-Pass@k.

        mG-Pass@k = 2/k · Σ_{i = ⌈k/2⌉+1}^{k} G-Pass@k_{i/k}

    the sum form of 2·∫_{1/2}^1 G-Pass@k_τ dτ. For odd k it has (k−1)/2 terms, so that it stays
    below 1 by 1/k; for k = 1 the sum is empty, and the value is NaN.

    Liu et al. (arXiv:2412.13147).

    >>> mean_g_pass_at_k([2, 4], n=4, k=4)
    array([0., 1.])
    """
    at_least = _correct_at_least(correct_count_P, n, k)
    if k == 1:
        return np.full(at_least.shape[:-1], np.nan)
    return 2 / k * at_least[..., math.ceil(k / 2) + 1 :].sum(axis=-1)


@_for_each_n
def cover_at(correct_count_P: ArrayLike, n: int, tau: float) -> Floats:
    """Whether a problem's success rate is at least τ; the mean over problems is Cover@τ.

        Cover@τ = share of problems with p ≥ τ          here c/n ≥ τ

    pass@k weights it: pass@k = ∫₀¹ k(1−τ)^(k−1) · Cover@τ dτ, with nearly all weight on τ ≲ 1/k.

    A share of problems above a threshold has no unbiased estimator from n samples of a problem.
    This one uses the observed rate c/n instead of p (plug-in), and errs where p lies within about
    √(τ(1−τ)/n) of τ. `g_pass_at_k` at the same τ is its unbiased relative, and equals it at k = n.

    Args:
        correct_count_P: Number c of correct samples among the n of each problem, 0 … n.
        n: Samples of a problem.
        tau: The rate that is needed, in (0, 1].

    Returns:
        (P,) values, 0 or 1.

    Dragoi et al., "Beyond pass@k" (arXiv:2510.08325).

    >>> cover_at([0, 3, 8], n=10, tau=0.3)
    array([0., 1., 1.])
    """
    return (_checked_counts(correct_count_P, n) >= needed_of(n, tau)).astype(np.float64)


def majority_answer(answers: Sequence[str | None]) -> str | None:
    """Return the commonest answer of all samples; among answers that tie, the first one.

    Samples without an answer (None) abstain. That the first answer wins a tie is common practice on
    leaderboards and depends on the order of the samples; `objectives.majority()` draws ties
    uniformly, and does not.

    Args:
        answers: The samples' final answers, in their order.

    Returns:
        The answer; None when all samples abstain.

    >>> majority_answer(["5", "1", None, "1", "5"]), majority_answer([None])
    ('5', None)
    """
    votes = Counter(answer for answer in answers if answer is not None)
    return max(votes, key=votes.__getitem__, default=None)


def count_labels(labels_PN: ArrayLike) -> Counts:
    """How many samples of each problem have each label; columns are a problem's own labels.

    Args:
        labels_PN: Integer label of each sample; −1 (`setrl.DEGENERATE`) without a label.

    Returns:
        (P, C) counts; zeros pad problems with fewer labels than others.

    >>> count_labels([[7, 7, 3, -1], [7, 7, 7, 7]])
    array([[1, 2],
           [4, 0]])
    """
    size_PC, _ = find_labels(np.asarray(labels_PN)).sizes(by_size=False)
    return size_PC if size_PC.size else np.zeros((len(size_PC), 1), dtype=np.int64)


def effective_number(count_PC: ArrayLike) -> Floats:
    """Return exp(−Σ_c p_c log p_c): how many equally common labels have the same entropy.

    It uses the observed shares p_c = m_c/Σm (plug-in), so the value is low for small n; compare
    problems and arms at the same n only. NaN for a problem without labels.

    >>> effective_number([[5, 5, 0], [8, 0, 0]])
    array([2., 1.])
    """
    counts = np.asarray(count_PC, dtype=np.float64)
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    log_share = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.exp(-(share * log_share).sum(axis=-1))


def corrected_entropy(count_PC: ArrayLike) -> Floats:
    """Entropy of the labels in nats, with a bias that is known and falls geometrically in M.

        H = Σ_c m_c/M · (ψ(M) − ψ(m_c)) = Σ_c m_c/M · Σ_{j=m_c}^{M−1} 1/j       M = Σ_c m_c

    Entropy is Σ_{r≥1} Σ_c p_c·(1−p_c)^r / r. M samples estimate its first M−1 terms without bias,
    and their sum is this value; no estimator is unbiased for all terms. The plug-in value is too
    low by about (C−1)/(2M), this one only by labels that M samples hardly ever show.

    Args:
        count_PC: Samples with each label; zeros pad.

    Returns:
        (P,) values in [0, Σ_{j<M} 1/j]; NaN for a problem without labelled samples.

    Zhang (Neural Computation 24, 2012).

    >>> corrected_entropy([[4, 0], [1, 1]])
    array([0., 1.])
    """
    counts = np.asarray(count_PC, dtype=np.int64)
    total = counts.sum(axis=-1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, max(total.max(initial=1), 2)))])
    # harmonic[m] is Σ_{j ≤ m} 1/j, so that Σ_{j=m}^{M−1} 1/j is harmonic[M−1] − harmonic[m−1]
    last = harmonic[np.maximum(total - 1, 0)][..., None]
    terms = np.where(counts > 0, counts * (last - harmonic[np.maximum(counts - 1, 0)]), 0.0)
    undefined = np.full(total.shape, np.nan)
    return np.divide(terms.sum(axis=-1), total, out=undefined, where=total > 0)


def needed_of(k: int, tau: float) -> int:
    """⌈τ·k⌉, with τ·k rounded first: 0.07 · 100 is 7, not a little more.

    >>> needed_of(100, 0.07), needed_of(4, 0.01)
    (7, 1)
    """
    if not 0 < tau <= 1:
        raise ValueError(f"tau must be in (0, 1], got {tau}")
    return math.ceil(round(tau * k, 9))


def _correct_at_least(correct_count_P: ArrayLike, n: int, k: int) -> Floats:
    """Probability (P, k+1) that j or more of k samples are correct."""
    _check_size(n, k)
    chance_PJ = marked_chances(n, k)[_checked_counts(correct_count_P, n)]
    return np.minimum(chance_PJ[..., ::-1].cumsum(axis=-1)[..., ::-1], 1.0)


def _check_size(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"k must be in [1, {n}], the number of samples of a problem, got {k}")


def _checked_counts(counts: ArrayLike, n: int) -> Counts:
    """Return the counts as int64, refused unless they are integers in [0, n]."""
    array = np.asarray(counts)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"counts must be integers, got {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > n):
        raise ValueError(f"counts must be in [0, {n}], got {array.min()} … {array.max()}")
    return array.astype(np.int64)


Tokens = str | Sequence[object]


def mean_shared_prefix(samples: Sequence[Tokens]) -> float:
    """Mean number of tokens that two samples of a problem share from their beginning.

        Σ_{i<j} |common prefix of i and j| / C(n, 2)

    A mean over pairs, so it is unbiased for two fresh samples, whatever n. In sorted order, two
    samples share as much as the least similar neighbours between them: one pass over the n − 1
    neighbours replaces the n²/2 pairs.

    Args:
        samples: Strings (of characters) or sequences of token ids. One that ends where another
            continues diverges from it there.

    Returns:
        The mean; NaN for fewer than two samples.

    >>> mean_shared_prefix(["abc", "abd", "ax"])
    1.3333333333333333
    """
    ordered: list[Any] = sorted(s if isinstance(s, str) else tuple(s) for s in samples)
    total = ending = 0  # over all pairs so far, and over the pairs that end at this sample
    least: list[tuple[int, int]] = []  # what such pairs share, and how many share so much
    for first, second in pairwise(ordered):
        shared, number = common_prefix(first, second), 1
        while least and least[-1][0] >= shared:
            longer, pairs = least.pop()
            ending, number = ending - longer * pairs, number + pairs
        least.append((shared, number))
        ending += shared * number
        total += ending
    every = len(ordered) * (len(ordered) - 1) // 2
    return total / every if every else float("nan")


def common_prefix(first: Tokens, second: Tokens) -> int:
    """Tokens that two samples share from their beginning; halving, so that slices do the work."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
