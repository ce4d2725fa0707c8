"""`mean_set_scores`: what a prompt's sets are worth on average, for many set sizes at once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Unpack

import numpy as np

from setrl.core.credit.estimators import Exact, advance
from setrl.core.inputs import Fields, check_set_size, read_samples
from setrl.core.objectives.base import Objective
from setrl.samples.arrays import Array, like
from setrl.samples.samples import Samples


def mean_set_scores(
    rewards_BN: Array,
    objective: Objective,
    set_sizes: Sequence[int],
    *,
    rng: np.random.Generator | int | None = None,
    **fields: Unpack[Fields],
) -> Array:
    """Return the mean score of the K-sets of each prompt's samples, for each of several K.

        U = mean{f(S) : S ⊂ {1…N}, |S| = K}

    It is unbiased for the expected score of K fresh samples, for every K ≤ N: pass@K of
    `any_correct`, max@K of `max`, rarefaction of `distinct`. It is `Advantages.mean_B` of
    `set_advantages`, without the credit of each sample, which for some objectives (`majority`)
    takes hundreds of times as long.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets.
        objective: What a set is worth; see `setrl.objectives`.
        set_sizes: The sizes K, each from 1 to N.
        rng: A generator, or its seed; needed where sets are sampled, because the objective has no
            closed form and the sets are many.
        **fields: Strategies, answers and whatever else the objective reads; see `setrl.Fields`.

    Returns:
        (sizes, B) float64, an array of the kind of `rewards_BN`; NaN where a prompt has fewer than
        K usable samples.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    >>> from setrl import mean_set_scores, objectives
    >>> mean_set_scores([[1.0, 0, 0, 0], [1.0, 1, 0, 0]], objectives.any_correct(), [1, 2]).round(3)
    array([[0.25 , 0.5  ],
           [0.5  , 0.833]])
    """
    sizes = [objective.resolve_set_size(size) for size in set_sizes]
    if not sizes:
        raise ValueError("set_sizes must hold at least one set size, got none")
    batch = read_samples(rewards_BN, objective.reads, fields)
    num_prompts, width = batch.rewards.shape
    for size in sizes:
        check_set_size(size, width)
    generator = drawing = None if rng is None else np.random.default_rng(rng)
    mean_KB = np.full((len(sizes), num_prompts), np.nan)
    for at, samples in batch.equal_sizes(min(sizes)):
        prompts = np.arange(num_prompts)[at[0]].ravel()
        fitting = np.flatnonzero(np.array(sizes) <= samples.num_samples)
        chosen = [sizes[place] for place in fitting]
        # The draws for prompts of one size do not depend on which other sizes are in the batch.
        drawing = deepcopy(generator)
        mean_KB[np.ix_(fitting, prompts)] = _average_whole_prompts(
            samples, objective, chosen, drawing
        )
    advance(generator, drawing)
    return like(mean_KB, rewards_BN)


def _average_whole_prompts(
    samples: Samples, objective: Objective, sizes: Sequence[int], rng: np.random.Generator | None
) -> np.ndarray:
    """Return the means of prompts that have all their samples."""
    mean_KB = objective.mean_scores(samples, sizes)
    if mean_KB is not None:
        return mean_KB
    return np.stack([Exact()(objective, samples, size, rng).means.mean_B for size in sizes])
