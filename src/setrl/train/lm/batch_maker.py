"""The batches of an arm that a server trains: samples of the server, with our credit."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from setrl.judges import Judge
from setrl.logs.run import Seed
from setrl.models.local import load_tokenizer
from setrl.support import files
from setrl.tasks import Problem
from setrl.train.gathering.judging import make_judge
from setrl.train.gathering.metrics import batch_metrics, had_signal, rollout_records, strategy_names
from setrl.train.gathering.scorer import SampledGroup, Scorer
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.resolved_arm import ResolvedArm

if TYPE_CHECKING:
    from setrl.train.tinker.journal import CreditedSample, JournalBatch
    from setrl.train.tinker.server import ServerSampler


def scorer_of(
    resolved: ResolvedConfig, arm: ResolvedArm, judge: Judge | None, **more: Any
) -> Scorer:
    """Return what scores the samples of an arm; `correct` is what evaluation reads, too."""
    task = resolved.task
    return Scorer(
        task,
        judge,
        arm.fields,
        resolved.truncation,
        resolved.rewards,
        correct=task.correct or task.combine.place(),
        **more,
    )


@dataclass
class BatchMaker:
    """Maker of the batch of a step: its prompts, samples, rewards, strategies and advantages.

    Attributes:
        resolved: The comparison.
        arm: One of its arms.
        seed: One of its seeds.
        run: Whose folder keeps a judge's answers, and the metrics of the steps before.
    """

    resolved: ResolvedConfig
    arm: ResolvedArm
    seed: int
    run: Seed
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        resolved, arm = self.resolved, self.arm
        self.judge = None if arm.judge is None else make_judge(arm.judge, self.run.path)
        self.scorer = scorer_of(
            resolved,
            arm,
            self.judge,
            stop_rule=resolved.stop_rule,
            had_signal=lambda: had_signal(files.read_lines(self.run.metrics_file)),
        )
        self.tokenizer = load_tokenizer(str(resolved.config.model))
        self.is_chat = resolved.form.is_chat(self.tokenizer)
        self.problems = resolved.training_problems(self.seed)

    def close(self) -> None:
        """Close the judge."""
        if self.judge is not None:
            self.judge.close()

    def make(self, step: int, version: int, source: ServerSampler) -> JournalBatch:
        """Return the batch of a step, sampled from the weights of a version.

        The prompts and the seeds of the samples depend only on the seed and the step.
        """
        from setrl.train.tinker.journal import JournalBatch

        config, began = self.resolved.config, time.perf_counter()
        method = self.arm.method_at((step - 1) / config.steps)
        problems = self._problems(step)
        prompts = [self.resolved.form.token_ids(one.prompt, self.tokenizer) for one in problems]
        with self._lock:
            sampled, groups = self._sampled(step, problems, prompts, source)
            sampled_s = time.perf_counter() - began
            rng, is_last = np.random.default_rng([self.seed, step]), step == config.steps
            batch = self.scorer.score(groups, method, rng, is_last=is_last)
        names_BN = strategy_names(batch, self.resolved.task.strategy.name_of)
        return JournalBatch(
            step,
            version,
            _credited(prompts, sampled, batch.advantages.values_BN),
            {"step": step, **batch_metrics(batch, names_BN), **_times(batch, sampled_s, sampled)},
            rollout_records(batch, names_BN, step) if config.is_recorded(step) else (),
        )

    def _problems(self, step: int) -> list[Problem]:
        first = (step - 1) * self.resolved.config.prompts_per_step
        return self.problems[first : first + self.resolved.config.prompts_per_step]

    def _sampled(
        self, step: int, problems: list[Problem], prompts: list[list[int]], source: ServerSampler
    ) -> tuple[list[Any], list[SampledGroup]]:
        """Return the samples of each problem; a judge is asked while the others are drawn."""
        seeds = np.random.SeedSequence([self.seed, step]).generate_state(len(problems)) >> 1
        n, sampled, groups = self.resolved.config.samples_per_prompt, [], []
        drawn = source.sample(prompts, n, list(map(int, seeds)))
        for problem, one in zip(problems, drawn, strict=True):
            group = self._group(problem, one)
            self.scorer.ask_ahead(group)
            sampled.append(one)
            groups.append(group)
        return sampled, groups

    def _group(self, problem: Problem, one: Any) -> SampledGroup:
        texts = self.tokenizer.batch_decode(one.tokens_N, skip_special_tokens=True)
        prompt = self.resolved.form.prompt(problem.prompt, self.is_chat)
        return SampledGroup(problem, prompt, texts, one.tokens_N, one.cut_N)


def _credited(
    prompts: Sequence[Sequence[int]], sampled: Sequence[Any], advantages_BN: np.ndarray
) -> list[CreditedSample]:
    """Return the samples with their advantages, in the order of prompts."""
    from setrl.train.tinker.journal import CreditedSample

    return [
        CreditedSample(list(prompt), tokens, logprobs, float(advantage))
        for prompt, one, advantages_N in zip(prompts, sampled, advantages_BN, strict=True)
        for tokens, logprobs, advantage in zip(
            one.tokens_N, one.logprobs_N, advantages_N, strict=True
        )
    ]


def _times(batch: Any, sampled_s: float, sampled: Sequence[Any]) -> dict[str, float]:
    lengths = [len(tokens) for one in sampled for tokens in one.tokens_N]
    cut = [value for one in sampled for value in one.cut_N]
    return {
        "length/mean": float(np.mean(lengths)),
        "length/truncated": float(np.mean(cut)),
        "speed/tokens_per_second": sum(lengths) / sampled_s,
        "time/generation": sampled_s,
        **{f"time/{part}": spent for part, spent in batch.seconds.items()},
    }
