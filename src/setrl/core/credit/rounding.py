"""Credit that is nothing but rounding error becomes exactly 0, as it is in exact arithmetic.

Whoever divides credit by its own spread would otherwise turn 1e-17 into 1. Only a whole prompt is
set to 0: beside credit that is real, an error of 1e-17 does no harm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setrl.core.objectives.base import SetMeans

EPS = float(np.finfo(np.float64).eps)


def without_rounding(means: SetMeans, *, every_set: bool = True) -> SetMeans:
    """u − v as they are, but 0 for prompts in which they cannot be distinguished from 0.

    By one of two rules, neither of which touches what is small but real, such as chances of 1e-300:
    the u − v of a prompt sum to 0, so that where all have one sign they are no larger than the
    error of their sum; and none is larger than N·ε times the numbers that it was added up from.

    Args:
        means: Of some prompts.
        every_set: Whether they are means over all sets; u − v of drawn sets do not sum to 0.
    """
    contrast_BN = means.contrast_BN
    one_sign_B = (contrast_BN >= 0).all(axis=-1) | (contrast_BN <= 0).all(axis=-1)
    nothing_B = np.asarray(one_sign_B & every_set)
    if means.size_B is not None:
        bound_B1 = (contrast_BN.shape[-1] * EPS * means.size_B)[..., None]
        # NaN, of a sample that is in no drawn set or in all of them, is not above the bound.
        nothing_B = nothing_B | ~(np.abs(contrast_BN) > bound_B1).any(axis=-1)
    if not nothing_B.any():
        return means
    errors_BN = nothing_B[:, None] & ~np.isnan(contrast_BN) & (contrast_BN != 0)
    return replace(means, contrast_BN=np.where(errors_BN, 0.0, contrast_BN))


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
    of_prompts = [one.size_B for one in (means, smaller) if one.size_B is not None]
    sizes += [np.broadcast_to(one[..., None], gain_BN.shape) for one in (*of_prompts, given_B)]
    # NaN is the size where v is not known, as at K = N, and u − w of a sample in no drawn set.
    bound_BN = gain_BN.shape[-1] * EPS * np.nan_to_num(np.array(sizes)).max(axis=0)
    nothing_B = ~(np.abs(gain_BN) > bound_BN).any(axis=-1)
    errors_BN = nothing_B[:, None] & ~np.isnan(gain_BN) & (gain_BN != 0)
    return np.where(errors_BN, 0.0, gain_BN)


def mean_score(scores_BS: np.ndarray) -> np.ndarray:
    """The mean of each row, exactly the one score where all are equal up to their last digits."""
    return np.where(_is_flat(scores_BS)[..., 0], scores_BS[..., 0], scores_BS.mean(axis=-1))


def centred(scores_BS: np.ndarray) -> np.ndarray:
    """Scores less their mean, exactly 0 where all are equal up to their last digits."""
    flat_B1 = _is_flat(scores_BS)
    return np.where(flat_B1, 0.0, scores_BS - scores_BS.mean(axis=-1, keepdims=True))


def _is_flat(scores_BS: np.ndarray) -> np.ndarray:
    low_B1, high_B1 = (of(scores_BS, axis=-1, keepdims=True) for of in (np.min, np.max))
    return high_B1 - low_B1 <= 4 * EPS * np.maximum(np.abs(low_B1), np.abs(high_B1))


def difference(left_B: np.ndarray, right_B: np.ndarray, num_samples: int) -> np.ndarray:
    """left − right of two means over sets, 0 where they are equal up to rounding."""
    change_B = left_B - right_B
    bound_B = num_samples * EPS * np.maximum(np.abs(left_B), np.abs(right_B))
    return np.where(np.abs(change_B) <= bound_B, 0.0, change_B)
