"""Teach the pretrained model what Countdown asks for, once for all arms.

    python -m recipes.smollm2.warmup MODEL FOLDER --steps 400

MODEL is the folder of a causal language model; the taught one is FOLDER/model. Each step has new
problems of the split for training, each with several answers of the author. Interrupted at any
time, the same command goes on from the last checkpoint, with the same result.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from recipes.smollm2.countdown import Countdown
from setrl import DEGENERATE
from setrl.models.small.sampler import sample
from setrl.support import files
from setrl.tasks.domains import Author


@dataclass(frozen=True)
class Course:
    """How the model is taught.

    Attributes:
        steps: Updates.
        problems: Problems of an update.
        answers: Answers of a problem; the model reads its prompt once for all of them.
        learning_rate: Step size of AdamW; it rises over the first updates, and falls over the last.
        rise: Updates over which it rises.
        fall: The share of the updates, at the end, over which it falls to 0.
        seed: Decides the problems and the answers.
    """

    steps: int = 400
    problems: int = 8
    answers: int = 4
    learning_rate: float = 1e-4
    rise: int = 10
    fall: float = 0.25
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the step size of an update, counted from 0."""
        left = (self.steps - step) / max(1, round(self.fall * self.steps))
        return self.learning_rate * min(1.0, (step + 1) / self.rise, left)


@dataclass(frozen=True)
class Row:
    """A prompt and several answers to it, in token ids; each answer ends with its end token."""

    prompt: list[int]
    answers: list[list[int]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def ids(self) -> list[int]:
        """The prompt, then the answers one after another."""
        return list(chain(self.prompt, *self.answers))

    @property
    def parts(self) -> list[int]:
        """Of each token: 0 in the prompt, 1, 2, … in the answers."""
        return [part for part, one in enumerate([self.prompt, *self.answers]) for _ in one]

    @property
    def places(self) -> list[int]:
        """Of each token: where it would stand if there were no other answer."""
        begin = len(self.prompt)
        return [
            *range(begin),
            *(begin + place for one in self.answers for place in range(len(one))),
        ]

    @property
    def sources(self) -> list[int]:
        """The tokens from which those of the answers are predicted, in the same order."""
        return [
            last if place == len(self.prompt) else number - 1
            for last in [len(self.prompt) - 1]
            for number, place in enumerate(self.places)
            if number > last
        ]


def rows_of_step(
    author: Author, tokenizer: PreTrainedTokenizerBase, course: Course, step: int
) -> list[Row]:
    """Return the rows of an update, which only the seed and its number decide."""
    rng, rows = np.random.default_rng((course.seed, step)), []
    for _ in range(course.problems):
        problem = author.corpus_problem(rng)
        texts = [author.write(problem, rng).text for _ in range(course.answers)]
        answers = [[*one, tokenizer.eos_token_id] for one in tokenizer(texts)["input_ids"]]
        rows.append(Row(tokenizer(problem.prompt)["input_ids"], answers))
    return rows


def loss_of(model: PreTrainedModel, rows: Sequence[Row]) -> Tensor:
    """−mean log π(token | prompt, the tokens of its answer before it), over all answers' tokens."""
    hidden = model.model(
        input_ids=_padded([row.ids for row in rows], 0).to(model.device),
        position_ids=_padded([row.places for row in rows], 0).to(model.device),
        attention_mask=_mask(_padded([row.parts for row in rows], -1)).to(model.device),
        use_cache=False,
    ).last_hidden_state
    before = [hidden[number, row.sources] for number, row in enumerate(rows)]
    targets = [token for row in rows for token in chain(*row.answers)]
    logits = model.lm_head(torch.cat(before))  # not of the prompts: the vocabulary is large
    return torch.nn.functional.cross_entropy(logits.float(), torch.tensor(targets).to(model.device))


def _padded(lists: Sequence[Sequence[int]], fill: int) -> Tensor:
    longest = max(map(len, lists))
    return torch.tensor([[*one, *[fill] * (longest - len(one))] for one in lists])


def _mask(parts: Tensor) -> Tensor:
    """Return what is added to scores: 0 where a token sees one of its own part or of the prompt."""
    same = parts[:, :, None] == parts[:, None, :]
    prompt = (parts == 0)[:, None, :]
    earlier = torch.ones(parts.shape[1], parts.shape[1], dtype=torch.bool).tril()
    seen = (same | prompt) & earlier
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None]


def teach(model_dir: Path, folder: Path, course: Course, every: int, look: int) -> Path:
    """Teach a model, with a checkpoint every `every` updates, and return its folder."""
    done = folder / "model"
    if done.exists():
        return done
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model, optimizer, first = _start(model_dir, folder, course)
    began, author = time.time(), Countdown()
    for step in range(first + 1, course.steps + 1):
        rows = rows_of_step(author, tokenizer, course, step - 1)
        said = {"step": step, "loss": _update(model, optimizer, rows, course.rate(step - 1))}
        files.append_line(folder / "metrics.jsonl", {**said, "tokens": sum(map(len, rows))})
        left = (time.time() - began) / (step - first) * (course.steps - step) / 60
        print(f"{step}/{course.steps} loss {said['loss']:.3f}, {left:.0f} minutes left", flush=True)
        if step % every == 0:
            _keep(model, optimizer, step, folder)
        if look and step % look == 0:
            files.append_line(
                folder / "looks.jsonl", {"step": step, **first_look(model, tokenizer)}
            )
    with files.writing_folder(done) as partial:
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
    return done


def _update(
    model: PreTrainedModel, optimizer: torch.optim.Optimizer, rows: Sequence[Row], rate: float
) -> float:
    """Make an update with this step size, and return the loss before it."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    with torch.autocast(model.device.type, dtype=torch.bfloat16):
        loss = loss_of(model, rows)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def _start(
    model_dir: Path, folder: Path, course: Course
) -> tuple[PreTrainedModel, torch.optim.Optimizer, int]:
    """Return the model, its optimizer and the updates that are done."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), course.learning_rate, weight_decay=0.0, fused=True
    )
    kept = folder / "checkpoint.pt"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        return model, optimizer, 0
    saved = torch.load(kept, map_location=device)
    for path in folder.glob("*.jsonl"):  # what was done after the checkpoint is done again
        lines = [one for one in files.read_lines(path) if one["step"] <= saved["step"]]
        files.write_lines(path, lines)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return model, optimizer, saved["step"]


def _keep(
    model: PreTrainedModel, optimizer: torch.optim.Optimizer, step: int, folder: Path
) -> None:
    """Replace the checkpoint, in one move."""
    partial = folder / "checkpoint.partial"
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, partial)
    partial.replace(folder / "checkpoint.pt")


def first_look(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    problems: int = 16,
    n: int = 32,
    temperature: float = 1.0,
) -> dict[str, float]:
    """Return pass@1, pass@n and the right strategies in n samples, on problems of validation."""
    domain, model = Countdown(), model.eval()
    prompts = [one.prompt for one in domain.problems("validation", problems, 0)]
    texts = sample(model, tokenizer, prompts, n, domain.max_new_tokens + 1, temperature)
    model.train()
    read = [[domain.read(p, text) for text in own] for p, own in zip(prompts, texts, strict=True)]
    right = [[one.strategy for one in own if one.correct] for own in read]
    return {
        "pass@1": sum(map(len, right)) / (problems * n),
        f"pass@{n}": sum(map(bool, right)) / problems,
        f"right strategies in {n}": sum(len(set(own)) for own in right) / problems,
        "readable": sum(one.strategy != DEGENERATE for own in read for one in own) / (problems * n),
    }


def check(looks: Sequence[Mapping[str, float]]) -> None:
    """Refuse a base on which the plan lets no arm start.

    Raises:
        SystemExit: Saying what the last look saw.
    """
    last = looks[-1] if looks else {}
    fits = bool(last) and 0.3 <= last["pass@1"] <= 0.5 and last["right strategies in 32"] >= 3
    if not fits:
        raise SystemExit(
            "the base must have pass@1 of 30 to 50% and three right strategies in 32 samples "
            f"(PLAN.md), and the last look saw {dict(last) or 'nothing'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    for name, default in vars(Course()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    parser.add_argument("--every", type=int, default=25, help="updates between checkpoints")
    parser.add_argument("--look", type=int, default=0, help="updates between looks; 0: none")
    parser.add_argument("--check", action="store_true", help="refuse a base that PLAN.md refuses")
    options = vars(parser.parse_args())
    more = {key: options.pop(key) for key in ("model", "folder", "every", "look", "check")}
    print(teach(more["model"], more["folder"], Course(**options), more["every"], more["look"]))
    if more["check"]:
        check(files.read_lines(more["folder"] / "looks.jsonl"))


if __name__ == "__main__":
    main()
