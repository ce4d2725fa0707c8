"""Samples from a sampler other than TRL's; each part is judged while the next is sampled."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from setrl.judges import Group
from setrl.samples.conversation import prompt_text
from setrl.train.gathering.judging import JudgeQueue

if TYPE_CHECKING:
    from trl import GRPOTrainer as Trainer
else:
    Trainer = object  # the trainer's class follows in the order of resolution

Sampler = Callable[..., list[list[list[int]]]]  # see setrl.models.small.sampler.sample_ids


class Sampling(Trainer):
    """The part of a trainer of TRL that generates, with any sampler.

    Attributes:
        sampler: Generates the samples; None leaves it to TRL.
        judge_queue: Asked about a part of the samples while the next part is sampled.
        judge_parts: The number of parts.
    """

    sampler: Sampler | None
    judge_queue: JudgeQueue | None
    judge_parts: int
    _prompts: list[Any]  # of the current generation, one for each sample
    _turn: int  # of the current generation: above 0 after a tool has answered

    def _generate(self, prompts: list, *more: Any, **named: Any) -> Any:
        self._prompts = prompts
        self._turn = 0
        return super()._generate(prompts, *more, **named)

    def _generate_single_turn(self, prompt_ids: list[list[int]], *more: Any, **named: Any) -> Any:
        if self.sampler is not None:
            samples = self._draw_samples(prompt_ids, self.sampler)
            self._turn += 1
            return samples, None
        return super()._generate_single_turn(prompt_ids, *more, **named)

    def _draw_samples(self, prompt_ids: list[list[int]], sampler: Sampler) -> list[list[int]]:
        """Draw one sample of each prompt; the model reads equal neighbours among the prompts once.

        The generator depends only on the seed and the place, so that a resumed run samples the
        same texts.
        """
        runs = [(ids, len(list(run))) for ids, run in groupby(prompt_ids)]
        turn = (self._turn,) if self._turn else ()
        entropy = (*self._seed_entropy(), self.accelerator.process_index, *turn)
        seed = np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]
        generator = torch.Generator(self.args.device).manual_seed(int(seed) >> 1)
        sample = functools.partial(
            sampler,
            max_new_tokens=self.max_completion_length,
            temperature=self.temperature,
            generator=generator,
        )
        if len({count for _, count in runs}) > 1:
            groups = sample(self.model, prompt_ids, 1)
        else:
            groups = self._draw_samples_in_parts(sample, [ids for ids, _ in runs], runs[0][1])
        return [ids for group in groups for ids in group]

    def _draw_samples_in_parts(
        self, sample: Callable[..., list[list[list[int]]]], prompt_ids: list[list[int]], count: int
    ) -> list[list[list[int]]]:
        """Draw `count` samples of each prompt; each part is judged while the next is sampled."""
        asks = self._can_ask_ahead
        size = math.ceil(len(prompt_ids) / (self.judge_parts if asks else 1))
        groups: list[list[list[int]]] = []
        for start in range(0, len(prompt_ids), size):
            part = sample(self.model, prompt_ids[start : start + size], count)
            if asks and count == self.num_generations:
                self._ask_ahead(part, start * count)
            groups += part
        return groups

    @property
    def _can_ask_ahead(self) -> bool:
        """Whether samples can be judged while others are sampled.

        They cannot if TRL parses or continues what was sampled: the judge would read another text.
        """
        kinds = ("response_template", "response_schema")
        parsed = any(getattr(self._tokenizer, kind, None) for kind in kinds)
        queue = self.judge_queue
        return (
            queue is not None
            and queue.can_ask_ahead
            and self._is_training
            and not self.tools
            and (isinstance(self._prompts[0], str) or not parsed)
        )

    def _ask_ahead(self, groups: list[list[list[int]]], first: int) -> None:
        """Ask the judge about groups of tokens, by the texts that TRL will make of them."""
        assert self.judge_queue is not None
        for number, ids in enumerate(groups):
            prompt = prompt_text(self._prompts[first + number * len(ids)])
            texts = self.processing_class.batch_decode(  # type: ignore[union-attr]
                ids, skip_special_tokens=True
            )
            self.judge_queue.ask(Group.of_texts(prompt, tuple(texts)))

    @property
    def _num_samples(self) -> int:
        num_samples = self.num_generations if self._is_training else self.num_generations_eval
        return int(num_samples)  # type: ignore[arg-type]

    @property
    def _is_training(self) -> bool:
        return self.model is not None and self.model.training

    def _seed_entropy(self) -> tuple[int, int, int]:
        """Seed, step, and micro-batch in the step: together they seed all random numbers."""
        micro_batch = self._step % self.args.gradient_accumulation_steps
        return self.args.seed, self.state.global_step, micro_batch
