"""Small models that are made from scratch."""

from __future__ import annotations

import math

from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

HEAD_DIM = 64  # the smallest that vLLM's attention on CPUs takes


def new_model(
    tokenizer: PreTrainedTokenizerFast, hidden_size: int, mlp_size: int, layers: int
) -> Qwen3ForCausalLM:
    """A Qwen3 of that size with random weights."""
    heads = hidden_size // HEAD_DIM
    shape = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=mlp_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=math.ceil(heads / 2),
        head_dim=HEAD_DIM,
        max_position_embeddings=1024,
        initializer_range=hidden_size**-0.5,  # 0.02, meant for wide models, learns slowly
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return Qwen3ForCausalLM(shape)
