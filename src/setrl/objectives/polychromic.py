"""The polychromic objective of Poly-EPO: mean reward × share of different strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setrl.objectives.base import Objective, SetMeans
from setrl.objectives.chances import Chances, chances
from setrl.objectives.clusters import Clusters, count_distinct, find_clusters
from setrl.objectives.rewards import centre
from setrl.samples import Samples


@dataclass(frozen=True)
class Polychromic(Objective):
    """f(S) = (1/K) Σ_{i∈S} rᵢ · |{cᵢ : i∈S}| / K.

    Degenerate samples add no strategy; their reward counts. arXiv:2604.17654, Eq. 10 and 11, in the
    form of its code: a set with one strategy is worth mean reward / K (the paper's Algorithm 2
    makes it 0).
    """

    reads: ClassVar[tuple[str, ...]] = ("rewards", "clusters")

    def __call__(self, members: Samples) -> np.ndarray:
        """The polychromic score of each set."""
        share = count_distinct(members.clusters) / members.num_samples
        return members.rewards.mean(axis=-1) * share

    def set_means(self, samples: Samples, set_size: int) -> SetMeans:
        """Exact in O(N + C) a prompt: K² f(S) = C·R(S) − Σ_c R(S)·1{S misses c}.

        R(S) is the sum of the set's rewards and C the number of clusters. The first term is the
        mean objective; in the second each cluster contributes by itself, and a sample's own
        cluster is missed only by sets without it.
        """
        rewards_BN = samples.rewards
        table = chances(samples.num_samples, set_size)
        clusters = find_clusters(samples.clusters)
        count_B1 = clusters.of_all(np.ones(clusters.size_C.shape))
        with_BN, contrast_BN = _reward_means(rewards_BN, set_size)
        rest_C = rewards_BN.sum(axis=-1)[clusters.row_C] - clusters.total(rewards_BN)
        with_BN = count_B1 * with_BN - _missed_with(rewards_BN, rest_C, clusters, table)
        contrast_BN = count_B1 * contrast_BN - _missed_contrast(rewards_BN, rest_C, clusters, table)
        scale = float(set_size) ** 2
        return SetMeans(with_BN / scale, contrast_BN / scale, with_BN.mean(axis=-1) / scale)


def _reward_means(rewards_BN: np.ndarray, set_size: int) -> tuple[np.ndarray, np.ndarray]:
    """u and u − v of R(S) = Σ_{i∈S} rᵢ."""
    n, k = rewards_BN.shape[-1], set_size
    mean_B, centred_BN = centre(rewards_BN)
    contrast_BN = centred_BN * (n / max(n - 1, 1))
    return k * mean_B[:, None] + contrast_BN * (1 - k / n), contrast_BN


def _missed_with(
    rewards_BN: np.ndarray, rest_C: np.ndarray, clusters: Clusters, table: Chances
) -> np.ndarray:
    """u of Σ_c R(S)·1{S misses c}: of the clusters c that i is not in,

    u_c = q[m]·(rᵢ + h[m]·(rest_c − rᵢ)),   h[m] = (K−1)/(n−1−m),   q = missed_with

    where m = |c|, rest_c is the sum of the rewards outside of c, and h the chance that a given
    sample outside of it is in the set too.
    """
    others_C = np.maximum(table.num_samples - 1 - clusters.size_C, 1)
    missed_C = table.missed_with[clusters.size_C]
    in_set_C = (table.set_size - 1) / others_C
    return _of_others(rewards_BN, rest_C, clusters, missed_C, missed_C * in_set_C)


def _missed_contrast(
    rewards_BN: np.ndarray, rest_C: np.ndarray, clusters: Clusters, table: Chances
) -> np.ndarray:
    """u − v of Σ_c R(S)·1{S misses c}: with m = |c| and q = missed_with,

    u_c − v_c = q[m]·(rᵢ + g[m]·(rest_c − rᵢ))      for the clusters that i is not in
    u_c − v_c = −q[m]·K/(n−K)·rest_c                for its own

    where g[m] = (K·m − (n−K)) / ((n−1−m)(n−K)) joins what sets with and without i say of another
    sample's reward, so that the two are never subtracted.
    """
    n, k, size_C = table.num_samples, table.set_size, clusters.size_C
    missed_C = table.missed_with[size_C]
    joint_C = (k * size_C - table.outside) / (np.maximum(n - 1 - size_C, 1) * table.outside)
    own_BN = clusters.of_own(missed_C * rest_C * (k / table.outside))
    return _of_others(rewards_BN, rest_C, clusters, missed_C, missed_C * joint_C) - own_BN


def _of_others(
    rewards_BN: np.ndarray,
    rest_C: np.ndarray,
    clusters: Clusters,
    own_C: np.ndarray,
    other_C: np.ndarray,
) -> np.ndarray:
    """Σ_{c ≠ cᵢ} own_c·rᵢ + other_c·(rest_c − rᵢ)."""
    constant_BN = clusters.of_others(other_C * rest_C)
    return constant_BN + clusters.of_others(own_C - other_C) * rewards_BN
