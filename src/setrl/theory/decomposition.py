"""Where an advantage comes from, for an objective that is a product φ·ψ (Set RL, Eq. 15).

    A(y) = { E[φ|y]·E[ψ|y] − E φ·E ψ }  +  { Cov(φ, ψ | y) − Cov(φ, ψ) }

The first part is what y's sets have of each factor on average; the second is whether y makes the
two come together. For the polychromic objective φ is the mean reward and ψ the share of different
strategies. The means are over the sets that hold y: drawn from a policy, or all those of a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from setrl import objectives
from setrl.advantages import Advantages, set_advantages
from setrl.arrays import Array, to_numpy
from setrl.objectives.base import Objective
from setrl.objectives.clusters import count_distinct
from setrl.theory.policies import check_policy
from setrl.theory.tabular import ActionTable, TabularObjective


def _share_of_strategies(clusters: np.ndarray) -> np.ndarray:
    return count_distinct(clusters) / clusters.shape[-1]


SHARE_OF_STRATEGIES = objectives.from_function(_share_of_strategies, reads=("clusters",))


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The advantage of each action, or sample, in two parts; the last axis runs over them.

    Attributes:
        reward_with, diversity_with: E[φ|y] and E[ψ|y].
        covariance_with: Cov(φ, ψ | y).
        reward, diversity, covariance: E φ, E ψ and Cov(φ, ψ) over all sets; last axis 1.
    """

    reward_with: np.ndarray
    diversity_with: np.ndarray
    covariance_with: np.ndarray
    reward: np.ndarray
    diversity: np.ndarray
    covariance: np.ndarray

    @property
    def means_part(self) -> np.ndarray:
        """E[φ|y]·E[ψ|y] − E φ·E ψ, written so that it keeps its digits."""
        of_reward = (self.reward_with - self.reward) * self.diversity_with
        return of_reward + self.reward * (self.diversity_with - self.diversity)

    @property
    def covariance_part(self) -> np.ndarray:
        """Cov(φ, ψ | y) − Cov(φ, ψ), the note's exploration-exploitation synergy."""
        return self.covariance_with - self.covariance

    @property
    def advantages(self) -> np.ndarray:
        """A(y) = Q(y) − J of a policy; u − U of a group."""
        return self.means_part + self.covariance_part


def decompose_policy(
    policy_A: ArrayLike,
    table: ActionTable,
    set_size: int,
    reward: Objective | None = None,
    diversity: Objective | None = None,
) -> Decomposition:
    """Eq. 15 for each action of a table, exactly.

    Args:
        policy_A: Probabilities (A,).
        table: The actions.
        set_size: K.
        reward: φ, by default the mean reward.
        diversity: ψ, by default the share of different clusters, their number over K.
    """
    first = TabularObjective(reward or objectives.mean(), table, set_size)
    second = TabularObjective(diversity or SHARE_OF_STRATEGIES, table, set_size)
    phi_S, psi_S = first.scores_S, second.scores_S
    policy = check_policy(policy_A, table.num_actions)
    given_SA, all_S1 = first.sets.chances_given(policy), first.sets.chances(policy)[:, None]
    return Decomposition(*_moments(given_SA, phi_S, psi_S), *_moments(all_S1, phi_S, psi_S))


def _moments(
    chances_SA: np.ndarray, phi_S: np.ndarray, psi_S: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E φ, E ψ and Cov(φ, ψ) under each column of probabilities."""
    phi_A, psi_A = phi_S @ chances_SA, psi_S @ chances_SA
    joint_SA = (phi_S[:, None] - phi_A) * (psi_S[:, None] - psi_A)
    return phi_A, psi_A, (chances_SA * joint_SA).sum(axis=0)


def decompose_group(rewards_BN: Array, clusters_BN: Array, set_size: int) -> Decomposition:
    """Eq. 15 for each sample of logged groups, over all K-sets of its group: closed form, O(N).

    The three means of a sample's sets, of reward, of diversity and of their product, are what the
    objectives `mean`, `distinct` and `polychromic` compute anyway. Samples that are left out
    (NaN reward, unknown cluster) have NaN in every part.

    Args:
        rewards_BN: (B, N) rewards.
        clusters_BN: (B, N) labels as in `setrl.set_advantages`.
        set_size: K, from 1 to N − 1.

    Returns:
        Parts of shape (B, N) and (B, 1), as NumPy arrays; `advantages` is Poly-EPO's u − U.
    """
    product = _credit(objectives.polychromic(), rewards_BN, clusters_BN, set_size)
    usable = product.usable_BN
    reward = _credit(objectives.mean(), rewards_BN, clusters_BN, set_size, usable)
    distinct = _credit(objectives.distinct(), rewards_BN, clusters_BN, set_size, usable)
    phi_BN, psi_BN = reward.with_BN, distinct.with_BN / set_size
    phi_B, psi_B = reward.mean_B[:, None], distinct.mean_B[:, None] / set_size
    return Decomposition(
        reward_with=phi_BN,
        diversity_with=psi_BN,
        covariance_with=product.with_BN - phi_BN * psi_BN,
        reward=phi_B,
        diversity=psi_B,
        covariance=product.mean_B[:, None] - phi_B * psi_B,
    )


def _credit(
    objective: Objective,
    rewards_BN: Array,
    clusters_BN: Array,
    set_size: int,
    mask: np.ndarray | None = None,
) -> Advantages:
    return set_advantages(
        to_numpy(rewards_BN),
        clusters=to_numpy(clusters_BN),
        objective=objective,
        set_size=set_size,
        mask=mask,
    )
