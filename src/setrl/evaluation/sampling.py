"""A checkpoint as a generator of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from setrl.errors import ConfigError, DataError
from setrl.models.sampler import sample
from setrl.serving.generators import Ask, Sample, problem_seed


def refuse_missing_model(model_dir: str | Path) -> None:
    """Look for a model, so that nothing is written for one that does not exist.

    Raises:
        ConfigError: When there is no such model.
    """
    try:
        AutoConfig.from_pretrained(model_dir)
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ConfigError(f"{model_dir} is not a model's folder or name: {reason}") from error


class LocalModel:
    """A checkpoint as a generator of samples: one problem at a time, all its samples at once.

    A problem that was interrupted is drawn again from its own seed, which gives the same samples.

    Args:
        model_dir: A folder, or a name, that transformers loads a model and a tokenizer from; it is
            loaded when the first sample is wanted.
        temperature: Divides the logits.
        max_new_tokens: Where a sample is cut.
    """

    def __init__(
        self, model_dir: str | Path, temperature: float = 1.0, max_new_tokens: int = 1024
    ) -> None:
        self.model_dir = model_dir
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on; the folder does not count, it may be moved."""
        return {"temperature": self.temperature, "max_tokens": self.max_new_tokens}

    @cached_property
    def _loaded(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        return _load(self.model_dir)

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Sample]:
        """The samples of each problem in turn.

        Raises:
            ConfigError: When there is no such model.
            DataError: When the weights of the model are damaged.
        """
        for ask in asks:
            texts = self.texts(ask.prompt, ask.n, problem_seed(seed, ask.problem))
            for number in ask.numbers:
                yield Sample(ask.problem, number, texts[number])

    def texts(self, prompt: str, n: int, seed: int) -> list[str]:
        """n texts for one prompt; the same seed gives the same texts."""
        model, tokenizer = self._loaded
        asked = _as_asked(prompt, tokenizer)
        with one_thread():
            [texts] = sample(
                model, tokenizer, [asked], n, self.max_new_tokens, self.temperature, seed
            )
        return texts


def _load(model_dir: str | Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    try:
        model = AutoModelForCausalLM.from_pretrained(model_dir).eval()
        tokenizer = AutoTokenizer.from_pretrained(model_dir)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model_dir} is not a model's folder or name: {error}") from error
    except SafetensorError as error:
        raise DataError(f"{model_dir}: the file of its weights is damaged: {error}") from error
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer


def _as_asked(prompt: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """The prompt as the model was trained to see it: a chat model gets it as a user's message."""
    if tokenizer.chat_template is None:
        return prompt
    message = [{"role": "user", "content": prompt}]
    return str(tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True))


@contextmanager
def one_thread() -> Iterator[None]:
    """Small models are fastest on one thread, and the draws must not depend on their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
