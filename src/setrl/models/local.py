"""A checkpoint as a generator of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from setrl.models.folder import (
    base_of,
    fingerprint,
    is_adapter,
    not_loaded,
    refuse_missing,
    trusts_code,
)
from setrl.models.generators import Ask, Completion, problem_seed
from setrl.models.prompting import PromptForm
from setrl.models.small.sampler import end_ids, sample_ids
from setrl.support.errors import ConfigError, DataError

AS_THE_MODEL_TAKES_IT = PromptForm()
NO_MODEL = "is not a model's folder or name"


def refuse_missing_model(model_dir: str | Path) -> None:
    """Look for a model, so that nothing is written for one that does not exist.

    Raises:
        ConfigError: If the model does not exist, or transformers does not know its kind.
    """
    refuse_missing(model_dir)
    try:
        load_config(base_of(model_dir))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise not_loaded(model_dir, error, f"{NO_MODEL}: {reason}") from error


def load_config(model_dir: str | Path) -> PretrainedConfig:
    """Return the config of a model; code of its own runs only if it may."""
    config: PretrainedConfig = AutoConfig.from_pretrained(
        model_dir, trust_remote_code=trusts_code()
    )
    return config


def refuse_damaged_weights(folder: Path, remedy: str) -> None:
    """Look at the files of a model's weights, whose sizes stand at their beginnings.

    Args:
        folder: The folder of the model; nothing is checked if it is a name on a hub.
        remedy: What to do about a damaged file; it may name the {folder}.

    Raises:
        DataError: Naming the file that was cut off or overwritten.
    """
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, framework="np"):
                pass
        except (SafetensorError, OSError) as error:
            what = remedy.format(folder=folder)
            raise DataError(f"{path} is damaged ({error}): {what}") from error


class LocalModel:
    """A checkpoint as a generator of samples: one problem at a time, all its samples at once.

    A problem that was interrupted is drawn again from its own seed, which gives the same samples.

    Args:
        model_dir: A folder, or a name, that transformers loads a model and a tokenizer from; it is
            loaded when the first sample is wanted.
        temperature: Divides the logits.
        max_new_tokens: Where a sample is cut.
        form: How the model sees a prompt.
        dtype: Type of the weights' numbers; by default the type in the checkpoint.
    """

    def __init__(
        self,
        model_dir: str | Path,
        temperature: float = 1.0,
        max_new_tokens: int = 1024,
        form: PromptForm = AS_THE_MODEL_TAKES_IT,
        dtype: str = "auto",
    ) -> None:
        self.model_dir = model_dir
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.form = form
        self.dtype = dtype

    @property
    def settings(self) -> dict[str, Any]:
        """What the samples depend on; the folder does not count, it may be moved."""
        form: dict[str, Any] = {"system": self.form.system, "chat": self.form.chat}
        form["template"] = dict(self.form.options) or None
        form_settings = {key: value for key, value in form.items() if value is not None}
        return {"temperature": self.temperature, "max_tokens": self.max_new_tokens, **form_settings}

    @property
    def weights(self) -> str | None:
        """A fingerprint of the model's files, which another folder or time does not change."""
        return fingerprint(self.model_dir)

    @property
    def is_chat(self) -> bool:
        """Whether the model gets messages."""
        return self.form.is_chat(load_tokenizer(self.model_dir))

    @property
    def ends(self) -> set[int | None]:
        """The tokens that end a sample, and the one that fills up behind it."""
        model, tokenizer = self._loaded
        special_tokens = (tokenizer.eos_token_id, tokenizer.pad_token_id)
        return {*end_ids(model.generation_config, model.config), *special_tokens}

    @cached_property
    def _loaded(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        return _load_model_and_tokenizer(self.model_dir, self.dtype)

    def generate(self, asks: Sequence[Ask], seed: int) -> Iterator[Completion]:
        """Yield the samples of each problem in turn.

        Raises:
            ConfigError: If the model does not exist.
            DataError: When the weights of the model are damaged.
        """
        for ask in asks:
            texts = self.texts(ask.prompt, ask.n, problem_seed(seed, ask.problem))
            for number in ask.numbers:
                yield Completion(ask.problem, number, texts[number])

    def texts(self, prompt: str, n: int, seed: int) -> list[str]:
        """n texts for one prompt; the same seed gives the same texts."""
        ids, tokenizer = self.ids(prompt, n, seed)
        return list(tokenizer.batch_decode(ids, skip_special_tokens=True))

    def ids(
        self, prompt: str, n: int, seed: int
    ) -> tuple[list[list[int]], PreTrainedTokenizerBase]:
        """Return the same samples as tokens, and what turns them into texts."""
        model, tokenizer = self._loaded
        tokens = self.form.token_ids(prompt, tokenizer)
        generator = torch.Generator(device=model.device).manual_seed(seed)
        with one_thread():
            [ids] = sample_ids(model, [tokens], n, self.max_new_tokens, self.temperature, generator)
        return ids, tokenizer


def _load_model_and_tokenizer(
    model_dir: str | Path, dtype: str
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    try:
        model = load_weights(model_dir, dtype).eval()
    except (OSError, ValueError) as error:
        raise not_loaded(model_dir, error, f"{NO_MODEL}: {error}") from error
    except SafetensorError as error:
        raise DataError(f"{model_dir}: the file of its weights is damaged: {error}") from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.to(device), load_tokenizer(model_dir)


def load_tokenizer(model_dir: str | Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a model or of an adapter.

    Raises:
        ConfigError: If the model has none.
    """
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            model_dir, trust_remote_code=trusts_code()
        )
    except (OSError, ValueError) as error:
        raise not_loaded(model_dir, error, f"has no tokenizer: {error}") from error
    # Where its files are missing, transformers makes an empty one without a word.
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise ConfigError(
            f"{model_dir} has no tokenizer: save it in the folder of the model "
            "(tokenizer.save_pretrained)"
        )
    return tokenizer


def load_weights(model_dir: str | Path, dtype: str) -> PreTrainedModel:
    """Load a model; for the folder of an adapter, its base model with the adapter merged in."""
    how: dict[str, Any] = {"dtype": dtype, "trust_remote_code": trusts_code()}
    if not is_adapter(model_dir):
        return AutoModelForCausalLM.from_pretrained(model_dir, **how)
    from peft import AutoPeftModelForCausalLM

    whole = AutoPeftModelForCausalLM.from_pretrained(str(model_dir), **how)
    merged: PreTrainedModel = whole.merge_and_unload()
    return merged


@contextmanager
def one_thread() -> Iterator[None]:
    """Small models are fastest on one thread, and the draws must not depend on their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
