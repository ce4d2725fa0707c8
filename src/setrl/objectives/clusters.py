"""Set objectives of the clusters: how many strategies a set holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.objectives.base import Objective, SetMeans
from setrl.objectives.chances import chances
from setrl.samples import DEGENERATE, Samples


@dataclass(frozen=True)
class Distinct(Objective):
    """f(S) = |{cᵢ : i∈S, cᵢ ≠ DEGENERATE}|, the number of different strategies in the set."""

    reads: ClassVar[tuple[str, ...]] = ("clusters",)

    def __call__(self, members: Samples) -> np.ndarray:
        """The number of different clusters of each set; degenerate samples count in none."""
        return count_distinct(members.clusters)

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """A sum over clusters of the chance that a set hits it; O(N)."""
        table = chances(samples.num_samples, set_size)
        groups = cluster_groups(samples.clusters)
        valid_BN, size_BN = groups.valid_BN, groups.size_BN
        hit_BN = groups.over_others(1.0 - table.missed_with[size_BN])
        paid_BN = groups.over_others(size_BN * table.missed_with[size_BN]) / table.outside
        with_BN = valid_BN + hit_BN
        return SetMeans(
            with_BN=with_BN,
            contrast_BN=np.where(valid_BN, table.hit_contrast(valid_BN, size_BN), 0.0) - paid_BN,
            mean_B=with_BN.mean(axis=-1),
            gain_BN=table.hit_gain(valid_BN, size_BN),
        )


class Groups(NamedTuple):
    """Of each sample's own cluster: whether it has one, how large it is, and its reward sum."""

    valid_BN: np.ndarray
    size_BN: np.ndarray
    total_BN: np.ndarray

    def over_clusters(self, values_BN: np.ndarray) -> np.ndarray:
        """Σ_c x_c, shape (B, 1), for values that are equal within a cluster.

        Each cluster is met once for each of its samples, so each is weighted by 1 / size.
        """
        return self._share(values_BN).sum(axis=-1, keepdims=True)

    def over_others(self, values_BN: np.ndarray) -> np.ndarray:
        """Σ_{c ≠ cᵢ} x_c, shape (B, N): the sum over the clusters that sample i is not in."""
        return self.over_clusters(values_BN) - np.where(self.valid_BN, values_BN, 0.0)

    def _share(self, values_BN: np.ndarray) -> np.ndarray:
        return np.where(self.valid_BN, values_BN / np.maximum(self.size_BN, 1), 0.0)


def cluster_groups(clusters_BN: np.ndarray, rewards_BN: np.ndarray | None = None) -> Groups:
    """Cluster sizes (0 for degenerate samples) and cluster reward sums, sample by sample."""
    key_BN = _keys(clusters_BN)
    valid_BN = clusters_BN != DEGENERATE
    size_BN = np.where(valid_BN, np.bincount(key_BN.ravel())[key_BN], 0)
    if rewards_BN is None:
        return Groups(valid_BN, size_BN, np.zeros(clusters_BN.shape))
    total_K = np.bincount(key_BN.ravel(), weights=rewards_BN.ravel())
    return Groups(valid_BN, size_BN, np.where(valid_BN, total_K[key_BN], 0.0))


def count_distinct(clusters: np.ndarray) -> np.ndarray:
    """The number of different labels on the last axis, without `DEGENERATE`: (…, K) → (…)."""
    ordered = np.sort(clusters, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return (first & (ordered != DEGENERATE)).sum(axis=-1).astype(np.float64)


def _keys(clusters_BN: np.ndarray) -> np.ndarray:
    """Small integers that are equal where prompt and cluster are."""
    num_prompts, num_samples = clusters_BN.shape
    low, high = clusters_BN.min(), clusters_BN.max()
    width = int(high) - int(low) + 1
    rows_B1 = np.arange(num_prompts)[:, None]
    if width <= 4 * num_samples:
        return clusters_BN - low + width * rows_B1
    _, labels = np.unique(clusters_BN, return_inverse=True)
    labels_BN = labels.reshape(clusters_BN.shape)
    _, keys = np.unique(labels_BN + (labels.max() + 1) * rows_B1, return_inverse=True)
    return keys.reshape(clusters_BN.shape)
