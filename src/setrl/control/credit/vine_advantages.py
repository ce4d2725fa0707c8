"""The credit that each vine gets from the sets of vines that leave the same state.

The set maths is the core's: this file only decides which of its means to compare. A rollout state
replaces a prompt, and the state's N vines replace the prompt's samples, so B counts rollout states.
A vine without credit has NaN: its steps keep the critic's advantage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import Any, cast

import numpy as np

from setrl.core.advantages import Advantages, AnyMethod, Method
from setrl.core.credit.designs import draw_sets
from setrl.core.credit.estimators import Sampled, score_sets
from setrl.core.credit.rounding import centred, difference
from setrl.core.inputs import read_batch
from setrl.core.samples import Fields as SampleFields

Fields = Mapping[str, Any]  # "clusters" (B, N), "pairs" (B, N, N): what a method reads


def by_trajectory(
    method: AnyMethod, scores_BN: np.ndarray, fields: Fields, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Credit each vine: mean score of the sets that hold it, against the method's baseline.

    Set RL, Eq. 9 and Algorithm 1, with the state as the prompt. All C(N, K) sets count.

    Args:
        method: Objective, set size and baseline.
        scores_BN: (B, N) the worth of each vine; NaN leaves the sets.
        fields: The other fields that the method reads.
        rng: Needed if the method's estimator samples sets.

    Returns:
        (B, N), NaN for vines without credit.
    """
    found = method.advantages(scores_BN, rng=rng, **fields)
    return np.where(_has_credit(found), found.values_BN, np.nan)


def by_action(
    method: Method, scores_BN: np.ndarray, fields: Fields, actions_BN: np.ndarray
) -> np.ndarray:
    """Credit each first action: mean score of the sets with a vine that begins with it, minus U.

        A(a) = mean{f(S) : some vine of S begins with a} − U

    Set RL, Algorithm 2, G(a). The sets without such a vine are the K-sets of the other N − n_a
    vines, m = C(N − n_a, K) of M = C(N, K), and U₋ₐ is their mean: A(a) = (U − U₋ₐ)·m / (M − m),
    0 where every set has such a vine. The method's own baseline and scale do not enter.

    Args:
        actions_BN: (B, N) integers, equal for equal first actions.
    """
    plain = replace(method, baseline="none", reduction="mean", scale=None, adjustment=None)
    found = plain.advantages(scores_BN, **fields)
    has_credit_BN = _has_credit(found)
    values_BN, n = np.where(has_credit_BN, 0.0, np.nan), scores_BN.shape[1]
    for action in np.unique(actions_BN):
        begins_BN = has_credit_BN & (actions_BN == action)
        others_BN = has_credit_BN & ~begins_BN
        without_B = plain.advantages(scores_BN, mask=others_BN, **fields).mean_B
        counts = zip(has_credit_BN.sum(axis=1), others_BN.sum(axis=1), strict=True)
        odds_B = np.array([_odds(int(all_), int(m), method.set_size) for all_, m in counts])
        change_B = np.where(odds_B > 0, difference(found.mean_B, without_B, n) * odds_B, 0.0)
        values_BN = np.where(begins_BN, change_B[:, None], values_BN)
    return values_BN


def _odds(num_vines: int, num_others: int, set_size: int) -> float:
    """m / (M − m): sets without the action per set with it; 0 if no set has it."""
    total, without = comb(num_vines, set_size), comb(num_others, set_size)
    return without / (total - without) if without < total else 0.0


def shared(
    method: Method,
    scores_BN: np.ndarray,
    fields: Fields,
    num_sets: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Share credit in a set: all members of a sampled set get the advantage of that set.

    A(S) = f(S) − mean f of the `num_sets` sampled sets; a vine in several of them gets the mean,
    and a vine in none of them gets no credit. arXiv:2509.25424, with its M sets.
    """
    plain = replace(method, baseline="all_sets", scale=None, adjustment=None)
    sampled = replace(plain, estimator=Sampled(num_sets))
    found = sampled.advantages(scores_BN, rng=rng, **fields)
    # `with_BN` is NaN for a vine in no sampled set.
    return np.where(_has_credit(found), found.with_BN - found.mean_B[:, None], np.nan)


def _has_credit(found: Advantages) -> np.ndarray:
    """Return which vines are in sets, (B, N): they have a score, and so have enough others."""
    return found.usable_BN & ~found.skipped_B[:, None]


def best_set_gain(
    method: Method,
    scores_BN: np.ndarray,
    fields: Fields,
    num_sets: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """max f(S) − mean f(S) over `num_sets` sampled sets of each state, (B,); NaN with too few."""
    gains_B = np.full(len(scores_BN), np.nan)
    batch = read_batch(scores_BN, method.reads, cast(SampleFields, fields))
    for (rows, _), samples in batch.equal_sizes(fewest=method.set_size):
        if method.shaping is not None:
            samples = samples.with_rewards(method.shaping(samples))
        n = samples.num_samples
        sets_SK = draw_sets(n, method.set_size, min(num_sets, comb(n, method.set_size)), rng)
        scores_BS = score_sets(method.objective, samples, sets_SK)
        # Rows are a slice, or a column of indices to combine with columns of samples.
        where = rows if isinstance(rows, slice) else rows[:, 0]
        gains_B[where] = centred(scores_BS).max(axis=1)
    return gains_B
