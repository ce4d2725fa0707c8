"""Training with written samples, so that one process and several train on the same ones."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from peft import LoraConfig
from trl import GRPOConfig

from setrl import AnyMethod, methods, objectives
from setrl.core.credit import Sampled
from setrl.judges import Group, Judgement
from setrl.judges.exact import ExactJudge
from setrl.models.served.endpoint import Usage
from setrl.train.scoring import ScoredBatch
from setrl.train.trl import SetGRPOTrainer
from tests.engines import chat

PROMPTS = [f"y={a}x, x!=1: " for a in range(2, 8)]
N = 4
ROWS = 12  # samples of a step: three groups; 2 and 4 processes have 6 and 3 of them
METHOD = methods.poly_epo(2)
OF_FIELDS = methods.set_rl(objectives.majority() + objectives.mean(of="second"), 2) + (
    methods.set_rl(objectives.pairwise_distance(), 3)
)


@dataclass(frozen=True)
class Setting:
    """What is trained; `options` are arguments of TRL's."""

    accumulation: int = 1
    steps: int = 2
    method: AnyMethod = METHOD
    adapters: bool = False
    judged: bool = False
    fields: bool = False
    options: dict[str, Any] = field(default_factory=dict)


SETTINGS = {
    "plain": Setting(),
    "accumulation": Setting(accumulation=3),
    "iterations": Setting(steps=4, options={"num_iterations": 2}),
    "adapters": Setting(adapters=True),
    "judged": Setting(judged=True),
    "sampled": Setting(method=dataclasses.replace(METHOD, estimator=Sampled(5))),
    "all": Setting(3, 4, adapters=True, options={"num_iterations": 2, "beta": 0.1}),
    "fields": Setting(method=OF_FIELDS, fields=True),
    "resumed": Setting(steps=4, options={"save_steps": 2, "save_strategy": "steps"}),
}
# ZeRO on CPUs, if it is installed: no extra contains it.
if find_spec("deepspeed"):
    ZERO_2 = {
        "zero_optimization": {"stage": 2},
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
        "zero_allow_untested_optimizer": True,  # SGD
        "communication_data_type": "fp32",
    }
    SETTINGS["ZeRO 2"] = Setting(options={"deepspeed": ZERO_2})


@dataclass(frozen=True)
class Counted(ExactJudge):
    """Counts its questions as requests."""

    counts: Usage = field(default_factory=Usage)

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """By the first letter."""
        self.counts.requests += len(groups)
        return super().judge(groups)


@dataclass
class Outcome:
    """What one process saw of a training run.

    Attributes:
        batches: Prompts, texts, rewards, strategies and advantages of each generation, and what its
            judge was asked.
        entered: The rows of this process in each loss: tokens of the sample, and its advantage.
        weights: All weights at the end, (number of weights,).
    """

    batches: list[tuple[list[str], list[list[str]], *tuple[np.ndarray, ...]]]
    entered: list[tuple[tuple[int, ...], float]]
    weights: torch.Tensor


class Recorded(SetGRPOTrainer):
    """Keeps what enters the loss."""

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        rows = zip(inputs["completion_ids"], inputs["completion_mask"].bool(), strict=True)
        ids = [tuple(row[mask].tolist()) for row, mask in rows]
        self.entered += zip(ids, inputs["advantages"].tolist(), strict=True)
        return super()._compute_loss(model, inputs)


def train(setting: Setting, base: Path, output: Path, resume: Path | None = None) -> Outcome:
    """Train on this process and the others, if there are any."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    batches: list[ScoredBatch] = []
    trainer = Recorded(
        str(base),
        length,
        arguments(setting, output, ROWS // (processes * setting.accumulation)),
        Dataset.from_dict({"prompt": PROMPTS * 4}),
        peft_config=adapters() if setting.adapters else None,
        method=setting.method,
        strategy_func=None if setting.judged else kinds,
        judge=Counted(first_letter) if setting.judged else None,
        fields=FIELDS if setting.fields else None,
        sampler=lambda *asked, **_: written(trainer, *asked),
        on_batch=batches.append,
    )
    trainer.entered = []
    trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    weights = [weight.detach().flatten() for weight in trainer.model.parameters()]
    return Outcome([fields(batch) for batch in batches], trainer.entered, torch.cat(weights))


def arguments(setting: Setting, output: Path, rows: int) -> GRPOConfig:
    """TRL's arguments; SGD, because Adam makes rounding as large as any gradient."""
    usual: dict[str, Any] = {
        "max_steps": setting.steps,
        "per_device_train_batch_size": rows,
        "gradient_accumulation_steps": setting.accumulation,
        "num_generations": N,
        "max_completion_length": 8,
        "optim": "sgd",
        "learning_rate": 0.1,
        "lr_scheduler_type": "constant",
        "max_grad_norm": 0.0,
        "seed": 1,
    }
    return chat.arguments(output, **{**usual, **setting.options})


def adapters() -> LoraConfig:
    """Adapters of every layer, that change the model from the first step on."""
    return LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)


def written(trainer: Recorded, model: Any, prompt_ids: list, count: int) -> list[list[list[int]]]:
    """Samples that depend only on the step and on the row of the whole batch."""
    rows = len(prompt_ids) * count
    first = trainer.accelerator.process_index * rows
    step = trainer.state.global_step
    ids = [one_sample(trainer.processing_class, (step, first + row)) for row in range(rows)]
    return [ids[start : start + count] for start in range(0, rows, count)]


def one_sample(tokenizer: Any, place: tuple[int, int]) -> list[int]:
    """Up to seven tokens and the end."""
    rng = np.random.default_rng(place)
    tokens = sorted({*tokenizer.get_vocab().values()} - {*tokenizer.all_special_ids})
    return [*rng.choice(tokens, size=rng.integers(1, 8)).tolist(), tokenizer.eos_token_id]


def last_letter(completions: list[str], **_: Any) -> list[str | None]:
    """The answer, or None."""
    return [text[-1:] or None for text in completions]


def shared(prompts: list[str], completions: list[str], **_: Any) -> list[list[float]]:
    """How many letters two samples of a prompt share, and the prompt."""
    assert len(set(prompts)) == 1
    asked = len(prompts[0])
    return [[asked + len({*one} & {*two}) for two in completions] for one in completions]


async def later(completions: list[str], **_: Any) -> list[float]:
    """The second reward, asynchronously."""
    return [text.count("x") for text in completions]


FIELDS = {"answers": last_letter, "second": later, "pairs": shared}


def length(completions: list[str], **_: Any) -> list[float]:
    """The reward."""
    return [len(text) / 8 for text in completions]


def kinds(completions: list[str], **_: Any) -> list[str]:
    """The strategies, as names: their numbers must agree between the processes."""
    return [first_letter(text) for text in completions]


def first_letter(text: str) -> str:
    return text[:1]


def fields(batch: ScoredBatch) -> tuple:
    assert batch.samples.strategies is not None
    return (
        batch.samples.prompts,
        batch.samples.texts,
        batch.samples.rewards,
        batch.samples.strategies,
        batch.advantages.values_BN,
        np.array(sorted(batch.judging.used.items()) if batch.judging else []),
    )
