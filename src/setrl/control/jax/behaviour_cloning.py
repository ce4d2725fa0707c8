"""Behaviour cloning of policies of JAX; a memory is unrolled along whole episodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from setrl.control.behaviour_cloning import (
    ENTROPY_COEF,
    LEARNING_RATE,
    Demonstrations,
    best_weights,
)
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import entropies, log_prob

BATCH_EPISODES = 16  # of an update


class _Padded(NamedTuple):
    """E demonstrated episodes, padded to the T steps of the longest one."""

    observations_ETD: np.ndarray
    actions_ET: np.ndarray
    mask_ET: np.ndarray

    def at(self, rows: np.ndarray) -> _Padded:
        return _Padded(*(column[rows] for column in self))


def clone(
    policy: ActorCritic, params: Params, shown: Demonstrations, rng: np.random.Generator
) -> tuple[Params, dict[str, float]]:
    """Teach a policy the demonstrations; return its best weights, and how good they are.

    Args:
        policy: The policy.
        params: Its first weights.
        shown: What to imitate.
        rng: Decides the held-out fifth and the batches.
    """
    names, padded = np.unique(shown.episodes), _pad_episodes(shown)
    learnt, held_out = (np.searchsorted(names, episodes) for episodes in shown.split(rng))
    optimizer = optax.adam(LEARNING_RATE)

    def loss(params: Params, batch: _Padded) -> jax.Array:
        observations = jnp.moveaxis(batch.observations_ETD, 1, 0)
        logits, _ = policy.unroll(params, policy.memories(len(batch.actions_ET)), observations)
        logits = jnp.moveaxis(logits, 0, 1)
        terms = log_prob(logits, jnp.asarray(batch.actions_ET)) + ENTROPY_COEF * entropies(logits)
        return -jnp.where(batch.mask_ET, terms, 0.0).sum() / batch.mask_ET.sum()

    @jax.jit
    def step(params: Params, state: Any, batch: _Padded) -> tuple[Params, Any]:
        updates, state = optimizer.update(jax.grad(loss)(params, batch), state)
        return optax.apply_updates(params, updates), state

    measure, current, state = jax.jit(loss), params, optimizer.init(params)

    def learn() -> tuple[Params, float]:
        nonlocal current, state
        order = rng.permutation(learnt)
        for first in range(0, max(1, len(order) - BATCH_EPISODES + 1), BATCH_EPISODES):
            current, state = step(current, state, padded.at(order[first:][:BATCH_EPISODES]))
        return current, float(measure(current, padded.at(held_out)))

    return best_weights(params, shown.epochs, learn)


def _pad_episodes(shown: Demonstrations) -> _Padded:
    _, lengths_E = np.unique(shown.episodes, return_counts=True)
    mask_ET = np.arange(lengths_E.max()) < lengths_E[:, None]
    seen, actions = np.asarray(shown.observations, np.float32), np.asarray(shown.actions, np.int32)
    observations_ETD = np.zeros((*mask_ET.shape, *seen.shape[1:]), np.float32)
    actions_ET = np.zeros(mask_ET.shape, np.int32)
    observations_ETD[mask_ET], actions_ET[mask_ET] = seen, actions
    return _Padded(observations_ETD, actions_ET, mask_ET)
