"""Where an advantage comes from, for an objective that is a product φ·ψ (Set RL, Eq. 15).

    A(y) = { E[φ|y]·E[ψ|y] − E φ·E ψ }  +  { Cov(φ, ψ | y) − Cov(φ, ψ) }

The first part compares the mean of each factor over y's sets with its mean over all sets. The
second part says whether the two factors occur together more often in y's sets. For the polychromic
objective φ is the mean reward and ψ the share of different strategies. The sets that contain y are
drawn from a policy, or are all such sets of a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from setrl.core import objectives
from setrl.core.advantages import set_advantages
from setrl.core.objectives.base import Objective
from setrl.samples.arrays import Array, to_numpy
from setrl.theory.policies import check_policy
from setrl.theory.tabular import ActionTable, TabularObjective


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The advantage of each action, or sample, in two parts; actions are on the last axis.

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
        """E[φ|y]·E[ψ|y] − E φ·E ψ, in a form that does not cancel."""
        of_reward = (self.reward_with - self.reward) * self.diversity_with
        return of_reward + self.reward * (self.diversity_with - self.diversity)

    @property
    def covariance_part(self) -> np.ndarray:
        """Cov(φ, ψ | y) − Cov(φ, ψ), the note's exploration-exploitation synergy."""
        return self.covariance_with - self.covariance

    @property
    def advantages(self) -> np.ndarray:
        """A(y) = Q(y) − J for a policy; u − U for a group."""
        return self.means_part + self.covariance_part


def decompose_policy(
    policy_A: ArrayLike,
    table: ActionTable,
    set_size: int,
    reward: Objective | None = None,
    diversity: Objective | None = None,
) -> Decomposition:
    """Split each action's advantage exactly, by Eq. 15.

    Args:
        policy_A: Probabilities (A,).
        table: The actions.
        set_size: K.
        reward: φ, `objectives.mean()` by default.
        diversity: ψ, `objectives.distinct_share()` by default.
    """
    first = TabularObjective(reward or objectives.mean(), table, set_size)
    second = TabularObjective(diversity or objectives.distinct_share(), table, set_size)
    phi_S, psi_S = first.scores_S, second.scores_S
    policy = check_policy(policy_A, shape=(table.num_actions,))
    given_SA, all_S1 = first.sets.chances_given(policy), first.sets.chances(policy)[:, None]
    return Decomposition(*_moments(given_SA, phi_S, psi_S), *_moments(all_S1, phi_S, psi_S))


def _moments(
    chances_SA: np.ndarray, phi_S: np.ndarray, psi_S: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E φ, E ψ and Cov(φ, ψ) under each column of probabilities."""
    phi_A, psi_A = phi_S @ chances_SA, psi_S @ chances_SA
    joint_SA = (phi_S[:, None] - phi_A) * (psi_S[:, None] - psi_A)
    return phi_A, psi_A, (chances_SA * joint_SA).sum(axis=0)


def decompose_group(
    rewards_BN: Array,
    *,
    set_size: int,
    reward: Objective | None = None,
    diversity: Objective | None = None,
    **fields: Array | None,
) -> Decomposition:
    """Split the advantage of each sample of logged groups over all K-sets of its group, by Eq. 15.

    The means of reward, of diversity and of their product over a sample's sets have closed forms if
    the objectives have: O(N) per group for the polychromic objective. A sample that cannot be used
    (a needed field is NaN) has NaN in every part.

    Args:
        rewards_BN: (B, N) rewards.
        set_size: K, from 1 to N − 1.
        reward: φ, `objectives.mean()` by default.
        diversity: ψ, `objectives.distinct_share()` by default.
        **fields: `strategies`, and other fields that the two objectives read, as in
            `setrl.set_advantages`.

    Returns:
        Parts of shape (B, N) and (B, 1), as NumPy arrays; `advantages` is u − U of φ·ψ, by default
        the advantage of Poly-EPO.
    """
    phi, psi = reward or objectives.mean(), diversity or objectives.distinct_share()
    arguments: dict[str, Any] = {**fields}
    rewards = to_numpy(rewards_BN)
    joint = set_advantages(rewards, objective=phi * psi, set_size=set_size, **arguments)
    arguments["mask"] = (
        joint.usable_BN
    )  # a sample that one factor cannot use leaves the sets of the other too
    first, second = (
        set_advantages(rewards, objective=factor, set_size=set_size, **arguments)
        for factor in (phi, psi)
    )
    means_B = [advantages.mean_B[:, None] for advantages in (first, second, joint)]
    return Decomposition(
        reward_with=first.with_BN,
        diversity_with=second.with_BN,
        covariance_with=joint.with_BN - first.with_BN * second.with_BN,
        reward=means_B[0],
        diversity=means_B[1],
        covariance=means_B[2] - means_B[0] * means_B[1],
    )
