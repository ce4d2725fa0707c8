"""Behaviour cloning on JAX: a policy imitates demonstrations before it is trained.

    loss = −mean log π(a|s) − entropy_coef · mean H(π(·|s))

The policy learns from four fifths of the episodes; the loss on the other fifth decides when to stop
(arXiv:2509.25424, App. A). A policy with a memory is unrolled along whole episodes.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from setrl.control.jax.environment import Demonstrations
from setrl.control.jax.networks import ActorCritic, Params
from setrl.control.jax.rollouts import entropies, log_prob

PATIENCE = 5  # epochs without a better loss on held-out episodes


def clone(
    policy: ActorCritic,
    params: Params,
    shown: Demonstrations,
    rng: np.random.Generator,
    *,
    entropy_coef: float = 0.01,
    learning_rate: float = 1e-3,
    batch_episodes: int = 16,
    epochs: int = 40,
) -> tuple[Params, dict[str, float]]:
    """Teach a policy the demonstrations; return its best weights, and how they were reached.

    Args:
        policy: The policy.
        params: Its first weights.
        shown: What to imitate; two episodes or more.
        rng: Decides the held-out fifth and the batches.
        entropy_coef: Weight of the entropy bonus; the paper has .01.
        learning_rate: Step size of Adam.
        batch_episodes: Episodes of an update.
        epochs: Largest number of passes; it stops after 5 without a lower held-out loss.
    """
    count = len(shown.actions_ET)
    if count < 2:
        raise ValueError(f"behaviour cloning needs two demonstrations or more, got {count}")
    order = rng.permutation(count)
    held_out, learnt = order[: max(1, count // 5)], order[max(1, count // 5) :]
    optimizer = optax.adam(learning_rate)

    def loss(params: Params, batch: Demonstrations) -> jax.Array:
        seen = jnp.moveaxis(batch.observations_ETD, 1, 0)
        logits, _ = policy.unroll(params, policy.memories(len(batch.actions_ET)), seen)
        logits = jnp.moveaxis(logits, 0, 1)
        each = log_prob(logits, jnp.asarray(batch.actions_ET)) + entropy_coef * entropies(logits)
        return -jnp.where(batch.mask_ET, each, 0.0).sum() / batch.mask_ET.sum()

    @jax.jit
    def step(params: Params, state: Any, batch: Demonstrations) -> tuple[Params, Any]:
        updates, state = optimizer.update(jax.grad(loss)(params, batch), state)
        return optax.apply_updates(params, updates), state

    measure, state = jax.jit(loss), optimizer.init(params)
    best_loss, best_epoch, best = np.inf, 0, params
    for epoch in range(epochs):
        shuffled = rng.permutation(learnt)
        for first in range(0, max(1, len(shuffled) - batch_episodes + 1), batch_episodes):
            params, state = step(params, state, _part(shown, shuffled[first:][:batch_episodes]))
        found = float(measure(params, _part(shown, held_out)))
        if found < best_loss:
            best_loss, best_epoch, best = found, epoch + 1, params
        if epoch + 1 - best_epoch >= PATIENCE:
            break
    return best, {"held_out_loss": best_loss, "epochs": float(best_epoch)}


def _part(shown: Demonstrations, rows: np.ndarray) -> Demonstrations:
    return Demonstrations(*(one[rows] for one in shown))
