"""A bonus for rare actions, with counts in a table of hashes, because JAX has no dicts."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from setrl.control.jax.rollouts import RolloutSteps

TABLE = 2**20  # pairs that share a place are counted as one
PRIME = 0x01000193  # of the FNV hash


def no_visits(weight: float) -> jax.Array:
    """Return an empty table; one without places if there is no bonus."""
    return jnp.zeros(TABLE if weight else 0, jnp.int32)


def count_bonuses(
    parts: Sequence[RolloutSteps], visits: jax.Array, weight: float
) -> tuple[list[jax.Array | float], jax.Array]:
    """λ·N(s, a)^−½ of each step of each part, (T, B), and the table with them: see `CountBonus`.

    N counts the visits of earlier updates and all visits of this update.
    """
    if not weight:
        return [0.0] * len(parts), visits
    places = [_hash(steps) for steps in parts]
    for steps, own in zip(parts, places, strict=True):
        visits = visits.at[own].add(steps.alive.astype(jnp.int32))
    return [weight * jnp.maximum(visits[own], 1) ** -0.5 for own in places], visits


def _hash(steps: RolloutSteps) -> jax.Array:
    """Hash the bits of observations and actions: FNV-1a over words of 32 bits."""
    words = jax.lax.bitcast_convert_type(steps.observations, jnp.uint32)
    words = jnp.concatenate([words, steps.actions[..., None].astype(jnp.uint32)], axis=-1)

    def mix(code: jax.Array, word: jax.Array) -> tuple[jax.Array, None]:
        mixed = (code ^ word) * jnp.uint32(PRIME)
        return mixed ^ (mixed >> 15), None

    first = jnp.full(words.shape[:-1], 0x811C9DC5, jnp.uint32)
    code, _ = jax.lax.scan(mix, first, jnp.moveaxis(words, -1, 0))
    return (code % TABLE).astype(jnp.int32)
