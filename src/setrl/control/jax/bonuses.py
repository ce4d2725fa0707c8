"""A bonus for rare actions, with counts in a table of hashes, because JAX has no dicts."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from setrl.control.jax.rollouts import RolloutSteps
from setrl.control.options import bonus_of

TABLE = 2**20  # pairs that share a place are counted as one
PRIME = 0x01000193  # of the FNV hash


def no_visits(weight: float) -> jax.Array:
    """Return an empty table; one without places if there is no bonus."""
    return jnp.zeros(TABLE if weight else 0, jnp.int32)


def count_bonuses(
    parts: Sequence[RolloutSteps], visits: jax.Array, weight: float
) -> tuple[list[jax.Array | float], jax.Array]:
    """λ·N(s, a)^−½ of each step of each part, (T, B), and the table with them: see `CountBonus`.

    Steps are counted in their order, trajectory after trajectory.
    """
    if not weight:
        return [0.0] * len(parts), visits
    bonuses: list[jax.Array | float] = []
    for steps in parts:
        places_BT = jnp.where(steps.alive, _hash(steps), TABLE).T  # nothing is counted at TABLE
        places = places_BT.reshape(-1)
        before = visits.at[places].get(mode="fill", fill_value=0) + _earlier(places)
        bonuses.append(bonus_of(before + 1.0, weight).reshape(places_BT.shape).T)
        visits = visits.at[places].add(1, mode="drop")
    return bonuses, visits


def _earlier(places: jax.Array) -> jax.Array:
    """Return how often each value stands earlier in an array."""
    order = jnp.argsort(places, stable=True)
    ranked = places[order]
    rank = jnp.arange(len(places)) - jnp.searchsorted(ranked, ranked)
    return jnp.zeros_like(rank).at[order].set(rank)


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
