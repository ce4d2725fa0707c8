"""How many strategies a problem's samples effectively use, from how often each label occurs.

Axes: P problems, N samples of a problem, C labels of a problem's samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.objectives.clusters import find_clusters
from setrl.evaluation.estimators import Counts, Floats


def count_labels(labels_PN: ArrayLike) -> Counts:
    """How many samples of each problem have each label; columns are a problem's own labels.

    Args:
        labels_PN: Integer label of each sample; −1 (`setrl.DEGENERATE`) is no label.

    Returns:
        (P, C) counts; zeros pad problems with fewer labels than the most.

    >>> count_labels([[7, 7, 3, -1], [7, 7, 7, 7]])
    array([[1, 2],
           [4, 0]])
    """
    clusters = find_clusters(np.asarray(labels_PN))
    kept = np.flatnonzero(clusters.size_C)
    row_C = clusters.row_C[kept]
    column_C = np.arange(len(kept)) - np.searchsorted(row_C, row_C)
    count_PC = np.zeros((len(clusters.at_BN), column_C.max(initial=0) + 1), dtype=np.int64)
    count_PC[row_C, column_C] = clusters.size_C[kept]
    return count_PC


def effective_number(count_PC: ArrayLike) -> Floats:
    """Number of equally common labels that would have the same entropy: exp(−Σ_c p_c log p_c).

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


def corrected_effective_number(count_PC: ArrayLike) -> Floats:
    """exp of `corrected_entropy`: number of equally common labels with the same entropy.

    Nearly the same for few samples as for many, unlike `effective_number`; exp of an estimate is
    not unbiased either way.
    """
    return np.exp(corrected_entropy(count_PC))


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
