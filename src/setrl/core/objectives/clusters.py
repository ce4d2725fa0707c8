"""The clusters of prompts as flat lists: their sizes, sums over them, and means of sets without."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from setrl.core.objectives.chances import Chances, chances
from setrl.core.samples import DEGENERATE


class Clusters(NamedTuple):
    """The clusters of all prompts in one list of length C; a degenerate sample is in none.

    Attributes:
        at_BN: The place in the list of each sample's cluster.
        row_C: The prompt of each cluster.
        size_C: How many samples it has; 0 at the places of degenerate samples.
    """

    at_BN: np.ndarray
    row_C: np.ndarray
    size_C: np.ndarray

    def total(self, values_BN: np.ndarray) -> np.ndarray:
        """Return the sum of the samples' values over each cluster: (B, N) → (C,)."""
        return np.bincount(self.at_BN.ravel(), values_BN.ravel(), minlength=len(self.size_C))

    def of_own(self, values_C: np.ndarray) -> np.ndarray:
        """x of each sample's own cluster, 0 for a degenerate sample: (C,) → (B, N)."""
        return np.take(self.kept(values_C), self.at_BN)

    def of_all(self, values_C: np.ndarray) -> np.ndarray:
        """Σ_c x_c over the clusters of each prompt: (C,) → (B, 1)."""
        num_prompts = len(self.at_BN)
        return np.bincount(self.row_C, self.kept(values_C), minlength=num_prompts)[:, None]

    def of_others(self, values_C: np.ndarray) -> np.ndarray:
        """Σ_{c ≠ cᵢ} x_c over the clusters that each sample is not in: (C,) → (B, N)."""
        return np.take(self.others(values_C), self.at_BN)

    def others(self, values_C: np.ndarray) -> np.ndarray:
        """Σ x over the other clusters of the cluster's prompt: (C,) → (C,)."""
        return np.take(self.of_all(values_C), self.row_C) - self.kept(values_C)

    def kept(self, values_C: np.ndarray | float) -> np.ndarray:
        """x of each cluster, 0 at the places of degenerate samples: (C,) → (C,)."""
        return np.where(self.size_C > 0, values_C, 0.0)

    def largest(self, values_C: np.ndarray) -> np.ndarray:
        """Return the largest |x| of each prompt's clusters: (C,) → (B, 1)."""
        first_B = np.searchsorted(self.row_C, np.arange(len(self.at_BN)))
        return np.maximum.reduceat(np.abs(self.kept(values_C)), first_B)[:, None]


def find_clusters(clusters_BN: np.ndarray) -> Clusters:
    """Return the clusters of dense samples."""
    at_BN, row_C, degenerate = _places(clusters_BN)
    size_C = np.bincount(at_BN.ravel(), minlength=len(row_C))
    size_C[degenerate] = 0
    return Clusters(at_BN, row_C, size_C)


def count_distinct(clusters: np.ndarray) -> np.ndarray:
    """Return how many different labels the last axis has, without `DEGENERATE`: (…, K) → (…)."""
    ordered = np.sort(clusters, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return (first & (ordered != DEGENERATE)).sum(axis=-1).astype(np.float64)


def _places(clusters_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray, slice | np.ndarray]:
    """Return a place for every (prompt, label), the prompt of each, and the degenerate places.

    Labels that lie close together are counted off, in O(N + C); others, such as hashes, sorted.
    """
    num_prompts, num_samples = clusters_BN.shape
    low = int(clusters_BN.min())
    width = int(clusters_BN.max()) - low + 1
    rows_B1 = np.arange(num_prompts)[:, None]
    if width <= 4 * num_samples:
        row_C = np.repeat(np.arange(num_prompts), width)
        first = slice(0, None if low == DEGENERATE else 0, width)
        return clusters_BN + (width * rows_B1 - low), row_C, first
    _, labels = np.unique(clusters_BN, return_inverse=True)
    pairs_BN = labels.reshape(clusters_BN.shape) + (labels.max() + 1) * rows_B1
    _, first_C, at = np.unique(pairs_BN, return_index=True, return_inverse=True)
    is_degenerate_C = clusters_BN.ravel()[first_C] == DEGENERATE
    return at.reshape(clusters_BN.shape), first_C // num_samples, is_degenerate_C


class Missed(NamedTuple):
    """U and u − v of R(S)·1{S misses a group}, for each of many groups.

    u − v is slope·xᵢ + level for a sample i outside of the group, and `held` for one in it.
    """

    mean_C: np.ndarray
    slope_C: np.ndarray
    level_C: np.ndarray
    held_C: np.ndarray


class Part(NamedTuple):
    """U and u − v of what a diversity is added up from, and the size of the numbers in u − v."""

    mean_B1: np.ndarray
    contrast_BN: np.ndarray
    size_B1: np.ndarray


class MissedMeans:
    """U and u − v of R(S)·1{S misses a group}, the building block of cluster diversities.

    R(S) = Σ_{i∈S} xᵢ for any values x, and the groups are those that a prompt's clusters make. For
    a group of m samples, where `rest` is the sum of the values outside of it, q = missed_with and n
    samples in the prompt:

        U = q[m]·K/n·rest
        u − v = q[m]·(xᵢ + g·(rest − xᵢ)),   g = (K·m − (n−K)) / ((n−1−m)·(n−K))  i not in the group
        u − v = −q[m]·K/(n−K)·rest                                                i in the group

    q·g is the chance that a set with i holds another sample and misses the group, less that chance
    for a set without i. The two are often nearly equal, and their difference would lose its digits:
    it is taken in closed form, never by subtraction.
    """

    def __init__(self, values_BN: np.ndarray, clusters: Clusters, set_size: int) -> None:
        self.values_BN = values_BN
        self.clusters = clusters
        self.table = chances(values_BN.shape[-1], set_size)
        self.sum_C = values_BN.sum(axis=-1)[clusters.row_C]
        self.total_C = clusters.total(values_BN)
        size_BN = np.abs(values_BN)
        self.largest_B1 = size_BN.max(axis=-1, keepdims=True)
        self.reach_C = size_BN.sum(axis=-1)[clusters.row_C]

    def each_cluster(self, factor: float) -> Part:
        """Return factor · Σ_c R(S)·1{S misses cluster c}."""
        size_C, at_BN = self.clusters.size_C, self.clusters.at_BN
        group = _missed(self.table, size_C, self.sum_C - self.total_C)
        # What a sample gets from its own group and from all others, looked up in one go.
        level_C = self.clusters.others(group.level_C) + self.clusters.kept(group.held_C)
        contrast_BN = np.take(factor * self.clusters.others(group.slope_C), at_BN)
        contrast_BN *= self.values_BN
        contrast_BN += np.take(factor * level_C, at_BN)
        mean_B1 = factor * self.clusters.of_all(group.mean_C)
        return Part(mean_B1, contrast_BN, abs(factor) * self._size(size_C))

    def each_rest(self) -> Part:
        """Σ_c R(S)·1{S misses every cluster but c}: S has no strategy but c."""
        of_own, of_all = self.clusters.of_own, self.clusters.of_all
        # "All but c" is a group too: its samples are in the prompt's other clusters.
        clustered_C = of_all(self.clusters.size_C)[self.clusters.row_C, 0].astype(np.int64)
        outside_C = self.sum_C - of_all(self.total_C)[self.clusters.row_C, 0] + self.total_C
        others_C = np.maximum(clustered_C - self.clusters.size_C, 0)
        group = _missed(self.table, others_C, outside_C)
        contrast_BN = np.where(
            self._clustered_BN,
            self.clusters.of_others(group.held_C)
            + of_own(group.level_C)
            + of_own(group.slope_C) * self.values_BN,
            of_all(group.level_C) + of_all(group.slope_C) * self.values_BN,
        )
        return Part(of_all(group.mean_C), contrast_BN, self._size(others_C))

    def all_clusters(self) -> Part:
        """R(S)·1{S misses every cluster}: S is of degenerate samples only."""
        size_B = self._clustered_BN.sum(axis=-1)
        rest_B = np.where(self._clustered_BN, 0.0, self.values_BN).sum(axis=-1)
        group = _missed(self.table, size_B, rest_B)
        contrast_BN = np.where(
            self._clustered_BN,
            group.held_C[:, None],
            group.level_C[:, None] + group.slope_C[:, None] * self.values_BN,
        )
        return Part(group.mean_C[:, None], contrast_BN, largest(contrast_BN))

    def _size(self, size_C: np.ndarray) -> np.ndarray:
        """Return the size of the numbers in a sum over clusters, for groups of these sizes.

        The sums of values outside of the groups are differences: their errors go by Σ |xᵢ|.
        """
        group, of_all = _missed(self.table, size_C, self.reach_C), self.clusters.of_all
        level_B1, slope_B1 = of_all(np.abs(group.level_C)), of_all(np.abs(group.slope_C))
        return level_B1 + self.clusters.largest(group.held_C) + slope_B1 * self.largest_B1

    @property
    def _clustered_BN(self) -> np.ndarray:
        return self.clusters.of_own(np.ones(self.total_C.shape)) > 0


def largest(values_BN: np.ndarray) -> np.ndarray:
    """Return the largest |x| of each prompt, (B, 1)."""
    return np.abs(values_BN).max(axis=-1, keepdims=True)


def _missed(table: Chances, size_C: np.ndarray, rest_C: np.ndarray) -> Missed:
    """U and u − v for groups of these sizes, with these sums of values outside of them."""
    unit = _missed_units(table.num_samples, table.set_size)
    return Missed(
        mean_C=unit.mean_C[size_C] * rest_C,
        slope_C=unit.slope_C[size_C],
        level_C=unit.level_C[size_C] * rest_C,
        held_C=unit.held_C[size_C] * rest_C,
    )


@lru_cache(maxsize=256)
def _missed_units(num_samples: int, set_size: int) -> Missed:
    """U and u − v for groups of 0 … n samples, where the values outside of them sum to 1."""
    n, k, table = num_samples, set_size, chances(num_samples, set_size)
    size_m = np.arange(n + 1)
    # A group of n − 1 samples leaves no third one whose value could be joined: 1 avoids 0/0 there.
    others_m = np.maximum(n - 1 - size_m, 1)
    missed_m = table.missed_with
    joint_m = missed_m * (k * size_m - table.outside) / (others_m * table.outside)
    return Missed(
        mean_C=missed_m * (k / n),
        slope_C=missed_m - joint_m,
        level_C=joint_m,
        held_C=-missed_m * (k / table.outside),
    )
