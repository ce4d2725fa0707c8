"""Ranked samples: what depends on ranks is a sum over thresholds, one between each two ranks.

With the values x in the order of the ranks and Δₖ = x₍ₖ₊₁₎ − x₍ₖ₎, the value of the set's highest
rank is x₍₀₎ + Σₖ Δₖ 1{S holds a rank above k}. A sample gains from the thresholds below it and pays
at those that it does not pass; the two sums are kept apart, so that u − v is never formed as the
difference of two near-equal means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from setrl.core.objectives.chances import chances
from setrl.core.sums import total


@dataclass(frozen=True)
class Ranked:
    """Values of each prompt's samples in ascending order of a key.

    Attributes:
        place_BN: Where in the flattened array the sample of each rank stands.
        values_BN: The values by rank.
    """

    place_BN: np.ndarray
    values_BN: np.ndarray

    @cached_property
    def step_Bn(self) -> np.ndarray:
        """Δ at each of the N − 1 thresholds."""
        return self.values_BN[:, 1:] - self.values_BN[:, :-1]

    def over_thresholds(self, passed_n: np.ndarray, ahead_n: np.ndarray) -> np.ndarray:
        """Σ Δₖ·passedₖ over the thresholds below a sample + Σ Δₖ·aheadₖ over the others: (B, N)."""
        # The two running sums go through one array of complex numbers, in half of the time: one
        # from the first threshold up, one from the last threshold down.
        both_BN = np.zeros(self.values_BN.shape, dtype=np.complex128)
        np.multiply(self.step_Bn, passed_n, out=both_BN.real[:, 1:])
        np.multiply(self.step_Bn[:, ::-1], ahead_n[::-1], out=both_BN.imag[:, 1:])
        np.cumsum(both_BN, axis=-1, out=both_BN)
        return self.by_sample(both_BN.real + both_BN.imag[:, ::-1])

    def by_sample(self, ranked_BN: np.ndarray) -> np.ndarray:
        """Values by rank → values by sample."""
        values = np.empty(ranked_BN.size)
        values[self.place_BN] = ranked_BN
        return values.reshape(ranked_BN.shape)


def rank(key_BN: np.ndarray, values_BN: np.ndarray | None = None) -> Ranked:
    """Return the values (of the key itself, if none are given) in ascending order of the key."""
    num_prompts, n = key_BN.shape
    place_BN, ordered_BN = _order(key_BN)
    place_BN += n * np.arange(num_prompts)[:, None]
    if values_BN is not None or ordered_BN is None:
        ordered_BN = np.take(key_BN if values_BN is None else values_BN, place_BN)
    return Ranked(place_BN, ordered_BN)


def top_means(ranked_BN: np.ndarray, set_sizes: Sequence[int]) -> np.ndarray:
    """Return the mean value of the set's highest rank, values in ascending order: (sizes, B)."""
    n = ranked_BN.shape[1]
    return np.stack([total(ranked_BN * chances(n, k).top) for k in set_sizes])


def _order(key_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return an order that sorts each row, equal keys in any, and the sorted keys if known.

    Sorting keys is several times faster than sorting indices by them. Where the last bits of all
    keys are 0, as in 0, 1 and all numbers that were float32, each key carries its index in them.
    """
    n = key_BN.shape[-1]
    low_bits = (1 << (n - 1).bit_length()) - 1
    bits_BN = key_BN.view(np.int64)
    if np.bitwise_or.reduce(bits_BN, axis=None) & low_bits:
        return np.argsort(key_BN, axis=-1), None
    # Sorted as integers: 0 with an index in its last bits is a float that some threads (of XLA, in
    # a callback) take for 0. Different keys differ in a higher bit, which the index leaves alone.
    is_signed = bits_BN.min(initial=0) < 0
    taken_BN = (_turned(bits_BN) if is_signed else bits_BN) & ~low_bits | np.arange(n)
    taken_BN.sort(axis=-1)
    bits_BN = _turned(taken_BN) if is_signed else taken_BN
    return taken_BN & low_bits, (bits_BN & ~low_bits).view(np.float64)


def _turned(bits_BN: np.ndarray) -> np.ndarray:
    """Return integers in the order of the floats of these bits, or the bits of such integers."""
    return bits_BN ^ (bits_BN >> 63 & np.iinfo(np.int64).max)  # a negative one flips all the others
