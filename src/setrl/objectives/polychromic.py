"""The polychromic objective of Poly-EPO: mean reward × share of different strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setrl.objectives.base import Objective, SetMeans
from setrl.objectives.chances import Chances, chances
from setrl.objectives.clusters import Groups, cluster_groups, count_distinct
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
        """Exact in O(N) a prompt: K² f(S) = C·R(S) − Σ_c R(S)·1{S misses c}.

        R(S) is the sum of the set's rewards and C the number of clusters. The first term is the
        mean objective; in the second each cluster contributes by itself, and a sample's own
        cluster is missed only by sets without it.
        """
        table = chances(samples.num_samples, set_size)
        groups = cluster_groups(samples.clusters, samples.rewards)
        num_clusters_B1 = groups.over_clusters(np.ones(samples.rewards.shape))
        with_BN, contrast_BN = _reward_means(samples.rewards, set_size)
        with_BN = num_clusters_B1 * with_BN - _missed_with(samples.rewards, groups, table)
        contrast_BN = num_clusters_B1 * contrast_BN - _missed_contrast(
            samples.rewards, groups, table
        )
        scale = float(set_size) ** 2
        return SetMeans(with_BN / scale, contrast_BN / scale, with_BN.mean(axis=-1) / scale)


def _reward_means(rewards_BN: np.ndarray, set_size: int) -> tuple[np.ndarray, np.ndarray]:
    """u and u − v of R(S) = Σ_{i∈S} rᵢ."""
    n, k = rewards_BN.shape[-1], set_size
    mean_B, centred_BN = centre(rewards_BN)
    contrast_BN = centred_BN * n / max(n - 1, 1)
    return k * mean_B[:, None] + contrast_BN * (1 - k / n), contrast_BN


def _missed_with(rewards_BN: np.ndarray, groups: Groups, table: Chances) -> np.ndarray:
    """u of Σ_c R(S)·1{S misses c}: of the clusters c that i is not in,

    u_c = q[m]·(rᵢ + h[m]·(R − rᵢ − T_c)),   h[m] = (K−1)/(n−1−m),   q = missed_with

    where m = |c|, T_c its reward sum and h the chance that a given other sample is in the set.
    """
    others_n = np.maximum(table.num_samples - 1 - np.arange(table.num_samples + 1), 1)
    in_set_n = (table.set_size - 1) / others_n
    return _over_others(rewards_BN, groups, table.missed_with, table.missed_with * in_set_n)


def _missed_contrast(rewards_BN: np.ndarray, groups: Groups, table: Chances) -> np.ndarray:
    """u − v of Σ_c R(S)·1{S misses c}: with m = |c|, T_c its reward sum and q = missed_with,

    u_c − v_c = q[m]·(rᵢ + g[m]·(R − rᵢ − T_c))       for the clusters that i is not in
    u_c − v_c = −q[m]·K/(n−K)·(R − T_c)               for its own

    where g[m] = (K·m − (n−K)) / ((n−1−m)(n−K)) joins what sets with and without i say of another
    sample's reward, so that the two are never subtracted.
    """
    n, k = table.num_samples, table.set_size
    size_n = np.arange(n + 1)
    joint_n = (k * size_n - table.outside) / (np.maximum(n - 1 - size_n, 1) * table.outside)
    others_BN = _over_others(rewards_BN, groups, table.missed_with, table.missed_with * joint_n)
    rest_BN = rewards_BN.sum(axis=-1, keepdims=True) - groups.total_BN
    own_BN = table.missed_with[groups.size_BN] * k / table.outside * rest_BN
    return others_BN - np.where(groups.valid_BN, own_BN, 0.0)


def _over_others(
    rewards_BN: np.ndarray, groups: Groups, own_n: np.ndarray, other_n: np.ndarray
) -> np.ndarray:
    """Σ_{c ≠ cᵢ} own[m_c]·rᵢ + other[m_c]·(R − rᵢ − T_c), as three sums over clusters."""
    own_BN, other_BN = own_n[groups.size_BN], other_n[groups.size_BN]
    rest_BN = rewards_BN.sum(axis=-1, keepdims=True) - rewards_BN
    return (
        groups.over_others(own_BN) * rewards_BN
        + groups.over_others(other_BN) * rest_BN
        - groups.over_others(other_BN * groups.total_BN)
    )
