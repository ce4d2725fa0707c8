"""Mean products over subsets: elementary symmetric polynomials, scaled so that nothing overflows.

Eₗ(y₁…yₘ) = eₗ(y₁…yₘ) / C(m, l) is the mean of Π y over the l-subsets of m numbers:

    Eₗ(y₁…yₘ) = (1 − l/m)·Eₗ(y₁…yₘ₋₁) + (l/m)·yₘ·Eₗ₋₁(y₁…yₘ₋₁)
"""

from __future__ import annotations

from math import comb

import numpy as np

from setrl.core.objectives.base import SetMeans
from setrl.core.objectives.chances import one_if_any_outside
from setrl.core.sums import mean, over_rows

LARGEST_SHIFTED = 1000  # the binomials of larger sets have no float
CHUNK = 1 << 21  # numbers that are kept at once: 16 MB


def product_means(factors_BN: np.ndarray, set_size: int) -> SetMeans:
    """u, u − v and U of f(S) = Π_{i∈S} xᵢ; O(N·K).

    With x = c + y, where c is the smallest factor (0 if that is negative), and E of the y but yᵢ,

        u     = xᵢ·Σₗ αₗ·Eₗ,                       αₗ = C(K−1, l)·cᴷ⁻¹⁻ˡ
        u − v = yᵢ·Σₗ αₗ·Eₗ − Σₗ αₗ·Eₗ₊₁,     l from 0 to K−1

    Factors that are nearly equal have y near 0, so that their difference keeps its digits.
    """
    n, k = factors_BN.shape[-1], set_size
    # A negative c would make terms of both signs, which cancel.
    lowest_B = np.maximum(factors_BN.min(axis=-1), 0.0) * (k <= LARGEST_SHIFTED)
    excess_BN = factors_BN - lowest_B[:, None]
    weights_2Bl = np.zeros((2, len(factors_BN), k + 1))
    weights_2Bl[0, :, :-1] = _shift_weights(lowest_B, k)
    weights_2Bl[1, :, 1:] = weights_2Bl[0, :, :-1]
    step = max(1, CHUNK // (n * (k + 1)))
    chunks = [slice(start, start + step) for start in range(0, len(factors_BN), step)]
    parts = [leave_one_out(excess_BN[at], weights_2Bl[:, at]) for at in chunks]
    others_BN, rest_BN = np.concatenate(parts, axis=1)
    with_BN = factors_BN * others_BN
    contrast_BN = (excess_BN * others_BN - rest_BN) * one_if_any_outside(n, k)
    return SetMeans(with_BN, contrast_BN, mean(with_BN))


def leave_one_out(values_BN: np.ndarray, weights_FBl: np.ndarray) -> np.ndarray:
    """Σₗ wₗ·Eₗ(y without yᵢ) for each i and each of F lists of weights: (F, B, N).

    One pass up collects the numbers before i, one pass down what the later numbers contribute.
    Dividing the factor of yᵢ out of the product of all would need one pass, but loses all digits
    where yᵢ is large.
    """
    n, sizes_l1 = values_BN.shape[-1], np.arange(weights_FBl.shape[-1])[:, None]
    values_NB = np.ascontiguousarray(values_BN.T)
    before_NlB = np.zeros((n, len(sizes_l1), len(values_BN)))
    before_NlB[0, 0] = 1.0
    for m in range(1, n):
        stay_l1, take_l1 = _shares(sizes_l1, m)
        np.multiply(before_NlB[m - 1], stay_l1, out=before_NlB[m])
        before_NlB[m, 1:] += take_l1[1:] * values_NB[m - 1] * before_NlB[m - 1, :-1]
    worth_FlB = np.swapaxes(weights_FBl, -1, -2).copy()
    result_FNB = np.empty((len(weights_FBl), n, len(values_BN)))
    for m in range(n - 1, -1, -1):
        result_FNB[:, m] = over_rows(before_NlB[m] * worth_FlB)
        if m:
            stay_l1, take_l1 = _shares(sizes_l1, m)
            taken_FlB = take_l1[1:] * values_NB[m] * worth_FlB[:, 1:]
            worth_FlB *= stay_l1
            worth_FlB[:, :-1] += taken_FlB
    return np.ascontiguousarray(np.swapaxes(result_FNB, -1, -2))


def _shares(sizes_l1: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the l-subsets of m numbers without and with the last one."""
    return np.maximum(1 - sizes_l1 / m, 0.0), sizes_l1 / m


def _shift_weights(lowest_B: np.ndarray, set_size: int) -> np.ndarray:
    """C(K−1, l)·cᴷ⁻¹⁻ˡ for l from 0 to K−1."""
    if not lowest_B.any():
        return np.eye(set_size)[-1] * np.ones((len(lowest_B), 1))
    sizes_l = np.arange(set_size)
    ways_l = np.array([float(comb(set_size - 1, size)) for size in sizes_l])
    return ways_l * lowest_B[:, None] ** (set_size - 1 - sizes_l)
