"""What arms begin with: a named model, or a small Qwen3 made from scratch, which imitates what the
domain writes; and the fingerprints of all inputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerFast, Qwen3ForCausalLM

from setrl.logs.run import BASE
from setrl.models.folder import hub_commit, model_digests
from setrl.models.small.imitation import Course, TextExample, taught_model
from setrl.models.small.sampler import sample
from setrl.models.small.tokenizer import make_tokenizer
from setrl.support import files
from setrl.support.files.digests import Digests
from setrl.support.wording import count
from setrl.tasks.domains import corpus
from setrl.train.lm.resolved import BaseSpec, ResolvedConfig
from setrl.train.runs.provenance import inputs_of

LOOKED_AT = 64  # problems on which a new base is tried
MADE_AGAIN = "remove {folder} and run the same command again, which makes the same model again"
SAVED_AGAIN = "save or download this model again"


def base_model(spec: BaseSpec, cache: Path, show_progress: bool = True) -> Path:
    """Return the folder of a base model, which is made if the cache lacks it.

    The folder's name is a hash of all that decides the model: the sizes, the domain and the
    domain's source text. The folder appears once the model is complete.
    """
    folder = spec.folder(cache)
    if not folder.exists():
        model, tokenizer = make_base(spec, show_progress)
        with files.writing_folder(folder) as partial:
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
            files.write_json(partial / "base.json", spec.as_record())
    return folder


def make_base(
    spec: BaseSpec, show_progress: bool = True
) -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """Make a model and its tokenizer, and teach it the corpus; the loss is only on samples."""
    tokenizer = make_tokenizer(spec.author.vocabulary)
    course = Course(spec.epochs, spec.batch_size, spec.learning_rate, spec.seed)
    examples = corpus_examples(spec, tokenizer)
    model = taught_model(tokenizer, spec.sizes, examples, course, "base model", show_progress)
    if show_progress:
        _report_accuracy(model, spec, tokenizer, max(len(example.sample) for example in examples))
    return model, tokenizer


def _report_accuracy(
    model: PreTrainedModel, spec: BaseSpec, tokenizer: PreTrainedTokenizerFast, longest: int
) -> None:
    """Say on stderr what a new base model can do, and warn of one that can do nothing.

    Neither the weights nor the global generator change.
    """
    rng = np.random.default_rng(0)
    prompts = [spec.author.corpus_problem(rng).prompt for _ in range(LOOKED_AT)]
    texts = [text for [text] in sample(model, tokenizer, prompts, 1, longest)]
    readings = [spec.author.read(*pair) for pair in zip(prompts, texts, strict=True)]
    strategies = [reading.strategy for reading in readings if reading.correct]
    message = f"base model: right in {len(strategies)}/{LOOKED_AT} samples of training problems"
    message += f", by {count(len(set(strategies)), 'strategy')}"
    if not strategies:
        message += (
            "; methods learn nothing from a model that is never right: set base_corpus or "
            "base_layers higher, or take easier problems"
        )
    print(message, file=sys.stderr)


def corpus_examples(spec: BaseSpec, tokenizer: PreTrainedTokenizerFast) -> list[TextExample]:
    """Return the corpus in token ids."""
    pairs = list(corpus(spec.author, spec.corpus, spec.seed))
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
    return [TextExample(p, s + end) for p, s in zip(prompts, samples, strict=True)]


def base_of_run(resolved: ResolvedConfig, run_dir: Path) -> str:
    """Return the absolute folder of the model that arms start from, or its name on a hub."""
    model = resolved.config.model
    folder = run_dir / BASE if model is None else Path(model)
    return str(folder.absolute()) if model is None or folder.is_dir() else model


def run_inputs(resolved: ResolvedConfig, run_dir: Path) -> Digests:
    """Return the fingerprints of all that a run's results depend on besides its config."""
    base, name = base_of_run(resolved, run_dir), resolved.config.model or BASE
    inputs = dict(inputs_of(resolved.config))
    if Path(base).is_absolute():
        inputs |= model_digests(name, Path(base))
    elif (commit := hub_commit(base)) is not None:
        inputs[name] = commit
    for split in resolved.used_splits:
        if problems := resolved.task.digest(split):
            inputs[f"the problems of the split {split!r} of {resolved.task.name}"] = problems
    return inputs
