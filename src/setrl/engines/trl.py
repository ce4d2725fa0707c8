"""`SetGRPOTrainer`: TRL's GRPO trainer with the advantages of any method of `setrl.methods`.

Written for TRL 1.16.0, which has no hook for advantages. Three of its methods are extended, each
around a call of the original: `_calculate_rewards`, whose result TRL has gathered over all
processes, `_generate_and_score_completions`, whose result holds the advantages, and
`_generate_single_turn`, where a sampler can be plugged in. The rest is TRL's own.
"""

from __future__ import annotations

import copy
import functools
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np
import torch
import trl
from accelerate.utils import gather_object
from torch import Tensor
from trl import GRPOConfig, GRPOTrainer

from setrl import Method
from setrl.engines import checks
from setrl.engines.batch import ScoredBatch
from setrl.engines.judging import JudgeQueue, JudgingTimes, clusters_array
from setrl.engines.metrics import batch_metrics
from setrl.errors import RunError
from setrl.judges import Group, Judge
from setrl.rewards.interface import plain_text

WRITTEN_FOR_TRL = "1.16.0"

RewardFunction = Callable[..., Sequence[float | None]]
ClusterFunction = Callable[..., Sequence[int | str | None]]
Sampler = Callable[..., list[list[list[int]]]]  # see setrl.models.sampler.sample_ids


class SetGRPOTrainer(GRPOTrainer):
    """GRPO in which a method decides the advantage of each sample.

    In addition to the arguments of TRL's trainer:

    Args:
        method: A value of `setrl.methods`.
        cluster_func: A function in the interface of TRL's reward functions that returns the
            strategy of each sample: its name, or a label in [0, 2²⁴) that is the same on all
            processes; −1 for a degenerate sample, None for an unknown one, which is left out.
            TRL calls and gathers it as a reward function of weight 0.
        judge: A value of `setrl.judges`, instead of `cluster_func`. One process asks it once about
            all samples of a prompt. With a sampler, and a judge that answers in the background,
            the step is sampled in `judge_parts` parts, and each part is judged while the next is
            sampled. A prompt that cannot be judged is left out of the step.
        judge_parts: The number of parts in which a step is sampled for that.
        schedule: The method that takes over when a share of the steps, from 0 to 1, is done; None
            keeps `method` throughout.
        sampler: Generates the samples instead of `model.generate`; see `sampler.sample_ids`.
        on_batch: Called with each `ScoredBatch` in training, on every process.

    The method scales advantages: `scale_rewards` of the arguments has no effect. The metrics of
    docs/metrics.md are logged together with TRL's.

    Raises:
        ValueError: If `num_generations` is too small for K, or the method reads clusters without a
            `cluster_func`, or fields that a trainer does not know.
        RunError: While training, if a reward function raises, does not return a number or None for
            each sample, or if no sample gets a reward; it names the function.
    """

    def __init__(
        self,
        model: Any,
        reward_funcs: RewardFunction | list[RewardFunction],
        args: GRPOConfig,
        *more: Any,
        method: Method,
        cluster_func: ClusterFunction | None = None,
        judge: Judge | None = None,
        judge_parts: int = 4,
        schedule: Callable[[float], Method] | None = None,
        sampler: Sampler | None = None,
        on_batch: Callable[[ScoredBatch], None] | None = None,
        **others: Any,
    ):
        _warn_of_other_trl()
        rewards = list(reward_funcs) if isinstance(reward_funcs, list) else [reward_funcs]
        has_labels = cluster_func is not None or judge is not None
        checks.check_arguments(method, args, rewards, has_labels)
        functions: list[Any] = [checks.checked_rewards(function) for function in rewards]
        if cluster_func is not None:
            functions.append(checks.checked_labels(cluster_func))
        if cluster_func is not None and judge is not None:
            raise ValueError("pass cluster_func or judge, not both: each gives samples clusters")
        self.method = method
        self.schedule = schedule
        self.sampler = sampler
        self.on_batch = on_batch
        self.has_clusters = cluster_func is not None
        self.judge_queue = JudgeQueue(judge) if judge is not None else None
        self.judge_parts = judge_parts
        self._prompts: list[Any] = []  # of the current generation, one a sample
        self._columns: Tensor | None = None  # rewards, then clusters, of all processes
        self._seconds: dict[str, float] = {}
        args = _with_weights(args, len(rewards), self.has_clusters)
        super().__init__(model, functions, args, *more, **others)

    def _generate(self, prompts: list) -> Any:
        self._prompts = prompts
        with self._timed("generation"):
            return super()._generate(prompts)

    def _generate_single_turn(
        self,
        prompt_ids: list[list[int]],
        images: Any,
        fields: Any,
        num_generations: int,
        *more: Any,
    ) -> Any:
        if self.sampler is None:
            return super()._generate_single_turn(prompt_ids, images, fields, num_generations, *more)
        return self._sample(prompt_ids, self.sampler), None

    def _sample(self, prompt_ids: list[list[int]], sampler: Sampler) -> list[list[int]]:
        """One sample a prompt; the model reads equal neighbours among the prompts once.

        The generator depends on the seed and the place alone, so that a resumed run samples the
        same texts.
        """
        runs = [(ids, len(list(run))) for ids, run in groupby(prompt_ids)]
        entropy = (*self._place(), self.accelerator.process_index)
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
            groups = self._sample_in_parts(sample, [ids for ids, _ in runs], runs[0][1])
        return [ids for group in groups for ids in group]

    @property
    def _num_samples(self) -> int:
        return int(self.num_generations)  # type: ignore[arg-type]

    @property
    def _is_training(self) -> bool:
        return self.model is not None and self.model.training

    def _sample_in_parts(
        self, sample: Callable[..., list[list[list[int]]]], prompt_ids: list[list[int]], count: int
    ) -> list[list[list[int]]]:
        """`count` samples of each prompt; each part is judged while the next one is sampled."""
        asks = self.judge_queue is not None and self.judge_queue.can_ask_ahead and self._is_training
        size = math.ceil(len(prompt_ids) / (self.judge_parts if asks else 1))
        groups: list[list[list[int]]] = []
        for start in range(0, len(prompt_ids), size):
            part = sample(self.model, prompt_ids[start : start + size], count)
            if asks and count == self.num_generations:
                self._ask_ahead(part, start * count)
            groups += part
        return groups

    def _ask_ahead(self, groups: list[list[list[int]]], first: int) -> None:
        """Ask the judge about groups of tokens, as the texts that TRL will make of them."""
        assert self.judge_queue is not None
        for number, ids in enumerate(groups):
            prompt = plain_text(self._prompts[first + number * len(ids)])
            texts = self.processing_class.batch_decode(  # type: ignore[union-attr]
                ids, skip_special_tokens=True
            )
            self.judge_queue.ask(Group(prompt, tuple(texts)))

    def _place(self) -> tuple[int, int, int]:
        """Seed, step, and micro-batch in the step: together they seed all random numbers."""
        micro_batch = self._step % self.args.gradient_accumulation_steps
        return self.args.seed, self.state.global_step, micro_batch

    def _calculate_rewards(self, *arguments: Any) -> Tensor:
        with self._timed("verification"):
            columns = super()._calculate_rewards(*arguments)
        self._columns = columns.clone()
        if self.has_clusters:
            # TRL, too, must see that a sample without any reward was left out.
            columns[columns[:, :-1].isnan().all(1), -1] = torch.nan
        return columns

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        if self._is_training:
            batch = self._score(len(inputs) * self.accelerator.num_processes)
            values = torch.as_tensor(batch.advantages.values_BN).flatten()
            start = len(inputs) * self.accelerator.process_index
            output["advantages"] = values[start : start + len(inputs)].to(output["advantages"])
            self._relog(values.tolist())
            self._log_batch(batch)
            if self.on_batch is not None:
                self.on_batch(batch)
        return output

    def _score(self, num_samples: int) -> ScoredBatch:
        """Credit the samples of all processes; each process does it, as a group may span two."""
        rewards_BN, clusters_BN = self._rewards_and_clusters()
        prompts_B, texts_BN = self._texts(num_samples)
        times = None
        if self.judge_queue is not None:
            with self._timed("judging"):
                clusters_BN, times = self._judged(prompts_B, texts_BN)
        rng = np.random.default_rng(self._place())
        if self.schedule is not None:
            self.method = self.schedule(self.state.global_step / max(self.state.max_steps, 1))
        with self._timed("credit"):
            advantages = self.method.advantages(rewards_BN, rng=rng, clusters=clusters_BN)
        seconds = dict(self._seconds)
        return ScoredBatch(prompts_B, texts_BN, rewards_BN, clusters_BN, advantages, seconds, times)

    def _texts(self, num_samples: int) -> tuple[list[str], list[list[str]]]:
        """The last prompts and their samples, of all processes, from TRL's own log."""
        n = self._num_samples
        prompts = [plain_text(prompt) for prompt in list(self._logs["prompt"])[-num_samples::n]]
        texts = [plain_text(text) for text in list(self._logs["completion"])[-num_samples:]]
        return prompts, [texts[start : start + n] for start in range(0, num_samples, n)]

    def _judged(
        self, prompts_B: list[str], texts_BN: list[list[str]]
    ) -> tuple[np.ndarray, JudgingTimes]:
        """Labels from the judge; each process asks about its share of the groups."""
        assert self.judge_queue is not None
        groups = [Group(p, tuple(t)) for p, t in zip(prompts_B, texts_BN, strict=True)]
        state = self.accelerator
        share = math.ceil(len(groups) / state.num_processes)
        first = share * state.process_index
        judgements, times = self.judge_queue.collect(groups[first : first + share])
        all_of_them = gather_object(judgements) if state.num_processes > 1 else judgements
        return clusters_array(all_of_them, self._num_samples), times

    def _rewards_and_clusters(self) -> tuple[np.ndarray, np.ndarray | None]:
        assert self._columns is not None
        columns = self._columns.double().cpu().numpy()
        rewards = columns[:, :-1] if self.has_clusters else columns
        names = self.reward_func_names[: rewards.shape[1]]
        if np.isnan(rewards).all():
            raise RunError(f"no sample got a reward from {', '.join(names)}: all are None or NaN")
        weights = self.reward_weights[: rewards.shape[1]].double().numpy()
        totals = np.nansum(rewards * weights, axis=1)
        totals[np.isnan(rewards).all(axis=1)] = np.nan
        shape = (-1, self._num_samples)
        if not self.has_clusters:
            return totals.reshape(shape), None
        checks.check_labels(columns[:, -1], self.reward_func_names[-1])
        return totals.reshape(shape), columns[:, -1].reshape(shape)

    def _relog(self, values: list[float]) -> None:
        """Put the advantages that enter the loss in the place of those that TRL logged."""
        logged: deque[float] = self._logs["advantages"]  # type: ignore[assignment]
        for _ in values:
            logged.pop()
        logged.extend(values)

    def _log_batch(self, batch: ScoredBatch) -> None:
        """Log our metrics with TRL's, without its means of cluster labels, which mean nothing."""
        logged = self._metrics["train"]
        for key, value in batch_metrics(batch).items():
            logged[key].append(value)
        for part, spent in batch.seconds.items():
            logged[f"time/{part}"].append(spent)
        if self.has_clusters:
            for statistic in ("mean", "std"):
                logged.pop(f"rewards/{self.reward_func_names[-1]}/{statistic}", None)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[part] = time.perf_counter() - start


def _warn_of_other_trl() -> None:
    if trl.__version__ != WRITTEN_FOR_TRL:
        warnings.warn(
            f"SetGRPOTrainer was written for TRL {WRITTEN_FOR_TRL} and this is {trl.__version__}: "
            "run tests/engines/test_trainer.py before you trust it",
            stacklevel=3,
        )


def _with_weights(args: GRPOConfig, num_rewards: int, has_clusters: bool) -> GRPOConfig:
    """The same arguments with weight 0 for the clusters, and without TRL's own scaling."""
    args = copy.copy(args)
    args.scale_rewards = "none"
    if has_clusters:
        args.reward_weights = [*(args.reward_weights or [1.0] * num_rewards), 0.0]
    return args
