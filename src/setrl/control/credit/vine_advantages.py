"""What each vine is owed by the sets of vines that leave the same state.

The set maths is the core's: what is here says which of its means are compared. A rollout state
stands where a prompt stands there, and its N vines where a prompt's samples do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from setrl.core.advantages import Method
from setrl.core.credit.designs import draw_sets
from setrl.core.credit.estimators import Sampled, score_sets
from setrl.core.inputs import read_batch

Fields = Mapping[str, Any]  # "clusters" (B, N), "pairs" (B, N, N): what a method reads


@dataclass(frozen=True)
class VineCredit:
    """Credit of B rollout states with N vines each.

    Attributes:
        values_BN: What each vine is owed; 0 where it is owed nothing.
        owed_BN: Whether it has set credit at all; the critic's advantage stands where not.
        mean_B: U, the mean score of the sets of a state; NaN for states that were skipped.
    """

    values_BN: np.ndarray
    owed_BN: np.ndarray
    mean_B: np.ndarray


def by_trajectory(
    method: Method, scores_BN: np.ndarray, fields: Fields, rng: np.random.Generator | None = None
) -> VineCredit:
    """Credit of each vine: mean score of the sets that hold it, against the method's baseline.

    Set RL, Eq. 9 and Algorithm 1, with the state as the prompt. All C(N, K) sets count.

    Args:
        method: Objective, set size and baseline.
        scores_BN: (B, N) what each vine is worth; NaN leaves the sets.
        fields: What else the method reads.
        rng: Needed where the method's estimator samples sets.
    """
    found = method.advantages(scores_BN, rng=rng, **fields)
    return VineCredit(found.values_BN, found.usable_BN & ~found.skipped_B[:, None], found.mean_B)


def by_action(
    method: Method, scores_BN: np.ndarray, fields: Fields, actions_BN: np.ndarray
) -> VineCredit:
    """Credit of each first action: mean score of the sets with a vine that begins with it.

        A(a) = mean{f(S) : some vine of S begins with a} − U

    Set RL, Algorithm 2, G(a). The sets without such a vine are the K-sets of the other N − n_a
    vines, m = C(N − n_a, K) of M = C(N, K), and U₋ₐ is their mean: A(a) = (U − U₋ₐ)·m / (M − m),
    0 where every set has such a vine. The method's own baseline and scale do not enter.

    Args:
        actions_BN: (B, N) integers, equal where the first actions are.
    """
    plain = replace(method, baseline="none", reduction="mean", scale=None)
    found = plain.advantages(scores_BN, **fields)
    owed_BN = found.usable_BN & ~found.skipped_B[:, None]
    values_BN = np.zeros(scores_BN.shape)
    for action in np.unique(actions_BN):
        begins_BN = owed_BN & (actions_BN == action)
        others_BN = owed_BN & ~begins_BN
        without_B = plain.advantages(scores_BN, mask=others_BN, **fields).mean_B
        counts = zip(owed_BN.sum(axis=1), others_BN.sum(axis=1), strict=True)
        odds_B = np.array([_odds(int(n), int(m), method.set_size) for n, m in counts])
        change_B = np.where(odds_B > 0, (found.mean_B - without_B) * odds_B, 0.0)
        values_BN = np.where(begins_BN, change_B[:, None], values_BN)
    return VineCredit(values_BN, owed_BN, found.mean_B)


def _odds(num_vines: int, num_others: int, set_size: int) -> float:
    """m / (M − m), the sets without the action over those with it; 0 where there are none with."""
    total, without = comb(num_vines, set_size), comb(num_others, set_size)
    return without / (total - without) if without < total else 0.0


def shared(
    method: Method, scores_BN: np.ndarray, fields: Fields, num_sets: int, rng: np.random.Generator
) -> VineCredit:
    """Set-shared credit: all members of a drawn set get the set's own advantage.

    A(S) = f(S) − mean f of the `num_sets` drawn sets; a vine in several of them gets the mean, one
    in none is owed nothing. arXiv:2509.25424, with its M sets.
    """
    sampled = replace(method, baseline="all_sets", scale=None, estimator=Sampled(num_sets))
    found = sampled.advantages(scores_BN, rng=rng, **fields)
    drawn_BN = found.usable_BN & ~found.skipped_B[:, None] & ~np.isnan(found.with_BN)
    values_BN = np.where(drawn_BN, found.with_BN - found.mean_B[:, None], 0.0)
    return VineCredit(values_BN, drawn_BN, found.mean_B)


def best_set_gain(
    method: Method, scores_BN: np.ndarray, fields: Fields, num_sets: int, rng: np.random.Generator
) -> np.ndarray:
    """max f(S) − mean f(S) over `num_sets` drawn sets of each state, (B,); NaN where too few."""
    gains_B = np.full(len(scores_BN), np.nan)
    batch = read_batch(scores_BN, method.reads, fields)
    for (rows, _), samples in batch.equal_sizes(fewest=method.set_size):
        if method.shaping is not None:
            samples = samples.with_rewards(method.shaping(samples))
        n = samples.num_samples
        sets_SK = draw_sets(n, method.set_size, min(num_sets, comb(n, method.set_size)), rng)
        scores_RS = score_sets(method.objective, samples, sets_SK)
        gains_B[rows if isinstance(rows, slice) else rows[:, 0]] = scores_RS.max(
            axis=1
        ) - scores_RS.mean(axis=1)
    return gains_B
