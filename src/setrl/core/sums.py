"""Sums in a fixed order: the bits of a prompt's credit do not depend on the rest of its batch.

Floating-point sums depend on the order of their terms. BLAS, `einsum` and sums over axes that are
not last choose an order by the shape of the whole array, by the processor and by the number of
threads. The functions here choose it only by the terms of one prompt.
"""

from __future__ import annotations

import numpy as np

CHUNK = 1 << 21  # numbers that are gathered at once: 16 MB


def total(values: np.ndarray) -> np.ndarray:
    """Return the sum over the last axis: (…, N) → (…)."""
    # In memory of this order NumPy adds each row by itself, in pairs.
    return np.ascontiguousarray(values).sum(axis=-1)


def mean(values: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis: (…, N) → (…)."""
    return total(values) / values.shape[-1]


def over_rows(values: np.ndarray) -> np.ndarray:
    """Return the sum over the axis before the last, one row after the other: (…, M, B) → (…, B)."""
    if values.shape[-1] > 1 or not values.size:
        return np.ascontiguousarray(values).sum(axis=-2)
    # A single column would be summed as a row is, in pairs.
    return np.add.accumulate(values, axis=-2)[..., -1, :]


def by_member(values_BS: np.ndarray, sets_SK: np.ndarray, num_samples: int) -> np.ndarray:
    """Return the sum over the sets that hold each sample, 0 for none: (B, S) → (B, N)."""
    set_size = sets_SK.shape[1]
    short = sets_SK.astype(np.min_scalar_type(num_samples))  # short integers are sorted by counting
    order_M = np.argsort(short, axis=None, kind="stable") // set_size
    count_N = np.bincount(sets_SK.ravel(), minlength=num_samples)
    held_n = np.flatnonzero(count_N)
    first_n = (np.cumsum(count_N) - count_N)[held_n]
    sum_BN = np.zeros((len(values_BS), num_samples))
    step = max(1, CHUNK // len(order_M))
    for start in range(0, len(values_BS), step):
        at = slice(start, start + step)
        taken_BM = np.take(values_BS[at], order_M, axis=1)
        sum_BN[at, held_n] = np.add.reduceat(taken_BM, first_n, axis=1)
    return sum_BN


def product(values_BS: np.ndarray, weights_NS: np.ndarray) -> np.ndarray:
    """Return Σₛ values[b, s] · weights[n, s]: (B, N)."""
    sum_BN = np.empty((len(values_BS), len(weights_NS)))
    weighted_NS = np.empty(weights_NS.shape)
    for values_S, sum_N in zip(values_BS, sum_BN, strict=True):
        np.multiply(weights_NS, values_S, out=weighted_NS)
        weighted_NS.sum(axis=-1, out=sum_N)
    return sum_BN
