"""Policies over finitely many actions: probabilities, and how a step in the logits moves them.

Functions take (…, A): one policy or many. A velocity v_y is a direction in the logits: ∇J, an
expected update, or the natural gradient. With E v = Σ π v,

    d log π(y)/dt = v_y − E v,     dH/dt = −Cov_π(log π, v)

so log π(y) rises if v_y is above its mean. A positive v_y, or a positive advantage, is not enough.
This corrects Set RL's "log-likelihood rises if and only if A > 0" (after Eq. 14), which holds only
for the natural gradient.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9  # how far from 1 the sum of a policy's probabilities may be


def check_policy(
    policy_A: ArrayLike,
    num_actions: int | None = None,
    *,
    shape: tuple[int, ...] | None = None,
    called: str = "policy",
) -> np.ndarray:
    """Return the probabilities as float64, scaled to sum to 1; raise ValueError if they are not.

    Args:
        policy_A: Probabilities (…, A).
        num_actions: A, if it is known.
        shape: The whole shape, if it is known.
        called: What the caller calls the probabilities.

    >>> check_policy([0.5, 0.6])
    Traceback (most recent call last):
    ValueError: policy must sum to 1, got 1.1
    """
    policy = np.asarray(policy_A, dtype=np.float64)
    if policy.ndim == 0 or policy.shape[-1] == 0:
        raise ValueError(f"{called} must have shape (…, A) with A ≥ 1, got {policy.shape}")
    if shape is not None and policy.shape != shape:
        raise ValueError(f"{called} must have shape {shape}, got {policy.shape}")
    if num_actions is not None and policy.shape[-1] != num_actions:
        raise ValueError(
            f"{called} must have {num_actions} probabilities, one for each action, got "
            f"{policy.shape[-1]}"
        )
    if not (np.isfinite(policy).all() and (policy >= 0).all()):
        wrong = policy[~(np.isfinite(policy) & (policy >= 0))]
        raise ValueError(f"{called}: probabilities must be in [0, 1], got {wrong[0]:g}")
    total = policy.sum(axis=-1, keepdims=True)
    is_off = np.abs(total - 1) > TOLERANCE
    if is_off.any():
        raise ValueError(f"{called} must sum to 1, got {total[is_off][0]:.10g}")
    return policy / total


def check_action(action: int, num_actions: int) -> None:
    """Raise ValueError unless the action is one of A."""
    if not isinstance(action, int | np.integer) or not 0 <= action < num_actions:
        raise ValueError(f"action must be an integer in [0, {num_actions - 1}], got {action!r}")


def check_velocity(velocity_A: ArrayLike, num_actions: int, called: str = "velocity") -> np.ndarray:
    """Return a direction in the logits, (…, A), as float64; raise ValueError if it is not one."""
    velocity = np.asarray(velocity_A, dtype=np.float64)
    if velocity.ndim == 0 or velocity.shape[-1] != num_actions:
        raise ValueError(
            f"{called} must have {num_actions} numbers, one for each action, got shape "
            f"{velocity.shape}"
        )
    if not np.isfinite(velocity).all():
        raise ValueError(f"{called} must be finite, got {velocity[~np.isfinite(velocity)][0]}")
    return velocity


def softmax(logits_A: ArrayLike) -> np.ndarray:
    """π(y) = exp(z_y) / Σ exp(z); a logit of −inf excludes an action from the support."""
    logits = np.asarray(logits_A, dtype=np.float64)
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits must have shape (…, A) with A ≥ 1, got {logits.shape}")
    highest = logits.max(axis=-1, keepdims=True)
    if not np.isfinite(highest).all():
        raise ValueError(
            f"the highest logit must be finite, got {highest[~np.isfinite(highest)][0]}"
        )
    weight = np.exp(logits - highest)
    return weight / weight.sum(axis=-1, keepdims=True)


def shift_logits(policy_A: ArrayLike, shift_A: ArrayLike) -> np.ndarray:
    """π(y)·exp(shift_y), normalised: the softmax policy after its logits move by `shift_A`.

    Actions of probability 0 keep probability 0.
    """
    policy = check_policy(policy_A)
    shift = check_velocity(shift_A, policy.shape[-1], "shift")
    highest = np.where(policy > 0, shift, -np.inf).max(axis=-1, keepdims=True)
    weight = policy * np.exp(np.minimum(shift - highest, 0.0))
    return weight / weight.sum(axis=-1, keepdims=True)


def entropy(policy_A: ArrayLike) -> np.ndarray:
    """H = −Σ π log π in nats; 0 log 0 = 0."""
    return -(check_policy(policy_A) * log_policy(policy_A)).sum(axis=-1)


def log_policy(policy_A: ArrayLike) -> np.ndarray:
    """Log π on the support; 0 outside it, where it is always multiplied by a probability of 0."""
    policy = check_policy(policy_A)
    return np.log(np.where(policy > 0, policy, 1.0))


def log_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """d log π(y)/dt = v_y − Σ π v, shape (…, A).

    For v = ∇J it is K·[π(y)·A(y) − Σ π²A], which can be negative for an action with A(y) > 0.
    """
    policy = check_policy(policy_A)
    velocity = check_velocity(velocity_A, policy.shape[-1])
    return velocity - (policy * velocity).sum(axis=-1, keepdims=True)


def entropy_rate(policy_A: ArrayLike, velocity_A: ArrayLike) -> np.ndarray:
    """dH/dt = −Cov_π(log π, v), nats, shape (…).

    For v = ∇J and a step of length α this is Set RL, Prop. 3.7. The inner covariance of a set is
    the sum of ∂J/∂z over its members, so the outer covariance becomes one over single actions.
    """
    policy = check_policy(policy_A)
    return -(policy * log_policy(policy) * log_rate(policy, velocity_A)).sum(axis=-1)
