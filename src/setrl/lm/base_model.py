"""The base: a small Qwen3 made from scratch, which imitates what the domain writes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from setrl import domains, files
from setrl.domains import corpus
from setrl.lm.config import ComparisonConfig
from setrl.models.imitation import Course, Example, taught_model
from setrl.models.tokenizer import make_tokenizer


def base_model(config: ComparisonConfig, cache: Path, show_progress: bool = True) -> Path:
    """The folder of the base model that a config describes; it is made if the cache lacks it.

    The folder's name is a hash of all that decides the model: the base_* keys, the domain and its
    source text. The folder appears once the model is complete.
    """
    folder = base_folder(config, cache)
    if not folder.exists():
        model, tokenizer = make_base(config, show_progress)
        with files.writing_folder(folder) as partial:
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
            files.write_json(partial / "base.json", describe(config))
    return folder


def base_folder(config: ComparisonConfig, cache: Path) -> Path:
    """Where that model is kept, whether it was made or not."""
    return cache / f"base-{config.make_domain().name}-{fingerprint(config)}"


def describe(config: ComparisonConfig) -> dict[str, Any]:
    """All that decides the base model."""
    keys = {key: value for key, value in vars(config).items() if key.startswith("base_")}
    domain = repr(config.make_domain())
    return {"schema_version": 1, "domain": domain, "source": _source_hash(), **keys}


def fingerprint(config: ComparisonConfig) -> str:
    """A hash of `describe`."""
    return hashlib.sha256(json.dumps(describe(config)).encode()).hexdigest()[:12]


def _source_hash() -> str:
    """A hash of all source files of domains, which share files."""
    sources = sorted(Path(domains.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def make_base(
    config: ComparisonConfig, show_progress: bool = True
) -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """Make a model and its tokenizer, and teach it the corpus; the loss is on samples alone."""
    tokenizer = make_tokenizer(config.make_domain().vocabulary)
    course = Course(
        epochs=config.base_epochs,
        batch_size=config.base_batch_size,
        learning_rate=config.base_learning_rate,
        seed=config.base_seed,
    )
    sizes = config.base_hidden_size, config.base_mlp_size, config.base_layers
    examples = corpus_examples(config, tokenizer)
    return taught_model(tokenizer, sizes, examples, course, "base model", show_progress), tokenizer


def corpus_examples(config: ComparisonConfig, tokenizer: PreTrainedTokenizerFast) -> list[Example]:
    """The corpus in token ids."""
    pairs = list(corpus(config.make_domain(), config.base_corpus, config.base_seed))
    prompts = tokenizer([problem.prompt for problem, _ in pairs])["input_ids"]
    samples = tokenizer([written.text for _, written in pairs])["input_ids"]
    unknown = tokenizer.unk_token_id
    for ids, (problem, written) in zip(map(list.__add__, prompts, samples), pairs, strict=True):
        if unknown in ids:
            text = f"{problem.prompt}{written.text}"
            raise ValueError(
                f"the domain's vocabulary must cover its corpus, but cannot write {text!r}"
            )
    end = [tokenizer.eos_token_id]
    return [Example(p, s + end) for p, s in zip(prompts, samples, strict=True)]
