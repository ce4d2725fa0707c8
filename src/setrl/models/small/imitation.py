"""Small models from scratch: a new Qwen3, and supervised learning from written samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn.utils import clip_grad_norm_
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    get_linear_schedule_with_warmup,
    set_seed,
)

from setrl.models.small import HEAD_DIM
from setrl.support.files.progress import progress_bar

IGNORED = -100  # the label of tokens without a loss: prompts and padding
ADAM_SHARE = 0.15  # AdamW's step size, as a share of Muon's
WARMUP = 0.03  # share of the updates over which the learning rate rises
BATCHES_IN_A_POOL = 50  # batches sorted by length together, so that there is little padding


@dataclass(frozen=True)
class TextExample:
    """A prompt and a written sample, in token ids; the sample ends with its end token."""

    prompt: list[int]
    sample: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.sample)


@dataclass(frozen=True)
class Course:
    """How a model learns.

    Attributes:
        epochs: How often it sees each example.
        batch_size: Examples per update.
        learning_rate: Largest step size of Muon; it falls linearly to 0, and AdamW's does too.
        seed: Decides the first weights and the order of the examples.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    seed: int


def taught_model(
    tokenizer: PreTrainedTokenizerFast,
    sizes: tuple[int, int, int],
    examples: Sequence[TextExample],
    course: Course,
    title: str,
    show_progress: bool = True,
) -> Qwen3ForCausalLM:
    """Return a new model that has learned the samples of the examples, given their prompts.

    Args:
        tokenizer: Tokenizer of the model.
        sizes: Width of the model, width of its feed-forward layers, and number of layers.
        examples: What the model learns from.
        course: How the model learns.
        title: Title of the progress bar.
        show_progress: Whether to draw the bar.
    """
    set_seed(course.seed)
    model = new_model(tokenizer, *sizes)
    imitate(model, examples, tokenizer.pad_token_id, course, title, show_progress)
    return model.eval()


def new_model(
    tokenizer: PreTrainedTokenizerFast, hidden_size: int, mlp_size: int, layers: int
) -> Qwen3ForCausalLM:
    """Return a Qwen3 of these sizes with random weights."""
    heads = hidden_size // HEAD_DIM
    shape = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=mlp_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=math.ceil(heads / 2),
        head_dim=HEAD_DIM,
        max_position_embeddings=1024,
        initializer_range=hidden_size**-0.5,  # 0.02, meant for wide models, learns slowly
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return Qwen3ForCausalLM(shape)


def imitate(
    model: PreTrainedModel,
    examples: Sequence[TextExample],
    pad: int,
    course: Course,
    title: str,
    show_progress: bool = True,
) -> None:
    """Teach a model the samples of examples, given their prompts; only samples enter the loss."""
    updates = math.ceil(len(examples) / course.batch_size) * course.epochs
    optimizers = _make_optimizers(model, course.learning_rate)
    schedules = [
        get_linear_schedule_with_warmup(optimizer, int(WARMUP * updates), updates)
        for optimizer in optimizers
    ]
    progress = progress_bar(show_progress, total=updates, desc=title, unit="step")
    for batch in batches(examples, course, pad):
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


def _make_optimizers(model: PreTrainedModel, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Return Muon for the layers' matrices, which learn much faster with it; AdamW for the rest."""
    named = dict(model.named_parameters())
    matrices = [w for name, w in named.items() if w.ndim == 2 and "embed" not in name]
    rest = [w for name, w in named.items() if w.ndim != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, learning_rate, weight_decay=0.0),
        torch.optim.AdamW(
            rest, ADAM_SHARE * learning_rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True
        ),
    ]


def batches(
    examples: Sequence[TextExample], course: Course, pad: int
) -> Iterator[dict[str, torch.Tensor]]:
    """Yield batches of examples of similar length, in random order, epoch after epoch."""
    generator = torch.Generator().manual_seed(course.seed)
    size = course.batch_size
    for _ in range(course.epochs):
        order = torch.randperm(len(examples), generator=generator).tolist()
        chunks: list[list[int]] = []
        for start in range(0, len(order), size * BATCHES_IN_A_POOL):
            pool = order[start : start + size * BATCHES_IN_A_POOL]
            pool.sort(key=lambda index: len(examples[index]))
            chunks += [pool[i : i + size] for i in range(0, len(pool), size)]
        for index in torch.randperm(len(chunks), generator=generator).tolist():
            yield collate([examples[i] for i in chunks[index]], pad)


def collate(examples: Sequence[TextExample], pad: int) -> dict[str, torch.Tensor]:
    """Return token ids, mask and labels, (examples, longest), padded on the right."""
    longest = max(map(len, examples))
    ids = torch.full((len(examples), longest), pad)
    labels = torch.full_like(ids, IGNORED)
    mask = torch.zeros_like(ids)
    for row, example in enumerate(examples):
        ids[row, : len(example)] = torch.tensor(example.prompt + example.sample)
        labels[row, len(example.prompt) : len(example)] = torch.tensor(example.sample)
        mask[row, : len(example)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}
