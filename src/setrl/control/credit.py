"""The credit that each vine gets from the sets of vines that leave the same state.

The set maths is the core's: this file only decides which of its means to compare. A rollout state
replaces a prompt, and the state's N vines replace the prompt's samples, so B counts rollout states;
a vine's reward is the worth of its whole episode. A vine without credit has NaN: its steps keep the
critic's advantage.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np

from setrl.control.vines import VineChoices
from setrl.core.advantages import Advantages, AnyMethod, Method
from setrl.core.credit.estimators import Sampled
from setrl.core.credit.rounding import difference
from setrl.samples.samples import Samples


def vine_advantages(
    method: AnyMethod,
    vines: VineChoices,
    samples: Samples,
    actions_BN: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the set advantage of each vine, (B, N), as `vines.credit` assigns it; NaN for none."""
    if vines.credit == "gae" or not len(samples.rewards):
        return np.full(samples.rewards.shape, np.nan)
    if vines.credit == "marginal":
        return by_trajectory(method, samples, rng)
    assert isinstance(method, Method), "`check_vines` refused a sum"
    if vines.credit == "shared":
        return shared(method, samples, vines.num_sets, rng)
    return by_action(method, samples, actions_BN)


def by_trajectory(
    method: AnyMethod, samples: Samples, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Credit each vine: mean score of the sets that hold it, against the method's baseline.

    Set RL, Eq. 9 and Algorithm 1, with the state as the prompt. All C(N, K) sets count.

    Args:
        method: Objective, set size and baseline.
        samples: The vines; what has an unknown reward leaves the sets.
        rng: Needed if the method's estimator samples sets.

    Returns:
        (B, N), NaN for vines without credit.
    """
    credit = method.advantages(samples, rng=rng)
    return np.where(_has_credit(credit), credit.values_BN, np.nan)


def by_action(method: Method, samples: Samples, actions_BN: np.ndarray) -> np.ndarray:
    """Credit each first action: mean score of the sets with a vine that begins with it, minus U.

        A(a) = mean{f(S) : some vine of S begins with a} − U

    Set RL, Algorithm 2, G(a). The sets without such a vine are the K-sets of the other N − n_a
    vines, m = C(N − n_a, K) of M = C(N, K), and U₋ₐ is their mean: A(a) = (U − U₋ₐ)·m / (M − m),
    0 where every set has such a vine. The method's own baseline and scale do not enter.

    Args:
        method: Objective and set size.
        samples: The vines.
        actions_BN: (B, N) numbers, equal for equal first actions.
    """
    plain = replace(method, baseline="none", reduction="mean", scale=None, adjustment=None)
    credit, n = plain.advantages(samples), samples.num_samples
    has_credit_BN = _has_credit(credit)
    values_BN = np.where(has_credit_BN, 0.0, np.nan)
    for action in np.unique(actions_BN):
        begins_BN = has_credit_BN & (actions_BN == action)
        others_BN = has_credit_BN & ~begins_BN
        without_B = plain.advantages(replace(samples, mask=others_BN)).mean_B
        counts = zip(has_credit_BN.sum(axis=1), others_BN.sum(axis=1), strict=True)
        odds_B = np.array([_odds(int(all_), int(m), method.set_size) for all_, m in counts])
        change_B = np.where(odds_B > 0, difference(credit.mean_B, without_B, n) * odds_B, 0.0)
        values_BN = np.where(begins_BN, change_B[:, None], values_BN)
    return values_BN


def _odds(num_vines: int, num_others: int, set_size: int) -> float:
    """m / (M − m): sets without the action per set with it; 0 if no set has it."""
    total, without = comb(num_vines, set_size), comb(num_others, set_size)
    return without / (total - without) if without < total else 0.0


def shared(method: Method, samples: Samples, num_sets: int, rng: np.random.Generator) -> np.ndarray:
    """Share credit in a set: all members of a sampled set get the advantage of that set.

    A(S) = f(S) − mean f of the `num_sets` sampled sets; a vine in several of them gets the mean,
    and a vine in none of them gets no credit. arXiv:2509.25424, with its M sets.
    """
    plain = replace(method, baseline="all_sets", scale=None, adjustment=None)
    credit = replace(plain, estimator=Sampled(num_sets)).advantages(samples, rng=rng)
    # `with_BN` is NaN for a vine in no sampled set.
    return np.where(_has_credit(credit), credit.with_BN - credit.mean_B[:, None], np.nan)


def _has_credit(credit: Advantages) -> np.ndarray:
    """Return which vines are in sets, (B, N): they have a score, and so have enough others."""
    return credit.usable_BN & ~credit.skipped_B[:, None]
