"""Trajectories → what an update learns from: GAE, replaced where there is set credit."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from setrl.control.jax.rollouts import Trajectories
from setrl.control.steps import SIZE_FLOOR, CreditedSteps, replaced

ROUNDING = 1e-5  # of sums of some hundred rewards in float32, with a margin


def gae(trajectories: Trajectories, rewards_TB: jax.Array, gamma: float, decay: float) -> jax.Array:
    """Âₜ = δₜ + γλ·Âₜ₊₁, δₜ = rₜ + γ·Vₜ₊₁ − Vₜ, with λ = `decay`: arXiv:1506.02438."""
    steps = trajectories.steps

    def back(carry: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]) -> tuple:
        following, next_value = carry
        reward, value, alive = step
        advantage = reward + gamma * next_value - value + gamma * decay * following
        carry = jnp.where(alive, advantage, following), jnp.where(alive, value, next_value)
        return carry, jnp.where(alive, advantage, 0.0)

    first = (jnp.zeros_like(trajectories.last_values), trajectories.last_values)
    rows = (rewards_TB, steps.values, steps.alive)
    return jax.lax.scan(back, first, rows, reverse=True)[1]


def credited(
    trajectories: Trajectories,
    bonus_TB: jax.Array | float,
    gamma: float,
    decay: float,
    own_TB: jax.Array | None = None,
) -> CreditedSteps:
    """Return the critic's advantages, replaced by set advantages where there are some.

    Args:
        trajectories: The trajectories.
        bonus_TB: What is added to their rewards, for the critic only.
        gamma: Discount γ.
        decay: λ of GAE.
        own_TB: Set advantages of steps; NaN for none.
    """
    alive = trajectories.steps.alive
    finite_B = jnp.isfinite(trajectories.returns)
    rewards = jnp.where(finite_B, trajectories.steps.rewards, 0.0) + bonus_TB * alive
    critics = gae(trajectories, rewards, gamma, decay)
    advantages, from_sets = critics, jnp.zeros(alive.shape, bool)
    if own_TB is not None:
        advantages, from_sets = replaced(jnp, critics, own_TB, alive)
    steps = trajectories.steps._asdict()
    return CreditedSteps(
        **{name: steps[name] for name in CreditedSteps._fields if name in steps},
        advantages=advantages,
        returns=critics + trajectories.steps.values,
        from_sets=from_sets,
        usable=alive & finite_B,
    )


def floor_of(parts: Sequence[Trajectories]) -> jax.Array:
    """Return the size below which set advantages are rounding: returns are sums in float32."""
    returns_B = jnp.concatenate([part.returns for part in parts])
    largest = jnp.abs(jnp.where(jnp.isfinite(returns_B), returns_B, 0.0)).max()
    return jnp.maximum(SIZE_FLOOR, ROUNDING * largest)


def normalised(advantages: jax.Array, from_sets: jax.Array, usable: jax.Array) -> jax.Array:
    """Scale the critic's advantages of a minibatch to mean 0 and deviation 1; leave the sets'.

    In a minibatch with set advantages, equal advantages become 0 instead of scaled-up rounding.
    """
    own = usable & ~from_sets
    count = own.sum()
    mean = jnp.sum(jnp.where(own, advantages, 0.0)) / jnp.maximum(count, 1)
    centred = jnp.where(own, advantages - mean, 0.0)
    size = jnp.sqrt(jnp.sum(centred**2) / jnp.maximum(count - 1, 1))
    largest = jnp.max(jnp.where(own, jnp.abs(advantages), 0.0))
    only_rounding = (size <= 8 * jnp.finfo(jnp.float32).eps * largest) & (from_sets & usable).any()
    scaled = jnp.where(only_rounding, 0.0, centred / (size + 1e-8))
    return jnp.where(own & (count > 1), scaled, advantages)
