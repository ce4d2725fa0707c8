"""Sample a checkpoint on the problems of a split, and read every sample."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from setrl.domains import Domain, Problem, Split
from setrl.errors import ConfigError
from setrl.evaluation.records import SCHEMA_VERSION, read_records
from setrl.runs import files
from setrl.training.sampler import sample

TEXTS_KEPT = 8  # samples of a problem whose text is kept


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

    Every problem has a generator of its own, seeded by `seed` and the problem's place. A call that
    finds some problems done goes on with the rest, and the file is the same as if it had never
    been interrupted.

    Args:
        model_dir: A folder, or a name, that transformers loads a model and a tokenizer from.
        domain: Gives the problems and reads the samples.
        split: "train", "test" or "shifted".
        num_problems: P.
        n: Samples a problem.
        seed: Decides the problems and the samples; arms that are compared share it.
        out_path: The evaluation file (see `setrl.evaluation.records`).
        temperature: Divides the logits.
        max_new_tokens: Where a sample is cut; by default the domain's own limit.
        show_progress: Whether to draw a progress bar.

    Returns:
        The path of the evaluation file.

    Raises:
        ConfigError: When there is no model, or the file holds samples of other problems or of
            other settings.
    """
    path = Path(out_path)
    settings = {"split": split, "n": n, "seed": seed, "temperature": temperature}
    problems = domain.problems(split, num_problems, seed)
    done = _done(path, problems, settings)
    if done == len(problems):
        return path
    model, tokenizer = _load(model_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    limit = max_new_tokens or domain.max_new_tokens
    bar = tqdm(
        desc=f"evaluate {split}",
        unit="problem",
        initial=done,
        total=len(problems),
        disable=not show_progress,
    )
    with _one_thread(), bar:
        for place in range(done, len(problems)):
            asked, draw_seed = _as_asked(problems[place], tokenizer), _problem_seed(seed, place)
            [texts] = sample(model, tokenizer, [asked], n, limit, temperature, draw_seed)
            files.append_line(path, {**_read(problems[place], texts, domain), **settings})
            bar.update()
    return path


def _load(model_dir: str | Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    try:
        model = AutoModelForCausalLM.from_pretrained(model_dir).eval()
        tokenizer = AutoTokenizer.from_pretrained(model_dir)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model_dir} is not a model's folder or name: {error}") from error
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer


def _as_asked(problem: Problem, tokenizer: PreTrainedTokenizerBase) -> str:
    """The prompt as the model was trained to see it: a chat model gets it as a user's message."""
    if tokenizer.chat_template is None:
        return problem.prompt
    message = [{"role": "user", "content": problem.prompt}]
    return str(tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True))


def _done(path: Path, problems: list[Problem], settings: dict[str, Any]) -> int:
    """How many problems the file holds already; a line that was cut off is removed from it."""
    if not path.exists():
        return 0
    whole = path.read_bytes().rpartition(b"\n")
    os.truncate(path, len(whole[0]) + len(whole[1]))
    records = read_records(path)
    for key, wanted in settings.items():
        found = {record.get(key) for record in records} - {wanted}
        if found:
            raise ConfigError(f"{path} was made with {key} = {found.pop()}, not {wanted}: "
                             "give another path or remove the file")  # fmt: skip
    if [record["prompt"] for record in records] != [p.prompt for p in problems[: len(records)]]:
        raise ConfigError(f"{path} holds other problems: give another path or remove the file")
    return len(records)


def _problem_seed(seed: int, place: int) -> int:
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])


def _read(problem: Problem, texts: list[str], domain: Domain) -> dict[str, Any]:
    readings = [domain.read(problem.prompt, text) for text in texts]
    return {
        "schema_version": SCHEMA_VERSION,
        "prompt": problem.prompt,
        "kind": problem.kind,
        "correct": [int(reading.correct) for reading in readings],
        "strategies": [reading.strategy for reading in readings],
        "answers": [reading.answer for reading in readings],
        "texts": texts[:TEXTS_KEPT],
    }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small models are fastest on one thread, and the draws must not depend on their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
