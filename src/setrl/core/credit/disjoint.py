"""The naive estimator: samples are split into sets that share none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.core.credit.estimators import Credit, credit_from_sets
from setrl.core.objectives.base import Objective
from setrl.samples.samples import Samples


@dataclass(frozen=True)
class Disjoint:
    """⌊N/K⌋ disjoint sets, drawn once for all prompts: a Monte Carlo estimate from fresh sets.

        u − v = f(own set) − mean f(the other sets),   0 for a sample that is in no set

    Set RL note, Eq. 6 and the naive algorithm after it. Σᵢ ∇log π(yᵢ)·(u − v) has mean ⌊N/K⌋·∇J: as
    `Exact()`, if K divides N. The u − v of all sets is its mean over all ways to split the samples,
    so that it never has a larger variance. Use it for comparisons: it scores the fewest sets.
    """

    def __call__(
        self, objective: Objective, samples: Samples, set_size: int, rng: np.random.Generator | None
    ) -> Credit:
        """Means over the disjoint sets; the standard errors of single sets are not known (NaN)."""
        n = samples.num_samples
        num_sets = n // set_size
        if num_sets < 2:
            raise ValueError(
                f"Disjoint() needs two sets: at least {2 * set_size} samples for set_size="
                f"{set_size}, got {n}"
            )
        if rng is None:
            raise ValueError("Disjoint() needs rng=np.random.default_rng(seed)")
        order = rng.permutation(n)[: num_sets * set_size]
        sets_SK = np.sort(order.reshape(num_sets, set_size), axis=1)
        used = f"disjoint ({num_sets:,} sets)"
        return credit_from_sets(objective, samples, sets_SK, used)
