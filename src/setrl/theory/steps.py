"""The effect of one step in the logits on a softmax policy: log-probabilities and entropy.

A velocity v_y is a direction in the logits: ∇J, an expected update, or the natural gradient.
With E v = Σ π v,

    d log π(y)/dt = v_y − E v,     dH/dt = −Cov_π(log π, v)

so log π(y) rises if v_y is above its mean. A positive v_y, or a positive advantage, is not enough.
This corrects Set RL's "log-likelihood rises if and only if A > 0" (after Eq. 14), which holds only
for the natural gradient.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from setrl.theory.policies import check_policy, log_policy
from setrl.theory.tabular import TabularObjective


def log_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """d log π(y)/dt = v_y − Σ π v, shape (…, A).

    For v = ∇J it is K·[π(y)·A(y) − Σ π²A], which can be negative for an action with A(y) > 0.
    """
    policy, velocity = check_policy(policy_A), np.asarray(velocity_A, dtype=np.float64)
    return velocity - (policy * velocity).sum(axis=-1, keepdims=True)


def entropy_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """dH/dt = −Cov_π(log π, v), nats, shape (…).

    For v = ∇J and a step of length α this is Set RL, Prop. 3.7. The inner covariance of a set is
    the sum of ∂J/∂z over its members, so the outer covariance reduces to one over single actions.
    """
    policy = check_policy(policy_A)
    return -(policy * log_policy(policy) * log_rate(policy, velocity_A)).sum(axis=-1)


def natural_gradient(tabular: TabularObjective, policy_A: ArrayLike) -> np.ndarray:
    """F⁺∇J = K·A(y) up to a constant, with F = diag π − π πᵀ; 0 for actions of probability 0.

    Along it d log π(y)/dt = K·A(y): here log π(y) rises if and only if A(y) > 0.
    """
    policy = check_policy(policy_A)
    return np.where(policy > 0, tabular.set_size * tabular.advantages(policy), 0.0)
