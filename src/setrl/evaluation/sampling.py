"""Sample a checkpoint on the problems of a split, and read every sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from setrl import files
from setrl.domains import Domain, Problem, Split
from setrl.errors import ConfigError, DataError
from setrl.evaluation.collecting import reading_lists
from setrl.files.progress import progress_bar
from setrl.logs.records import SCHEMA_VERSION, TEXTS_KEPT, read_records
from setrl.models.sampler import sample
from setrl.serving.generators import Ask, Sample, problem_seed


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


def evaluate_checkpoint(
    model_dir: str | Path,
    domain: Domain,
    split: Split,
    num_problems: int,
    n: int,
    seed: int,
    out_path: str | Path,
    temperature: float = 1.0,
    max_new_tokens: int | None = None,
    show_progress: bool = True,
) -> Path:
    """Draw n samples for each problem of a split and write one line a problem.

    Every problem has its own random generator, seeded by `seed` and the problem's place. A call
    that finds some problems done continues with the rest, and the file is the same as without an
    interruption.

    Args:
        model_dir: A folder, or a name, that transformers loads a model and a tokenizer from.
        domain: Gives the problems and reads the samples.
        split: "train", "test" or "shifted".
        num_problems: P.
        n: Samples of a problem.
        seed: Decides the problems and the samples; arms that are compared share it.
        out_path: The evaluation file (see `setrl.logs.records`).
        temperature: Divides the logits.
        max_new_tokens: Where a sample is cut; by default the domain's own limit.
        show_progress: Whether to draw a progress bar.

    Returns:
        The path of the evaluation file.

    Raises:
        DataError: When the weights of the model are damaged.
        ConfigError: When there is no model, or the file holds samples of other problems or of
            other settings.
    """
    path = Path(out_path)
    settings = {"split": split, "n": n, "seed": seed, "temperature": temperature}
    problems = domain.problems(split, num_problems, seed)
    done = _done(path, problems, settings)
    if done == len(problems):
        return path
    model = LocalModel(model_dir, temperature, max_new_tokens or domain.max_new_tokens)
    bar = progress_bar(
        show_progress,
        desc=f"evaluate {split}",
        unit="problem",
        initial=done,
        total=len(problems),
    )
    with bar:
        for place in range(done, len(problems)):
            texts = model.texts(problems[place].prompt, n, problem_seed(seed, place))
            path.parent.mkdir(parents=True, exist_ok=True)
            files.append_line(path, {**_read(problems[place], texts, domain), **settings})
            bar.update()
    return path


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


def _done(path: Path, problems: list[Problem], settings: dict[str, Any]) -> int:
    """How many problems the file holds already; a line that was cut off is removed from it."""
    if not path.exists():
        return 0
    records = read_records(path, torn="cut")
    for key, wanted in settings.items():
        found = {record.get(key) for record in records} - {wanted}
        if found:
            raise ConfigError(f"{path} was made with {key} = {found.pop()}, not {wanted}: "
                             "give another path or remove the file")  # fmt: skip
    if [record["prompt"] for record in records] != [p.prompt for p in problems[: len(records)]]:
        raise ConfigError(
            f"{path} has records of other problems: give another path or remove the file"
        )
    return len(records)


def _read(problem: Problem, texts: list[str], domain: Domain) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "prompt": problem.prompt,
        "kind": problem.kind,
        **reading_lists([domain.read(problem.prompt, text) for text in texts]),
        "texts": texts[:TEXTS_KEPT],
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """Small models are fastest on one thread, and the draws must not depend on their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
