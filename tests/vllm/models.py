"""Small models of Qwen3 for a vLLM server: one that writes samples, one that judges."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from setrl.models.small.imitation import new_model
from setrl.tasks.domains import Polynomial
from setrl.train.lm.base_model import base_model
from setrl.train.lm.resolved import BaseSpec

CONTEXT = 16_384  # tokens of the judge, each a byte: a question about samples has some thousands
TEMPLATE = (
    "{% for one in messages %}{{ one['role'] }}: {{ one['content'] }}\n{% endfor %}assistant: "
)


def sampling_model(folder, cache):
    """A model of `polynomial` that solves some problems, as a checkpoint.

    Its output matrix is a copy of its embeddings: of tied ones vLLM on a CPU does not renew the
    output matrix when it loads new weights.
    """
    spec = BaseSpec(Polynomial(), hidden_size=64, mlp_size=128, corpus=16_384)
    base = base_model(spec, cache)
    model = AutoModelForCausalLM.from_pretrained(base)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.get_input_embeddings().weight.detach().clone())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder


def judging_model(folder):
    """A model with random weights whose tokens are bytes, so that it can write any JSON."""
    tokenizer = byte_tokenizer()
    torch.manual_seed(0)
    model = new_model(tokenizer, 64, 64, 1)
    model.config.max_position_embeddings = CONTEXT
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def byte_tokenizer():
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {token: place for place, token in enumerate(("<pad>", "<eos>", *symbols))}
    tokenizer = Tokenizer(models.BPE(ids, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
    made.chat_template = TEMPLATE
    return made
