"""Ranked samples: what depends on ranks is a sum over thresholds, one between each two ranks.

With the values x in the order of the ranks and Δₖ = x₍ₖ₊₁₎ − x₍ₖ₎, the value of the set's highest
rank is x₍₀₎ + Σₖ Δₖ 1{S holds a rank above k}. A sample gains from the thresholds below it and pays
at those that it does not pass; the two sums are kept apart, so that u − v is never formed as the
difference of two near-equal means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ranked:
    """Values of each prompt's samples in ascending order of a key.

    Attributes:
        place_BN: Where in the flattened array the sample of each rank stands.
        values_BN: The values by rank.
    """

    place_BN: np.ndarray
    values_BN: np.ndarray

    @property
    def above_n(self) -> np.ndarray:
        """How many samples pass each of the N − 1 thresholds."""
        return np.arange(self.values_BN.shape[1] - 1, 0, -1)

    def passed(self, share_n: np.ndarray) -> np.ndarray:
        """Σ Δₖ·shareₖ over the thresholds k below each sample's rank: (N−1,) → (B, N)."""
        return self.by_sample(_up_to_here(np.diff(self.values_BN, axis=-1) * share_n))

    def ahead(self, share_n: np.ndarray) -> np.ndarray:
        """Σ Δₖ·shareₖ over the thresholds k that each sample does not pass: (N−1,) → (B, N)."""
        step_Bn = (np.diff(self.values_BN, axis=-1) * share_n)[:, ::-1]
        return self.by_sample(_up_to_here(step_Bn)[:, ::-1])

    def by_sample(self, ranked_BN: np.ndarray) -> np.ndarray:
        """Values by rank → values by sample."""
        values = np.empty(ranked_BN.size)
        values[self.place_BN] = ranked_BN
        return values.reshape(ranked_BN.shape)


def rank(key_BN: np.ndarray, values_BN: np.ndarray | None = None) -> Ranked:
    """The values (of the key itself, if none are given) in ascending order of the key."""
    num_prompts, n = key_BN.shape
    place_BN = np.argsort(key_BN, axis=-1) + n * np.arange(num_prompts)[:, None]
    values = (key_BN if values_BN is None else values_BN).ravel()
    return Ranked(place_BN, values[place_BN])


def _up_to_here(steps_Bn: np.ndarray) -> np.ndarray:
    """For each rank, the sum over the thresholds below it: (B, N−1) → (B, N)."""
    sums_BN = np.zeros((steps_Bn.shape[0], steps_Bn.shape[1] + 1))
    np.cumsum(steps_Bn, axis=-1, out=sums_BN[:, 1:])
    return sums_BN
