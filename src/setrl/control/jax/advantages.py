"""Grown trajectories → what an update learns from: GAE, replaced where there is set credit."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from setrl.control.credit.assign import Use
from setrl.control.jax.rollouts import Grown

ROUNDING = 1e-5  # of sums of some hundred rewards in float32, with a margin
SIZE_FLOOR = 1e-8  # a smaller advantage is rounding, and must not be scaled up to 1


class Credited(NamedTuple):
    """T steps of B trajectories and what they teach, each (T, B).

    Attributes:
        grown: The trajectories.
        advantages: GAE, or the set advantage.
        returns: What the critic should say.
        from_sets: Whether the advantage replaces GAE.
        usable: Whether the step is learned from: taken, in a trajectory with finite rewards only.
    """

    grown: Grown
    advantages: jax.Array
    returns: jax.Array
    from_sets: jax.Array
    usable: jax.Array


def gae(grown: Grown, rewards_TB: jax.Array, gamma: float, decay: float) -> jax.Array:
    """Âₜ = δₜ + γλ·Âₜ₊₁, δₜ = rₜ + γ·Vₜ₊₁ − Vₜ, with λ = `decay`: arXiv:1506.02438."""
    steps = grown.steps

    def back(carry: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]) -> tuple:
        following, next_value = carry
        reward, value, alive = step
        advantage = reward + gamma * next_value - value + gamma * decay * following
        carry = jnp.where(alive, advantage, following), jnp.where(alive, value, next_value)
        return carry, jnp.where(alive, advantage, 0.0)

    first = (jnp.zeros_like(grown.last_values), grown.last_values)
    rows = (rewards_TB, steps.values, steps.alive)
    return jax.lax.scan(back, first, rows, reverse=True)[1]


def spread(
    values_B: jax.Array, starts_B: jax.Array | int, window: int | None, num_steps: int
) -> jax.Array:
    """Give each trajectory's value to its steps start … start + window: (T, B), NaN elsewhere."""
    times = jnp.arange(num_steps)[:, None] - starts_B
    inside = times >= 0 if window is None else (times >= 0) & (times <= window)
    return jnp.where(inside, values_B, jnp.nan)


def credited(
    grown: Grown,
    bonus_TB: jax.Array | float,
    gamma: float,
    decay: float,
    own_TB: jax.Array | None = None,
    use: Use = "replaces",
) -> Credited:
    """Return the critic's advantages, and set advantages where there are some.

    Args:
        grown: The trajectories.
        bonus_TB: What is added to their rewards, for the critic only.
        gamma: Discount γ.
        decay: λ of GAE.
        own_TB: Set advantages of steps; NaN for none.
        use: What a set advantage does; see `SetAdvantage`.
    """
    alive = grown.steps.alive
    finite_B = jnp.isfinite(grown.returns)
    rewards = jnp.where(finite_B, grown.steps.rewards, 0.0) + bonus_TB * alive
    has_set = jnp.zeros(alive.shape, bool) if own_TB is None else alive & jnp.isfinite(own_TB)
    own = jnp.float32(0.0) if own_TB is None else jnp.nan_to_num(own_TB)
    if use == "rewards":
        is_last = jnp.cumsum(alive, axis=0) == grown.lengths
        rewards = rewards + jnp.where(has_set & is_last, own, 0.0)
    critics = gae(grown, rewards, gamma, decay)
    advantages = critics
    if use == "replaces":
        advantages = jnp.where(has_set, own, critics)
    elif use == "adds":
        advantages = critics + jnp.where(has_set, own, 0.0)
    from_sets = has_set & (use == "replaces")
    return Credited(grown, advantages, critics + grown.steps.values, from_sets, alive & finite_B)


def scaled(parts: list[Credited]) -> list[Credited]:
    """Divide set advantages by the root of their mean square over all parts of the update."""
    kept = [part.from_sets & part.usable for part in parts]
    squares = [
        jnp.where(own, one.advantages, 0.0) ** 2 for own, one in zip(kept, parts, strict=True)
    ]
    total = sum(one.sum() for one in squares)
    count = sum(own.sum() for own in kept)
    # Returns are sums in float32: what is smaller than their rounding must not be scaled up to 1.
    returns = [jnp.where(jnp.isfinite(one.grown.returns), one.grown.returns, 0.0) for one in parts]
    largest = jnp.stack([jnp.abs(one).max() for one in returns]).max()
    floor = jnp.maximum(SIZE_FLOOR, ROUNDING * largest)
    size = jnp.maximum(jnp.sqrt(total / jnp.maximum(count, 1)), floor)
    return [
        part._replace(advantages=jnp.where(part.from_sets, part.advantages / size, part.advantages))
        for part in parts
    ]


def normalised(advantages: jax.Array, from_sets: jax.Array, usable: jax.Array) -> jax.Array:
    """Scale the critic's advantages of a minibatch to mean 0 and deviation 1; leave the sets'.

    Equal advantages become 0, where set advantages are beside them, and not rounding scaled up.
    """
    own = usable & ~from_sets
    count = own.sum()
    mean = jnp.sum(jnp.where(own, advantages, 0.0)) / jnp.maximum(count, 1)
    centred = jnp.where(own, advantages - mean, 0.0)
    size = jnp.sqrt(jnp.sum(centred**2) / jnp.maximum(count - 1, 1))
    largest = jnp.max(jnp.where(own, jnp.abs(advantages), 0.0))
    only_rounding = (size <= 8 * jnp.finfo(jnp.float32).eps * largest) & (from_sets & usable).any()
    found = jnp.where(only_rounding, 0.0, centred / (size + 1e-8))
    return jnp.where(own & (count > 1), found, advantages)
