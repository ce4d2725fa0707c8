"""Shapley values: what each sample adds, averaged over all orders in which samples can come."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from setrl.core.inputs import Array, Fields, like, read_samples
from setrl.core.objectives.base import Objective
from setrl.core.objectives.ranks import Max
from setrl.core.objectives.rewards import AnyCorrect
from setrl.core.objectives.sizes import OverSizes
from setrl.core.objectives.thresholds import rank
from setrl.samples.samples import Samples


def shapley(objective: Objective, rewards_BN: Array, **fields: Unpack[Fields]) -> Array:
    """φᵢ = (1/N) Σ_K (u − w of the K-sets): the sample's gain, averaged over sets of every size.

    Σᵢ φᵢ is the score of all N samples; the empty set scores 0. Σᵢ ∇log π(yᵢ)·φᵢ is an unbiased
    gradient of Σ_K E f_K / K. For pass@K that sum is log p + a constant − o(1) for success rate p,
    so that credit 1/(number correct) is maximum likelihood cut off at N. It is not the marginal set
    advantage: where all samples are correct each gets 1/N, not 0.

    Exact in O(N log N) for `max`, in O(N) for `any_correct`; else N times the objective's closed
    form.

    Args:
        objective: What a set is worth, for sets of every size.
        rewards_BN: (B, N) rewards; NaN marks a sample without one.
        **fields: Strategies, answers and whatever else the objective reads; see `setrl.Fields`.

    Returns:
        (B, N), of the kind of `rewards_BN`; 0 for samples that were left out.

    >>> import numpy as np
    >>> from setrl import objectives
    >>> shapley(objectives.any_correct(), np.array([[1.0, 0, 1, 0]]))
    array([[0.5, 0. , 0.5, 0. ]])
    """
    if objective.set_size is not None:
        raise ValueError(f"shapley needs sets of every size, and {objective!r} is made for one")
    samples = read_samples(rewards_BN, objective.reads, fields)
    values_BN = np.zeros(samples.rewards.shape)
    for at, alike in samples.equal_sizes(1):
        values_BN[at] = _dense(objective, alike)
    return like(values_BN, rewards_BN)


def _dense(objective: Objective, samples: Samples) -> np.ndarray:
    """Shapley values of prompts that have all their samples."""
    n = samples.num_samples
    if isinstance(objective, AnyCorrect):
        correct_BN = samples.right
        return correct_BN / np.maximum(correct_BN.sum(axis=-1, keepdims=True), 1)
    if isinstance(objective, Max):
        ranked = rank(samples.rewards)
        shared_n = 1 / ranked.above_n
        return ranked.values_BN[:, :1] / n + ranked.over_thresholds(shared_n, np.zeros(n - 1))
    means = OverSizes(objective, {size: 1 / size for size in range(1, n + 1)}).set_means(samples, n)
    if means is None or means.gain_BN is None or np.isnan(means.gain_BN).any():
        raise ValueError(f"shapley needs a closed form, and {objective!r} has none")
    return means.gain_BN
