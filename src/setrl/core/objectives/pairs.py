"""Set objectives of a number for each pair of samples: their distances."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.chances import one_if_any_outside
from setrl.core.objectives.rewards import centre
from setrl.core.sums import mean, total
from setrl.samples.samples import Samples


@dataclass(frozen=True, repr=False)
class PairwiseDistance(Objective):
    """f(S) = the mean of pairsᵢⱼ over the pairs i < j of the set; 0 for K = 1, which has none.

    The diagonal of `pairs` is not read.
    """

    reads: ClassVar[tuple[str, ...]] = ("pairs",)

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the mean over the pairs of each set."""
        k = members.num_samples
        apart = ~np.eye(k, dtype=bool)
        return np.where(apart, members.pairs, 0.0).sum(axis=(-2, -1)) / max(k * (k - 1), 1)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """u − v = (2/K)·(mean of i's pairs − mean of the pairs without i); O(N²)."""
        n, k = samples.num_samples, set_size
        mean_B, pairs_BNN = _centred_pairs(samples.pairs)
        own_BN, rest_BN = _pair_means(pairs_BNN)
        defined = one_if_any_outside(n, k)
        if k == 1:
            nothing_BN = np.zeros(own_BN.shape)
            return SetMeans(nothing_BN, nothing_BN * defined, np.zeros(len(own_BN)))
        gain_BN = 2 / k * (own_BN - rest_BN)
        with_BN = mean_B[:, None] + rest_BN + gain_BN
        return SetMeans(
            with_BN=with_BN,
            contrast_BN=gain_BN * defined,
            mean_B=mean(with_BN),
            gain=lambda: gain_BN if k > 2 else with_BN,
        )

    def times_mean(self, values_BN: np.ndarray, samples: Samples, set_size: int) -> SetMeans:
        """Both factors are split into the prompt's mean and deviations from it; O(N²)."""
        k = set_size
        if k == 1:
            return self.set_means(samples, k)
        mean_B, deviation_BN = centre(values_BN)
        pair_mean_B, pairs_BNN = _centred_pairs(samples.pairs)
        distance = self.set_means(samples, k)
        gain_BN = deviation_BN * samples.num_samples / (max(samples.num_samples - 1, 1) * k)
        value_BN = gain_BN * (1 - k / samples.num_samples)
        both_BN, parts = _centred_product(deviation_BN, pairs_BNN, k)
        with_BN = mean_B[:, None] * distance.with_BN + pair_mean_B[:, None] * value_BN + both_BN
        parts = [mean_B[:, None] * distance.contrast_BN, pair_mean_B[:, None] * gain_BN, *parts]
        return SetMeans(
            with_BN,
            contrast_BN=functools.reduce(np.add, parts),
            mean_B=mean(with_BN),
            size_B=functools.reduce(np.add, [np.abs(part).max(axis=-1) for part in parts]),
        )


def _centred_pairs(pairs_BNN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over pairs of each prompt, and the pairs less it, with a diagonal of 0."""
    num_prompts, n, _ = pairs_BNN.shape
    apart_NN = ~np.eye(n, dtype=bool)
    first_B = pairs_BNN[:, 0, -1]
    shifted_BNN = np.where(apart_NN, pairs_BNN - first_B[:, None, None], 0.0)
    shift_B = shifted_BNN.sum(axis=(-2, -1)) / max(n * (n - 1), 1)
    centred_BNN = np.where(apart_NN, shifted_BNN - shift_B[:, None, None], 0.0)
    return (first_B + shift_B if n > 1 else np.zeros(num_prompts)), centred_BNN


def _pair_means(pairs_BNN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each sample's pairs, and of the pairs without it."""
    n = pairs_BNN.shape[-1]
    row_BN = pairs_BNN.sum(axis=-1)
    rest_BN = row_BN.sum(axis=-1, keepdims=True) / 2 - row_BN
    return row_BN / max(n - 1, 1), rest_BN / max((n - 1) * (n - 2) / 2, 1)


def _centred_product(
    values_BN: np.ndarray, pairs_BNN: np.ndarray, set_size: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return u, and the terms of u − v, of (mean of x) · (mean of D over pairs), both centred.

    The product is a sum over a value j and a pair {k, l}: j is one of the pair, or a third sample.
    Each kind is split into what holds sample i and what does not.
    """
    n, k = pairs_BNN.shape[-1], set_size
    row_BN = pairs_BNN.sum(axis=-1)
    across_BN = total(pairs_BNN * values_BN[:, None])
    total_B1 = total(values_BN * row_BN)[:, None]  # over j in the pair; over thirds, its negative
    pair_with_BN = values_BN * row_BN + across_BN
    third_with_BN = -2 * values_BN * row_BN - across_BN
    pair_rest_BN, third_rest_BN = total_B1 - pair_with_BN, -total_B1 - third_with_BN
    n_less_1, n_less_2, n_less_3 = (max(n - size, 1) for size in (1, 2, 3))
    two_of_BN = (k - 1) / n_less_1 * pair_with_BN
    three_of = (k - 1) * (k - 2) / (n_less_1 * n_less_2)
    with_BN = two_of_BN + three_of * (
        pair_rest_BN + third_with_BN + (k - 3) / n_less_3 * third_rest_BN
    )
    scale = k * (k * (k - 1) / 2)
    return with_BN / scale, [
        two_of_BN / scale,
        three_of / scale * third_with_BN,
        -2 * (k - 1) / (n_less_1 * n_less_2 * scale) * pair_rest_BN,
        -3 * three_of / (n_less_3 * scale) * third_rest_BN,
    ]
