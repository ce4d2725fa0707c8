"""Qwen3's forward pass for sampling from small models on a CPU.

On small models the time of a sampled token is the overhead of the operations, not their arithmetic.
So projections that share an input are fused, keys and values are written in place, and it has no
options. The decoder uses only the names of Qwen3's published checkpoint format, not transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def pad_left(prompt_ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return token ids and mask, (rows, longest prompt)."""
    longest = max(len(ids) for ids in prompt_ids)
    ids = torch.zeros(len(prompt_ids), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompt_ids):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        mask[row, longest - len(prompt) :] = 1
    return ids, mask


@dataclass(frozen=True)
class _Layer:
    """The weights of one Qwen3 layer; weights with a common input are fused into one matrix."""

    attention_norm: Tensor
    query_key_value: Tensor
    query_key_norm: Tensor  # (heads of queries and keys, head_dim)
    output: Tensor
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor


class CompactDecoder:
    """Qwen3's forward pass, token by token, over a cache of keys and values written in place.

    Rows are samples; `read` fills the cache with prompts, `select` repeats or drops rows, `step`
    takes one token per row and returns the logits of the next.
    """

    def __init__(self, model: PreTrainedModel):
        config = model.config
        weights = model.state_dict()
        self.heads = config.num_attention_heads
        self.key_heads = config.num_key_value_heads
        self.head_dim = config.head_dim
        self.epsilon = config.rms_norm_eps
        self.embedding = weights["model.embed_tokens.weight"]
        self.unembedding = model.get_output_embeddings().weight
        self.norm = weights["model.norm.weight"]
        self.layers = [self._read_layer(weights, i) for i in range(config.num_hidden_layers)]
        exponents = torch.arange(0, self.head_dim, 2) / self.head_dim
        self.frequencies = config.rope_parameters["rope_theta"] ** -exponents

    def _read_layer(self, weights: dict[str, Tensor], index: int) -> _Layer:
        def weight(name: str) -> Tensor:
            return weights[f"model.layers.{index}.{name}.weight"]

        projections = [weight(f"self_attn.{name}_proj") for name in "qkv"]
        norms = [
            weight("self_attn.q_norm").expand(self.heads, -1),
            weight("self_attn.k_norm").expand(self.key_heads, -1),
        ]
        return _Layer(
            attention_norm=weight("input_layernorm"),
            query_key_value=torch.cat(projections),
            query_key_norm=torch.cat(norms),
            output=weight("self_attn.o_proj"),
            mlp_norm=weight("post_attention_layernorm"),
            gate_up=torch.cat([weight("mlp.gate_proj"), weight("mlp.up_proj")]),
            down=weight("mlp.down_proj"),
        )

    def read(self, prompt_ids: Sequence[Sequence[int]], new_tokens: int) -> Tensor:
        """Fill the cache with prompts; return each one's next logits, (rows, vocabulary)."""
        ids, mask = pad_left(prompt_ids)
        rows, longest = ids.shape
        room = longest + new_tokens
        shape = (2, len(self.layers), rows, self.key_heads, room, self.head_dim)
        self.cache = torch.zeros(shape)
        self.attended = torch.cat([mask.bool(), torch.ones(rows, new_tokens).bool()], 1)
        self.length = 0
        causal = torch.ones(longest, longest).tril().bool()
        # A padding position sees itself, so that no row of the attention is empty.
        visible = (causal & mask.bool()[:, None]) | torch.eye(longest).bool()
        return self._compute_logits(ids, visible[:, None])[:, -1]

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the cache, in this order; a row may be repeated."""
        self.cache = self.cache.index_select(2, rows)
        self.attended = self.attended[rows]

    def step(self, token: Tensor) -> Tensor:
        """Take one more token per row; return the logits of the next, (rows, vocabulary)."""
        visible = self.attended[:, None, None, : self.length + 1]
        return self._compute_logits(token[:, None], visible)[:, -1]

    def _compute_logits(self, ids: Tensor, visible: Tensor) -> Tensor:
        """Return logits, (rows, tokens, vocabulary); `seen` is what each token attends to."""
        stop = self.length + ids.shape[1]
        # Only differences of positions count, so padding on the left shifts nothing.
        angles = torch.arange(self.length, stop)[:, None, None] * self.frequencies
        rotation = torch.cat([angles.cos()] * 2, -1), torch.cat([-angles.sin(), angles.sin()], -1)
        x = self.embedding[ids]
        for index, layer in enumerate(self.layers):
            normal = self._rms_normalise(x, layer.attention_norm)
            x = x + self._attend(layer, index, normal, visible, rotation)
            gate, up = (self._rms_normalise(x, layer.mlp_norm) @ layer.gate_up.T).chunk(2, -1)
            x = x + (functional.silu(gate) * up) @ layer.down.T
        self.length = stop
        return self._rms_normalise(x, self.norm) @ self.unembedding.T

    def _attend(
        self, layer: _Layer, index: int, x: Tensor, visible: Tensor, rotation: tuple[Tensor, Tensor]
    ) -> Tensor:
        rows, tokens, _ = x.shape
        new = slice(self.length, self.length + tokens)
        states = (x @ layer.query_key_value.T).view(rows, tokens, -1, self.head_dim)
        turned, value = states.split([self.heads + self.key_heads, self.key_heads], 2)
        turned = self._rms_normalise(turned, layer.query_key_norm)
        cos, sin = rotation
        turned = turned * cos + turned.roll(self.head_dim // 2, -1) * sin
        query, key = turned.split([self.heads, self.key_heads], 2)
        keys, values = self.cache[:, index]
        keys[:, :, new] = key.transpose(1, 2)
        values[:, :, new] = value.transpose(1, 2)
        attended = functional.scaled_dot_product_attention(
            query.transpose(1, 2),
            keys[:, :, : new.stop],
            values[:, :, : new.stop],
            attn_mask=visible,
            enable_gqa=self.heads != self.key_heads,
        )
        return attended.transpose(1, 2).reshape(rows, tokens, -1) @ layer.output.T

    def _rms_normalise(self, x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * weight
