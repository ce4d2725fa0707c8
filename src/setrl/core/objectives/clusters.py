"""The clusters of prompts as flat lists: their sizes, and sums over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        """The sum of the samples' values over each cluster: (B, N) → (C,)."""
        return np.bincount(self.at_BN.ravel(), values_BN.ravel(), minlength=len(self.size_C))

    def of_own(self, values_C: np.ndarray) -> np.ndarray:
        """x of each sample's own cluster, 0 for a degenerate sample: (C,) → (B, N)."""
        return np.where(self.size_C > 0, values_C, 0.0)[self.at_BN]

    def of_all(self, values_C: np.ndarray) -> np.ndarray:
        """Σ_c x_c over the clusters of each prompt: (C,) → (B, 1)."""
        num_prompts = len(self.at_BN)
        kept_C = np.where(self.size_C > 0, values_C, 0.0)
        return np.bincount(self.row_C, kept_C, minlength=num_prompts)[:, None]

    def of_others(self, values_C: np.ndarray) -> np.ndarray:
        """Σ_{c ≠ cᵢ} x_c over the clusters that each sample is not in: (C,) → (B, N)."""
        return self.of_all(values_C) - self.of_own(values_C)


def find_clusters(clusters_BN: np.ndarray) -> Clusters:
    """The clusters of dense samples."""
    at_BN, row_C = _places(clusters_BN)
    size_C = np.bincount(at_BN.ravel(), minlength=len(row_C))
    size_C[at_BN[clusters_BN == DEGENERATE]] = 0
    return Clusters(at_BN, row_C, size_C)


def count_distinct(clusters: np.ndarray) -> np.ndarray:
    """The number of different labels on the last axis, without `DEGENERATE`: (…, K) → (…)."""
    ordered = np.sort(clusters, axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return (first & (ordered != DEGENERATE)).sum(axis=-1).astype(np.float64)


def _places(clusters_BN: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A place for every (prompt, label), and the prompt of each place.

    Labels that lie close together are counted off, in O(N + C); others, such as hashes, sorted.
    """
    num_prompts, num_samples = clusters_BN.shape
    low = int(clusters_BN.min())
    width = int(clusters_BN.max()) - low + 1
    rows_B1 = np.arange(num_prompts)[:, None]
    if width <= 4 * num_samples:
        return clusters_BN - low + width * rows_B1, np.repeat(np.arange(num_prompts), width)
    _, labels = np.unique(clusters_BN, return_inverse=True)
    pairs_BN = labels.reshape(clusters_BN.shape) + (labels.max() + 1) * rows_B1
    _, first_C, at = np.unique(pairs_BN, return_index=True, return_inverse=True)
    return at.reshape(clusters_BN.shape), first_C // num_samples
