"""Credit that is only rounding error becomes exactly 0: its value in exact arithmetic.

Whoever divides credit by its own spread would otherwise turn 1e-17 into 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setrl.core.objectives.base import SetMeans
from setrl.core.sums import mean

EPS = float(np.finfo(np.float64).eps)
OF_SAMPLE = 8 * EPS  # more than the error of one u − v, relative to what it was added up from


def without_rounding(means: SetMeans, *, every_set: bool = True) -> SetMeans:
    """Return the means with u − v set to 0 where they cannot be distinguished from 0.

    One sample's u − v is 0 where it is at most 8·ε times the numbers that it was added up
    from, or than the prompt's largest u − v. All u − v of a prompt are 0 where none is larger than
    N·ε times these numbers, or where all have one sign: they sum to 0. A prompt whose credit is
    small as a whole keeps it, such as chances of 1e-300.

    Args:
        means: Of some prompts.
        every_set: Whether u and v are means over all sets; u − v of drawn sets do not sum to 0.
    """
    contrast_BN, size_B = means.contrast_BN, means.size_B
    size_BN = np.abs(contrast_BN)
    scale_B = size_BN.max(axis=-1) if size_B is None else size_B
    near_BN = size_BN <= (2 * max(size_BN.shape[-1], 8) * EPS * scale_B)[:, None]
    if not near_BN.any():
        return means
    contrast_BN = contrast_BN + 0.0  # −0 becomes 0
    # Most prompts have nothing near 0, or only zeros: the others are looked at closely.
    rows = np.flatnonzero(near_BN.any(axis=-1) & contrast_BN.any(axis=-1))
    if len(rows):
        sizes_B = None if size_B is None else size_B[rows]
        contrast_BN[rows] = _round_to_zeros(contrast_BN[rows], sizes_B, every_set)
    return replace(means, contrast_BN=contrast_BN)


def _round_to_zeros(
    contrast_BN: np.ndarray, size_B: np.ndarray | None, every_set: bool
) -> np.ndarray:
    """Return u − v with exact zeros, as `without_rounding` says."""
    high_B, low_B = contrast_BN.max(axis=-1), contrast_BN.min(axis=-1)
    nothing_B = ((low_B >= 0) | (high_B <= 0)) & every_set
    largest_B = np.maximum(high_B, -low_B)
    if size_B is not None:
        nothing_B |= largest_B <= contrast_BN.shape[-1] * EPS * size_B
        largest_B = np.fmax(largest_B, size_B)
    bound_B = np.where(nothing_B, np.inf, OF_SAMPLE * largest_B)
    # NaN, of a sample that is in no drawn set or in all of them, is not below the bound.
    small_BN = np.abs(contrast_BN) <= bound_B[:, None]
    return np.where(small_BN, 0.0, contrast_BN)


def gain_without_rounding(means: SetMeans, smaller: SetMeans, given_B: np.ndarray) -> np.ndarray:
    """u − w as the difference of two means, but 0 for prompts in which it cannot be known from 0.

    A difference of numbers is known no better than their last digits: a prompt is set to 0 if no
    sample's u − w is larger than N·ε times u, w, and what they were added up from.

    Args:
        means: Of some prompts.
        smaller: Those over sets with one member fewer, whose v is w.
        given_B: How large the numbers are that the objective reads.
    """
    gain_BN = means.with_BN - smaller.without_BN
    sizes = [np.abs(means.with_BN), np.abs(smaller.without_BN)]
    prompt_sizes = [part.size_B for part in (means, smaller) if part.size_B is not None]
    sizes += [
        np.broadcast_to(size_B[..., None], gain_BN.shape) for size_B in (*prompt_sizes, given_B)
    ]
    # NaN is the size where v is not known, as at K = N, and u − w of a sample in no drawn set.
    bound_BN = gain_BN.shape[-1] * EPS * np.nan_to_num(np.array(sizes)).max(axis=0)
    nothing_B = ~(np.abs(gain_BN) > bound_BN).any(axis=-1)
    errors_BN = nothing_B[:, None] & ~np.isnan(gain_BN) & (gain_BN != 0)
    return np.where(errors_BN, 0.0, gain_BN)


def mean_score(scores_BS: np.ndarray) -> np.ndarray:
    """Return the mean of each row: its score where all are equal up to their last digits."""
    return np.where(_is_flat(scores_BS)[..., 0], scores_BS[..., 0], mean(scores_BS))


def centred(scores_BS: np.ndarray) -> np.ndarray:
    """Scores less their mean, exactly 0 where all are equal up to their last digits."""
    flat_B1 = _is_flat(scores_BS)
    return np.where(flat_B1, 0.0, scores_BS - mean(scores_BS)[..., None])


def _is_flat(scores_BS: np.ndarray) -> np.ndarray:
    low_B1, high_B1 = (reduce(scores_BS, axis=-1, keepdims=True) for reduce in (np.min, np.max))
    return high_B1 - low_B1 <= 4 * EPS * np.maximum(np.abs(low_B1), np.abs(high_B1))


def difference(left_B: np.ndarray, right_B: np.ndarray, num_samples: int) -> np.ndarray:
    """left − right of two means over sets, 0 where they are equal up to rounding."""
    change_B = left_B - right_B
    bound_B = num_samples * EPS * np.maximum(np.abs(left_B), np.abs(right_B))
    return np.where(np.abs(change_B) <= bound_B, 0.0, change_B)
