"""Actor and critic as functions of their weights, with a GRU memory if wanted.

Layers of a few lines instead of a library of networks: the policies here are small, and their
weights are plain dicts, which safetensors, optax and checkpoints take directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Params = dict[str, Any]
Layer = dict[str, jax.Array]
HIDDEN, ACTION, VALUE = np.sqrt(2.0), 0.01, 1.0  # scales of orthogonal first weights, as in PPO


@dataclass(frozen=True)
class ActorCritic:
    """A policy over `num_actions` actions, and a value: two stacks of tanh layers.

    With a memory, both stacks read a GRU, which reads the first layer's features.

    Attributes:
        num_actions: Number of actions.
        widths: Widths of the layers of each stack.
        gru: H, the size of the memory; None: no memory, and H is 0.
    """

    num_actions: int
    widths: tuple[int, ...] = (64, 64)
    gru: int | None = None

    def init(self, key: jax.Array, size: int) -> Params:
        """Return first weights for observations of D = `size` numbers."""
        keys = iter(jax.random.split(key, 8))
        params: Params = {}
        if self.gru is not None:
            width = self.widths[0] if self.widths else self.gru
            params["features"] = _make_layer(next(keys), size, width, HIDDEN)
            params["seen"] = _make_layer(next(keys), width, 3 * self.gru, 1.0)
            params["kept"] = _make_layer(next(keys), self.gru, 3 * self.gru, 1.0)
            size = self.gru
        widths = self.widths[1:] if self.gru is not None else self.widths
        params["actor"] = _make_stack(next(keys), (size, *widths), self.num_actions, ACTION)
        params["critic"] = _make_stack(next(keys), (size, *widths), 1, VALUE)
        return params

    def memories(self, count: int) -> jax.Array:
        """Return empty memories, (count, H)."""
        return jnp.zeros((count, self.gru or 0), jnp.float32)

    def __call__(
        self, params: Params, memories_BH: jax.Array, observations_BD: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the memories after observations, logits (B, A) and values (B,)."""
        features = observations_BD
        if self.gru is not None:
            memories_BH = _update_memory(params, memories_BH, observations_BD)
            features = memories_BH
        logits = _apply_stack(params["actor"], features)
        return memories_BH, logits, _apply_stack(params["critic"], features)[..., 0]

    def unroll(
        self, params: Params, memories_BH: jax.Array, observations_LBD: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Return logits (L, B, A) and values (L, B) along pieces of L steps."""
        if self.gru is None:
            _, logits, values = self(params, memories_BH, observations_LBD)
            return logits, values

        def step(memories: jax.Array, observations: jax.Array) -> tuple[jax.Array, Any]:
            memories, logits, values = self(params, memories, observations)
            return memories, (logits, values)

        return jax.lax.scan(step, memories_BH, observations_LBD)[1]


def _update_memory(params: Params, memories: jax.Array, observations: jax.Array) -> jax.Array:
    """h′ = (1 − z)·n + z·h: a gated recurrent unit, arXiv:1406.1078."""
    features = jnp.tanh(_apply_layer(params["features"], observations))
    reset, update, seen = jnp.split(_apply_layer(params["seen"], features), 3, axis=-1)
    kept_reset, kept_update, kept = jnp.split(_apply_layer(params["kept"], memories), 3, axis=-1)
    new = jnp.tanh(seen + jax.nn.sigmoid(reset + kept_reset) * kept)
    keeps = jax.nn.sigmoid(update + kept_update)
    return (1 - keeps) * new + keeps * memories


def _make_layer(key: jax.Array, size: int, width: int, scale: float) -> Layer:
    weight = jax.nn.initializers.orthogonal(scale)(key, (size, width), jnp.float32)
    return {"weight": weight, "bias": jnp.zeros(width, jnp.float32)}


def _make_stack(key: jax.Array, widths: Sequence[int], outputs: int, scale: float) -> list[Layer]:
    ends = [*widths, outputs]
    scales = [HIDDEN] * (len(widths) - 1) + [scale]
    keys = jax.random.split(key, len(scales))
    sizes = zip(keys, ends[:-1], ends[1:], scales, strict=True)
    return [_make_layer(layer_key, size, width, scale) for layer_key, size, width, scale in sizes]


def _apply_layer(layer: Layer, inputs: jax.Array) -> jax.Array:
    return inputs @ layer["weight"] + layer["bias"]


def _apply_stack(layers: Sequence[Layer], features: jax.Array) -> jax.Array:
    for layer in layers[:-1]:
        features = jnp.tanh(_apply_layer(layer, features))
    return _apply_layer(layers[-1], features)
