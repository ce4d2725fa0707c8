"""The credit that each vine gets from the sets of vines that leave the same state.

The set maths is the core's: this file only decides which of its means to compare. A rollout state
replaces a prompt, and the state's N vines replace the prompt's samples, so B counts rollout states.
A vine without credit has NaN: its steps keep the critic's advantage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from setrl.control.vines import VineChoices
from setrl.core.advantages import Advantages, AnyMethod, Method
from setrl.core.credit.estimators import Sampled
from setrl.core.credit.rounding import difference

SIZE_FLOOR = 1e-8  # a smaller advantage is rounding, and must not be scaled up to 1


class ScoredVines(NamedTuple):
    """The N vines of each of B states, as sets see them; of NumPy, or of JAX.

    Attributes:
        scores_BN: The worth of each whole episode; NaN leaves the sets.
        fields: "strategies" (B, N), "correct" (B, N), "pairs" (B, N, N): what methods read besides.
        actions_BN: Integers, equal for equal first actions; −1 for a vine without an action.
    """

    scores_BN: Any
    fields: Mapping[str, Any]
    actions_BN: Any


def set_advantages(
    method: AnyMethod, vines: VineChoices, scored: ScoredVines, rng: np.random.Generator
) -> np.ndarray:
    """Return the set advantage of each vine, (B, N), as `vines.credit` assigns it; NaN for none."""
    fields = {name: field for name, field in scored.fields.items() if name in method.reads}
    scores_BN = scored.scores_BN
    if vines.credit == "gae" or not len(scores_BN):
        return np.full(scores_BN.shape, np.nan)
    if vines.credit == "marginal":
        return by_trajectory(method, scores_BN, fields, rng)
    assert isinstance(method, Method), "`check_vines` refused a sum"
    if vines.credit == "shared":
        return shared(method, scores_BN, fields, vines.num_sets, rng)
    return by_action(method, scores_BN, fields, scored.actions_BN)


def spread(xp: Any, values_B: Any, window: int | None, num_steps: int) -> Any:
    """Give each trajectory's value to its steps 0…W: (T, B), NaN elsewhere.

    Args:
        xp: `numpy`, or `jax.numpy` inside a compiled update.
        values_B: The values; NaN for none.
        window: W; None for all steps.
        num_steps: T.
    """
    times = xp.arange(num_steps)[:, None]
    return xp.where(times <= (num_steps if window is None else window), values_B, xp.nan)


def by_trajectory(
    method: AnyMethod,
    scores_BN: np.ndarray,
    fields: Mapping[str, Any],
    rng: np.random.Generator | None = None,
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
    method: Method, scores_BN: np.ndarray, fields: Mapping[str, Any], actions_BN: np.ndarray
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
    fields: Mapping[str, Any],
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
