"""The base: a small Qwen3 made from scratch, which imitates what the domain's writer writes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    get_linear_schedule_with_warmup,
    set_seed,
)

from setrl import domains
from setrl.domains import corpus
from setrl.runs import files
from setrl.training.config import HEAD_DIM, ComparisonConfig
from setrl.training.tokenizer import make_tokenizer

IGNORED = -100  # the label of tokens that are not learnt: prompts and padding
ADAM_SHARE = 0.15  # AdamW's step size, as a share of Muon's
WARMUP = 0.03  # share of the updates over which the learning rate rises
BATCHES_IN_A_POOL = 50  # batches are cut from this many sorted by length, so that padding is little


def base_model(config: ComparisonConfig, cache: Path, show_progress: bool = True) -> Path:
    """The folder of the base model that a config describes, made unless the cache has it.

    The folder's name is a hash of all that decides the model: the base_* keys, the domain and its
    source text. It appears when the model is whole.
    """
    folder = cache / f"base-{config.make_domain().name}-{fingerprint(config)}"
    if not folder.exists():
        model, tokenizer = make_base(config, show_progress)
        with files.writing_folder(folder) as partial:
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
            files.write_json(partial / "base.json", describe(config))
    return folder


def describe(config: ComparisonConfig) -> dict[str, Any]:
    """All that decides the base model."""
    keys = {key: value for key, value in vars(config).items() if key.startswith("base_")}
    domain = repr(config.make_domain())
    return {"schema_version": 1, "domain": domain, "source": _source_hash(), **keys}


def fingerprint(config: ComparisonConfig) -> str:
    """A hash of what `describe` says."""
    return hashlib.sha256(json.dumps(describe(config)).encode()).hexdigest()[:12]


def _source_hash() -> str:
    """A hash of the whole package of domains: they share files."""
    sources = sorted(Path(domains.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def make_base(
    config: ComparisonConfig, show_progress: bool = True
) -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """Make a model and its tokenizer, and teach it the corpus; the loss is on samples alone."""
    set_seed(config.base_seed)
    tokenizer = make_tokenizer(config.make_domain().vocabulary)
    model = new_model(config, tokenizer)
    examples = corpus_examples(config, tokenizer)
    updates = math.ceil(len(examples) / config.base_batch_size) * config.base_epochs
    optimizers = _optimizers(model, config.base_learning_rate)
    schedules = [
        get_linear_schedule_with_warmup(optimizer, int(WARMUP * updates), updates)
        for optimizer in optimizers
    ]
    progress = tqdm(total=updates, desc="base model", unit="step", disable=not show_progress)
    for batch in batches(examples, config, tokenizer.pad_token_id):
        loss = model(**batch).loss
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        progress.update()
        progress.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
    progress.close()
    return model.eval(), tokenizer


def _optimizers(model: Qwen3ForCausalLM, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, which learn much faster with it; AdamW for the rest."""
    named = dict(model.named_parameters())
    matrices = [w for name, w in named.items() if w.ndim == 2 and "embed" not in name]
    rest = [w for name, w in named.items() if w.ndim != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, learning_rate, weight_decay=0.0),
        torch.optim.AdamW(
            rest, ADAM_SHARE * learning_rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True
        ),
    ]


def new_model(config: ComparisonConfig, tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """A Qwen3 of the config's size with random weights."""
    heads = config.base_hidden_size // HEAD_DIM
    shape = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=config.base_hidden_size,
        intermediate_size=config.base_mlp_size,
        num_hidden_layers=config.base_layers,
        num_attention_heads=heads,
        num_key_value_heads=math.ceil(heads / 2),
        head_dim=HEAD_DIM,
        max_position_embeddings=1024,
        initializer_range=config.base_hidden_size
        ** -0.5,  # 0.02, meant for wide models, learns slowly
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return Qwen3ForCausalLM(shape)


@dataclasses.dataclass(frozen=True)
class Example:
    """A prompt and a written sample, in token ids; the sample has its end token."""

    prompt: list[int]
    sample: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.sample)


def corpus_examples(config: ComparisonConfig, tokenizer: PreTrainedTokenizerFast) -> list[Example]:
    """The corpus in token ids."""
    pairs = list(corpus(config.make_domain(), config.base_corpus, config.base_seed))
    prompts = tokenizer([problem.prompt for problem, _ in pairs])["input_ids"]
    samples = tokenizer([written.text for _, written in pairs])["input_ids"]
    unknown = tokenizer.unk_token_id
    for ids, (problem, written) in zip(map(list.__add__, prompts, samples), pairs, strict=True):
        if unknown in ids:
            text = f"{problem.prompt}{written.text}"
            raise ValueError(f"the domain's vocabulary cannot write its own corpus: {text!r}")
    end = [tokenizer.eos_token_id]
    return [Example(p, s + end) for p, s in zip(prompts, samples, strict=True)]


def batches(
    examples: list[Example], config: ComparisonConfig, pad: int
) -> Iterator[dict[str, torch.Tensor]]:
    """Batches of examples of like length, in random order, epoch after epoch."""
    generator = torch.Generator().manual_seed(config.base_seed)
    size = config.base_batch_size
    for _ in range(config.base_epochs):
        order = torch.randperm(len(examples), generator=generator).tolist()
        chunks: list[list[int]] = []
        for start in range(0, len(order), size * BATCHES_IN_A_POOL):
            pool = order[start : start + size * BATCHES_IN_A_POOL]
            pool.sort(key=lambda index: len(examples[index]))
            chunks += [pool[i : i + size] for i in range(0, len(pool), size)]
        for index in torch.randperm(len(chunks), generator=generator).tolist():
            yield collate([examples[i] for i in chunks[index]], pad)


def collate(examples: list[Example], pad: int) -> dict[str, torch.Tensor]:
    """Token ids, mask and labels, (examples, longest), padded on the right."""
    longest = max(map(len, examples))
    ids = torch.full((len(examples), longest), pad)
    labels = torch.full_like(ids, IGNORED)
    mask = torch.zeros_like(ids)
    for row, example in enumerate(examples):
        ids[row, : len(example)] = torch.tensor(example.prompt + example.sample)
        labels[row, len(example.prompt) : len(example)] = torch.tensor(example.sample)
        mask[row, : len(example)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}
