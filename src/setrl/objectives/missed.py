"""Exact means of R(S)·1{S misses a group}, of which the diversities of clusters are made.

R(S) = Σ_{i∈S} xᵢ for any values x. For a group of m samples, where `rest` is the sum of the values
outside of it, q = missed_with and n samples of which sets hold K:

    u = q[m]·(xᵢ + h·(rest − xᵢ)),        h = (K−1) / (n−1−m)                    i not in the group
    u = 0                                                                         i in the group
    u − v = q[m]·(xᵢ + g·(rest − xᵢ)),    g = (K·m − (n−K)) / ((n−1−m)·(n−K))     i not in the group
    u − v = −q[m]·K/(n−K)·rest                                                    i in the group

h is the chance that a given other sample outside of the group is in the set. g joins what sets with
and without i say of another sample's value, so that the two are never subtracted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setrl.objectives.chances import Chances, chances
from setrl.objectives.clusters import Clusters


class Missed(NamedTuple):
    """One mean of R(S)·1{S misses a group}, for each of many groups.

    It is slope·xᵢ + level for a sample i outside of the group, and `held` for one in it.
    """

    slope_C: np.ndarray
    level_C: np.ndarray
    held_C: np.ndarray


class MissedMeans:
    """u and u − v of R(S)·1{S misses …}, for the groups that a prompt's clusters make.

    Each method gives the pair (u, u − v), of shape (B, N).
    """

    def __init__(self, values_BN: np.ndarray, clusters: Clusters, set_size: int) -> None:
        self.values_BN = values_BN
        self.clusters = clusters
        self.table = chances(values_BN.shape[-1], set_size)
        self.sum_C = values_BN.sum(axis=-1)[clusters.row_C]
        self.total_C = clusters.total(values_BN)

    def each_cluster(self) -> list[np.ndarray]:
        """Σ_c R(S)·1{S misses cluster c}."""
        groups = _missed(self.table, self.clusters.size_C, self.sum_C - self.total_C)
        return [
            self.clusters.of_others(g.level_C)
            + self.clusters.of_others(g.slope_C) * self.values_BN
            + self.clusters.of_own(g.held_C)
            for g in groups
        ]

    def each_rest(self) -> list[np.ndarray]:
        """Σ_c R(S)·1{S misses every cluster but c}: S has no strategy but c."""
        of_own, of_all = self.clusters.of_own, self.clusters.of_all
        clustered_C = of_all(self.clusters.size_C)[self.clusters.row_C, 0].astype(np.int64)
        outside_C = self.sum_C - of_all(self.total_C)[self.clusters.row_C, 0] + self.total_C
        groups = _missed(self.table, np.maximum(clustered_C - self.clusters.size_C, 0), outside_C)
        return [
            np.where(
                self._clustered_BN,
                self.clusters.of_others(g.held_C)
                + of_own(g.level_C)
                + of_own(g.slope_C) * self.values_BN,
                of_all(g.level_C) + of_all(g.slope_C) * self.values_BN,
            )
            for g in groups
        ]

    def all_clusters(self) -> list[np.ndarray]:
        """R(S)·1{S misses every cluster}: S is of degenerate samples only."""
        size_B = self._clustered_BN.sum(axis=-1)
        rest_B = np.where(self._clustered_BN, 0.0, self.values_BN).sum(axis=-1)
        return [
            np.where(
                self._clustered_BN,
                g.held_C[:, None],
                g.level_C[:, None] + g.slope_C[:, None] * self.values_BN,
            )
            for g in _missed(self.table, size_B, rest_B)
        ]

    @property
    def _clustered_BN(self) -> np.ndarray:
        return self.clusters.of_own(np.ones(self.total_C.shape)) > 0


def _missed(table: Chances, size_C: np.ndarray, rest_C: np.ndarray) -> tuple[Missed, Missed]:
    """u and u − v for groups of these sizes, with these sums of values outside of them."""
    n, k, outside = table.num_samples, table.set_size, table.outside
    missed_C = table.missed_with[size_C]
    others_C = np.maximum(n - 1 - size_C, 1)
    with_C = missed_C * (k - 1) / others_C
    joint_C = missed_C * (k * size_C - outside) / (others_C * outside)
    held_C = -missed_C * (k / outside) * rest_C
    return (
        Missed(missed_C - with_C, with_C * rest_C, np.zeros(missed_C.shape)),
        Missed(missed_C - joint_C, joint_C * rest_C, held_C),
    )
