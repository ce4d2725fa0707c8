"""Sampling many texts a prompt: a compact sampler for small Qwen3 models, `generate` for others.

On small models the time of a sampled token is the overhead of the operations, not their arithmetic.
The compact sampler therefore reads each prompt once, whatever the number of samples, fuses the
projections that share an input, writes keys and values in place, and drops finished samples. It
needs nothing of transformers but the names of Qwen3's published checkpoint format, and draws from
the same distribution as `generate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ROWS = 1024  # samples drawn at once; more fall out of the cache of one core


def sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    n: int,
    max_new_tokens: int,
    temperature: float = 1.0,
    seed: int = 0,
) -> list[list[str]]:
    """`n` texts of the model for each prompt; the same seed gives the same texts.

    Args:
        model: A causal language model.
        tokenizer: Its tokenizer.
        prompts: The texts to go on from.
        n: Samples a prompt, at least 1.
        max_new_tokens: The length, in tokens, at which a sample is cut.
        temperature: Divides the logits; 0 takes the likeliest token.
        seed: Seeds a generator of its own; the global one is left alone.
    """
    prompt_ids = [tokenizer(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    generator = torch.Generator(device=model.device).manual_seed(seed)
    groups = sample_ids(model, prompt_ids, n, max_new_tokens, temperature, generator)
    return [tokenizer.batch_decode(group, skip_special_tokens=True) for group in groups]


def sample_ids(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    """Like `sample`, in token ids; a sample that ended keeps its end-of-sequence token."""
    if n < 1 or max_new_tokens < 1 or temperature < 0:
        raise ValueError(
            "n and max_new_tokens must be at least 1 and temperature at least 0, "
            f"got {n}, {max_new_tokens} and {temperature}"
        )
    draw = _sample_compactly if is_compact(model) else _sample_by_generate
    groups: list[list[list[int]]] = []
    with torch.inference_mode():
        for some_prompts, count in _batches(prompt_ids, n):
            drawn = draw(model, some_prompts, count, max_new_tokens, temperature, generator)
            if count < n and groups and len(groups[-1]) < n:
                groups[-1].extend(drawn[0])
            else:
                groups.extend(drawn)
    return groups


def _batches(
    prompt_ids: Sequence[Sequence[int]], n: int
) -> Iterator[tuple[Sequence[Sequence[int]], int]]:
    """Prompts and samples of each to draw at once: whole groups, or one prompt's group in parts."""
    at_once = ROWS // n
    if at_once:
        for start in range(0, len(prompt_ids), at_once):
            yield prompt_ids[start : start + at_once], n
        return
    for prompt in prompt_ids:
        for start in range(0, n, ROWS):
            yield [prompt], min(ROWS, n - start)


def is_compact(model: PreTrainedModel) -> bool:
    """Whether the compact sampler computes what this model computes."""
    config = model.config
    return (
        type(model).__name__ == "Qwen3ForCausalLM"
        and model.device.type == "cpu"
        and model.dtype == torch.float32
        and not config.attention_bias
        and config.hidden_act == "silu"
        and config.rope_parameters["rope_type"] == "default"
        and set(config.layer_types) == {"full_attention"}
    )


def _sample_compactly(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    ends = _end_ids(model)
    decoder = CompactDecoder(model)
    logits = decoder.read(prompt_ids, max_new_tokens).repeat_interleave(n, 0)
    decoder.select(torch.arange(len(prompt_ids)).repeat_interleave(n))
    tokens_RT = torch.full((len(prompt_ids) * n, max_new_tokens), -1)
    row = torch.arange(len(tokens_RT))  # the sample that each row of the cache belongs to
    for position in range(max_new_tokens):
        token = _draw(logits, temperature, generator)
        tokens_RT[row, position] = token
        going = ~torch.isin(token, ends)
        if position + 1 == max_new_tokens or not going.any():
            break
        if going.sum() < 0.8 * len(going):
            kept = going.nonzero()[:, 0]
            decoder.select(kept)
            row, token = row[kept], token[kept]
        logits = decoder.step(token)
    return _cut(tokens_RT, ends, n)


def _draw(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """One token a row ~ softmax(logits / temperature): the first of independent exponential clocks.

    argmax pᵢ/eᵢ with eᵢ ~ Exp(1) is distributed as p.
    """
    if temperature == 0:
        return logits.argmax(-1)
    probabilities = (logits / temperature).softmax(-1)
    clocks = torch.empty_like(probabilities).exponential_(generator=generator)
    return (probabilities / clocks).argmax(-1)


def _cut(tokens_RT: Tensor, ends: Tensor, n: int) -> list[list[list[int]]]:
    """Token lists, each up to its first end token, in groups of `n`."""
    is_end = torch.isin(tokens_RT, ends)
    length = torch.where(is_end.any(1), is_end.int().argmax(1) + 1, tokens_RT.shape[1])
    rows = [row[:stop] for row, stop in zip(tokens_RT.tolist(), length.tolist(), strict=True)]
    return [rows[start : start + n] for start in range(0, len(rows), n)]


def _end_ids(model: PreTrainedModel) -> Tensor:
    config = model.generation_config
    ends = config.eos_token_id if config is not None else None
    if ends is None:
        ends = model.config.eos_token_id
    return torch.tensor([ends] if isinstance(ends, int) else list(ends or []), dtype=torch.long)


def _sample_by_generate(
    model: PreTrainedModel,
    prompt_ids: Sequence[Sequence[int]],
    n: int,
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
) -> list[list[list[int]]]:
    ends = _end_ids(model)
    ids, mask = _pad_left(prompt_ids)
    pad = model.generation_config.pad_token_id
    how = {"temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
    devices = [model.device] if model.device.type != "cpu" else []
    # `generate` draws from the global generator: seed it from ours, and put it back.
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator, device=model.device)))
        tokens: Tensor = model.generate(  # type: ignore[operator]
            ids.to(model.device),
            attention_mask=mask.to(model.device),
            do_sample=temperature > 0,
            num_return_sequences=n,
            max_new_tokens=max_new_tokens,
            pad_token_id=pad if pad is not None else int(ends[0]),
            **how,
        )
    return _cut(tokens[:, ids.shape[1] :].cpu(), ends, n)


def _pad_left(prompt_ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids and mask, (rows, longest prompt)."""
    longest = max(len(ids) for ids in prompt_ids)
    ids = torch.zeros(len(prompt_ids), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompt_ids):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        mask[row, longest - len(prompt) :] = 1
    return ids, mask


@dataclass(frozen=True)
class _Layer:
    """The weights of one Qwen3 layer, those with a common input fused into one matrix."""

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
    takes one token a row and gives the logits of the next.
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
        self.layers = [self._layer(weights, i) for i in range(config.num_hidden_layers)]
        exponents = torch.arange(0, self.head_dim, 2) / self.head_dim
        self.frequencies = config.rope_parameters["rope_theta"] ** -exponents

    def _layer(self, weights: dict[str, Tensor], index: int) -> _Layer:
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
        """Fill the cache with prompts; the logits of each one's next token, (rows, vocabulary)."""
        ids, mask = _pad_left(prompt_ids)
        rows, longest = ids.shape
        room = longest + new_tokens
        shape = (2, len(self.layers), rows, self.key_heads, room, self.head_dim)
        self.cache = torch.zeros(shape)
        self.attended = torch.cat([mask.bool(), torch.ones(rows, new_tokens).bool()], 1)
        self.padding = longest - mask.sum(1)
        self.length = 0
        causal = torch.ones(longest, longest).tril().bool()
        # A padding position sees itself, so that no row of the attention is empty.
        seen = (causal & mask.bool()[:, None]) | torch.eye(longest).bool()
        return self._forward(ids, seen[:, None])[:, -1]

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the cache, in this order; a row may be repeated."""
        self.cache = self.cache.index_select(2, rows)
        self.attended = self.attended[rows]
        self.padding = self.padding[rows]

    def step(self, token: Tensor) -> Tensor:
        """The logits of the next token, (rows, vocabulary), after one more token a row."""
        seen = self.attended[:, None, None, : self.length + 1]
        return self._forward(token[:, None], seen)[:, -1]

    def _forward(self, ids: Tensor, seen: Tensor) -> Tensor:
        """Logits, (rows, tokens, vocabulary); `seen` is what each token attends to."""
        stop = self.length + ids.shape[1]
        positions = torch.arange(self.length, stop) - self.padding[:, None]
        angles = positions.clamp_min(0)[..., None, None] * self.frequencies
        rotation = torch.cat([angles.cos()] * 2, -1), torch.cat([-angles.sin(), angles.sin()], -1)
        x = self.embedding[ids]
        for index, layer in enumerate(self.layers):
            normal = self._normalise(x, layer.attention_norm)
            x = x + self._attend(layer, index, normal, seen, rotation)
            gate, up = (self._normalise(x, layer.mlp_norm) @ layer.gate_up.T).chunk(2, -1)
            x = x + (functional.silu(gate) * up) @ layer.down.T
        self.length = stop
        return self._normalise(x, self.norm) @ self.unembedding.T

    def _attend(
        self, layer: _Layer, index: int, x: Tensor, seen: Tensor, rotation: tuple[Tensor, Tensor]
    ) -> Tensor:
        rows, tokens, _ = x.shape
        new = slice(self.length, self.length + tokens)
        states = (x @ layer.query_key_value.T).view(rows, tokens, -1, self.head_dim)
        turned, value = states.split([self.heads + self.key_heads, self.key_heads], 2)
        turned = self._normalise(turned, layer.query_key_norm)
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
            attn_mask=seen,
            enable_gqa=self.heads != self.key_heads,
        )
        return attended.transpose(1, 2).reshape(rows, tokens, -1) @ layer.output.T

    def _normalise(self, x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * weight
