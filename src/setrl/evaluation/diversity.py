"""How many strategies there effectively are: Simpson's index without bias, entropy with little.

`setrl.evaluation.estimators.effective_number` takes the shares at hand for the true ones, and is
low for few samples. These two correct for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Floats


def same_label_probability(count_PC: ArrayLike) -> Floats:
    """Probability that two fresh samples have the same label, without bias: Simpson's index.

        λ = Σ_c m_c·(m_c − 1) / (M·(M − 1))         M = Σ_c m_c

    1 − λ is the chance that two samples differ (Gini–Simpson), also unbiased; 1/λ is an effective
    number of labels, in which common ones weigh more than in exp(entropy), and is not unbiased.

    Args:
        count_PC: Samples with each label; zeros pad.

    Returns:
        (P,) values in [0, 1]; NaN for a problem with fewer than two labelled samples.

    Simpson (Nature 163, 1949).

    >>> same_label_probability([[2, 2], [4, 0]]).round(6)
    array([0.333333, 1.      ])
    """
    counts = np.asarray(count_PC, dtype=np.float64)
    total = counts.sum(axis=-1)
    pairs = (counts * (counts - 1)).sum(axis=-1)
    undefined = np.full(total.shape, np.nan)
    return np.divide(pairs, total * (total - 1), out=undefined, where=total > 1)


def corrected_entropy(count_PC: ArrayLike) -> Floats:
    """Entropy of the labels in nats, with a bias that is known and falls geometrically in M.

        H = Σ_c m_c/M · (ψ(M) − ψ(m_c)) = Σ_c m_c/M · Σ_{j=m_c}^{M−1} 1/j       M = Σ_c m_c

    Entropy is Σ_{r≥1} Σ_c p_c·(1−p_c)^r / r, and M samples estimate its first M−1 terms without
    bias: that is what this adds up to. No estimator is unbiased for all of it. The plug-in value
    misses about (C−1)/(2M), this one only labels that M samples hardly ever show.

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


def corrected_effective_number(count_PC: ArrayLike) -> Floats:
    """exp of `corrected_entropy`: number of equally common labels with the same entropy.

    Nearly the same for few samples as for many, unlike the plug-in; exp of an estimate is not
    unbiased either way.
    """
    return np.exp(corrected_entropy(count_PC))
