"""Tiny random models that chat: a Qwen3 and a Llama that puts a token before every text."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

BEGIN, END, PAD = "<|begin|>", "<|end|>", "<|pad|>"
TEMPLATES = {
    "qwen3": "{% for m in messages %}<{{ m.role }}>{{ m.content }}" + END + "{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% if think is defined %}{{ think }}{% endif %}"
    "{% endif %}",
    "llama": BEGIN + "{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}",
}
KINDS = {"qwen3": (Qwen3Config, Qwen3ForCausalLM), "llama": (LlamaConfig, LlamaForCausalLM)}


def make(folder: Path, kind: str = "qwen3", chat: bool = True, context: int = 2048) -> Path:
    """Save a model of that kind, and its tokenizer of bytes, as a checkpoint is saved."""
    tokenizer = tokenizer_of(kind, chat)
    make_config, make_model = KINDS[kind]
    sizes = dict.fromkeys(("hidden_size", "intermediate_size", "head_dim"), 32)
    heads = dict.fromkeys(("num_attention_heads", "num_key_value_heads", "num_hidden_layers"), 1)
    config = make_config(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        tie_word_embeddings=True,
        max_position_embeddings=context,
        **sizes,
        **heads,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        make_model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tokenizer_of(kind: str, chat: bool) -> PreTrainedTokenizerFast:
    """One token a byte; the Llama's begins every text with a token of its own."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    begin = {"bos_token": BEGIN} if kind == "llama" else {}
    whole = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, **begin
    )
    if begin:
        marked = [(BEGIN, whole.bos_token_id)]
        whole.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{BEGIN} $A", special_tokens=marked
        )
    if chat:
        whole.chat_template = TEMPLATES[kind]
    return whole
