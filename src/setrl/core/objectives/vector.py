"""Set objectives of two rewards at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.elementary import CHUNK
from setrl.core.objectives.ranks import Max
from setrl.core.sums import total
from setrl.samples.samples import Samples


@dataclass(frozen=True, repr=False)
class VectorMax(Objective):
    """f(S) = ∫₀¹ max_{i∈S} (w·rᵢ + (1 − w)·sᵢ) dw: the best member for a weight not known yet.

    r is the reward and s the `second` one. It is E_w max_i w·rᵢ of VPO (arXiv:2605.22817) for two
    rewards and weights that are uniform, Dir(1, 1): a set is worth more than its best member on
    average only where members are best at different weights.
    """

    reads: ClassVar[tuple[str, ...]] = ("rewards", "second")

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the integral, piece by piece between weights at which two members are equal."""
        shape, k = members.rewards.shape[:-1], members.num_samples
        first, second = members.rewards.reshape(-1, k), members.second.reshape(-1, k)
        above, below = np.triu_indices(k, 1)
        crossing = _crossing(first[:, above] - first[:, below], second[:, above] - second[:, below])
        ends = np.zeros((len(first), 1)), np.ones((len(first), 1))
        weight = np.sort(np.concatenate([*ends, crossing], axis=1), axis=1)
        middle = (weight[:, 1:] + weight[:, :-1])[..., None] / 2
        best = (middle * first[:, None] + (1 - middle) * second[:, None]).max(axis=-1)
        return (best * np.diff(weight, axis=1)).sum(axis=1).reshape(shape)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Return the means of max@K, linear in w while no two samples change their order.

        O(T·N log N) a prompt, for T weights at which two do: up to N²/2, fewer with equal samples.
        """
        rows = zip(samples.rewards, samples.second, strict=True)
        prompts = [_prompt_means(*row, set_size) for row in rows]
        parts = [np.stack(part) for part in zip(*prompts, strict=True)]
        with_BN, contrast_BN, gain_BN, mean_B, size_B = parts
        return SetMeans(with_BN, contrast_BN, mean_B, gain=lambda: gain_BN, size_B=size_B)


def _crossing(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the weight at which two members of these differences are equal; 0 for none."""
    slope = first - second
    weight = np.divide(-second, slope, out=np.zeros(slope.shape), where=slope != 0)
    return np.clip(weight, 0.0, 1.0)


def _prompt_means(
    first_N: np.ndarray, second_N: np.ndarray, set_size: int
) -> tuple[np.ndarray, ...]:
    """u, u − v, u − w, U of one prompt, and the size of the numbers that u − v is added up from."""
    kinds = np.unique(np.stack([first_N, second_N]), axis=1)
    above, below = np.triu_indices(kinds.shape[1], 1)
    crossing_T = _crossing(*(kinds[:, above] - kinds[:, below]))
    weight_T = np.unique(np.concatenate([[0.0, 1.0], crossing_T]))
    middle_T, share_T = (weight_T[1:] + weight_T[:-1]) / 2, np.diff(weight_T)
    pieces = np.array_split(np.arange(len(middle_T)), ceil(len(middle_T) * len(first_N) / CHUNK))
    found = [
        _between(middle_T[at, None], share_T[at], first_N, second_N, set_size) for at in pieces
    ]
    return tuple(np.sum(part, axis=0) for part in zip(*found, strict=True))


def _between(
    middle_T1: np.ndarray,
    share_T: np.ndarray,
    first_N: np.ndarray,
    second_N: np.ndarray,
    set_size: int,
) -> tuple[np.ndarray, ...]:
    """Return what intervals of weights, of these middles and lengths, add to the means."""
    means = Max().set_means(Samples(middle_T1 * first_N + (1 - middle_T1) * second_N), set_size)
    assert means.gain_BN is not None
    parts = (means.with_BN, means.contrast_BN, means.gain_BN, means.mean_B)
    size_T = np.abs(means.contrast_BN).max(axis=1)
    return *(total(share_T * part.T) for part in parts), total(share_T * size_T)
