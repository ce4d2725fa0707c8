"""What one step in the logits does to a softmax policy: log-probabilities and entropy.

A velocity v_y is a direction in the logits: ∇J, an expected update, or its natural counterpart.
With E v = Σ π v,

    d log π(y)/dt = v_y − E v,     dH/dt = −Cov_π(log π, v)

so that log π(y) rises where v_y is above its mean. That v_y, or an advantage, is positive does not
make it rise: of Set RL's "log-likelihood rises if and only if A > 0" (after Eq. 14) this is what
holds, and the statement itself holds under the natural gradient.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_policy, log_policy
from setrl.theory.tabular import TabularObjective


def log_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """d log π(y)/dt = v_y − Σ π v, shape (…, A).

    For v = ∇J it is K·[π(y)·A(y) − Σ π²A], negative for many an action with A(y) > 0.
    """
    policy, velocity = check_policy(policy_A), np.asarray(velocity_A, dtype=np.float64)
    return velocity - (policy * velocity).sum(axis=-1, keepdims=True)


def entropy_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """dH/dt = −Cov_π(log π, v), nats, shape (…).

    For v = ∇J and a step of length α this is Set RL, Prop. 3.7, where the inner covariance of a
    set is the sum of ∂J/∂z over its members, so that the outer one is over a single action.
    """
    policy = check_policy(policy_A)
    return -(policy * log_policy(policy) * log_rate(policy, velocity_A)).sum(axis=-1)


def natural_gradient(tabular: TabularObjective, policy_A: ArrayLike) -> np.ndarray:
    """F⁺∇J = K·A(y) up to a constant, with F = diag π − π πᵀ; 0 for actions of probability 0.

    Along it d log π(y)/dt = K·A(y): here the sign of the advantage does decide.
    """
    policy = check_policy(policy_A)
    return np.where(policy > 0, tabular.set_size * tabular.advantages(policy), 0.0)
