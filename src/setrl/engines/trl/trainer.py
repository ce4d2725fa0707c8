"""Set credit in TRL: its GRPO trainer, and others, with the advantages of any method.

Written for TRL 1.16.0, which has no hook for advantages. Three of its methods are extended, each
around a call of the original: `_calculate_rewards`, whose result TRL has gathered over all
processes, `_generate_and_score_completions`, whose result holds the advantages, and
`_generate_single_turn`, where a sampler can be plugged in. The rest is TRL's own, and so is all of
evaluation. Clusters are no rewards: TRL never sees them.

`set_credit` gives the same to every other trainer that has these methods: to subclasses of
`GRPOTrainer`, such as GMPO's, and to `RLOOTrainer`.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import inspect
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import torch
import trl
from torch import Tensor
from trl import GRPOConfig, GRPOTrainer, RLOOTrainer
from trl.trainer.utils import (
    get_callable_name,
    is_async_callable,
    shutdown_event_loop_in_daemon,
    start_event_loop_in_daemon,
)

from setrl import AnyMethod
from setrl.core.schedules import Scheduled
from setrl.engines import functions
from setrl.engines.batch import ScoredBatch
from setrl.engines.fields import PAIRS, Source, as_array, check_sources, column, read_matrix
from setrl.engines.judging import (
    JudgeQueue,
    JudgingTimes,
    clusters_array,
    labels_of,
    unknown_share,
)
from setrl.engines.labels import Label, numbered, shown
from setrl.engines.metrics import batch_metrics, dead_groups
from setrl.engines.texts import prompt_text, sample_text
from setrl.engines.trl import checks, importance
from setrl.engines.trl.gathering import gather_rows
from setrl.engines.trl.policy import MeanLogprob
from setrl.engines.trl.sampling import Sampler, Sampling
from setrl.groups.importers.trl import LABEL_COLUMN
from setrl.judges import Group, Judge, Judgement
from setrl.rewards import Combine, Truncation

__all__ = ["MeanLogprob", "SetCredit", "SetGRPOTrainer", "set_credit"]

WRITTEN_FOR_TRL = "1.16.0"

RewardFunction = Callable[..., Sequence[float | None]]
ClusterFunction = Callable[..., Sequence[int | str | None]]


class SetCredit(Sampling):
    """A trainer of TRL in which a method decides the advantage of each sample.

    It comes before the trainer's class: `class Mine(SetCredit, GRPOTrainer)`, which is what
    `set_credit(GRPOTrainer)` returns. In addition to the arguments of the trainer:

    Args:
        method: A value of `setrl.methods`, a sum of them, or a `schedules.Scheduled`.
        cluster_func: A function in the interface of TRL's reward functions that returns the
            strategy of each sample: its name, or an integer that is the same on all processes; −1
            for a degenerate sample, None for an unknown one, which is left out. It may be
            asynchronous: then it works while the reward functions do.
        judge: A value of `setrl.judges`, instead of `cluster_func`. One process asks it once about
            all samples of a prompt; of a sample with tool calls it reads all messages. With a
            sampler, and a judge that answers in the background, the step is sampled in
            `judge_parts` parts, and each part is judged while the next is sampled. A prompt that
            cannot be judged is left out of the step.
        judge_parts: The number of parts in which a step is sampled for that.
        fields: What the method reads beside rewards and clusters: {"answers": function, "proxy":
            "column", …}. A function has the interface of TRL's reward functions and returns a value
            for each sample: `answers` texts or numbers, None where a sample has none, which then
            votes for nobody; `proxy` and `second` numbers, `families` names or integers, None where
            one is unknown, and the sample is left out. That of `pairs` is called once for each
            prompt, with all its samples, and returns N × N numbers. A column is one of the data
            set, or a further field of a rollout function. `proxy` may also be `MeanLogprob()` of
            `setrl.engines.trl.policy`: the sample's mean log-probability.
        schedule: The method that takes over when a share of the steps, from 0 to 1, is done; None
            keeps `method` throughout.
        sampler: Generates the samples instead of `model.generate`; see `sampler.sample_ids`.
        on_batch: Called with each `ScoredBatch` in training, on every process.
        combine: How the rewards of several functions become one (`setrl.rewards.Combine`); by
            default their sum with `reward_weights`, in which unknown rewards are left out.
        truncated: What samples that were cut at the length limit count
            (`setrl.rewards.Truncation`); by default they are masked, out of the sets as out of the
            loss, if `mask_truncated_completions` is set, and else count as other samples do.
        mask_dead_groups: Whether groups in which all advantages are 0 leave the loss: its KL and
            entropy terms, and the number of tokens by which DAPO's loss divides. In the place of a
            filter on the variance of rewards, which would drop groups of equal rewards whose
            strategies carry a signal. No other groups are drawn for them.

    The method scales advantages: `scale_rewards` of the arguments has no effect on training. A step
    in which no sample gets a reward warns and trains on nothing. The metrics of docs/metrics.md are
    logged together with TRL's, and TRL's table of completions has a column for the strategies.

    Raises:
        ValueError: If `num_generations` is too small for K, or the method reads clusters without a
            `cluster_func`, or fields that were not given.
        RunError: While training, if a reward or cluster function or one of a field raises, or does
            not return one fitting value for each sample; it names the function.
    """

    def __init__(
        self,
        model: Any,
        reward_funcs: RewardFunction | list[RewardFunction] | None = None,
        args: GRPOConfig | None = None,
        *more: Any,
        method: AnyMethod | Scheduled,
        cluster_func: ClusterFunction | None = None,
        judge: Judge | None = None,
        judge_parts: int = 4,
        fields: Mapping[str, Source | MeanLogprob] | None = None,
        schedule: Callable[[float], AnyMethod] | None = None,
        sampler: Sampler | None = None,
        on_batch: Callable[[ScoredBatch], None] | None = None,
        combine: Combine | None = None,
        truncated: Truncation | None = None,
        mask_dead_groups: bool = False,
        **others: Any,
    ):
        _warn_of_other_trl()
        rewards = _listed(reward_funcs)
        first = inspect.signature(super().__init__).bind_partial(model, rewards, args, *more)
        has_rewards = bool(rewards or {**first.arguments, **others}.get("environment_factory"))
        has_labels = cluster_func is not None or judge is not None
        if cluster_func is not None and judge is not None:
            raise ValueError("pass cluster_func or judge, not both: each gives samples clusters")
        if isinstance(method, Scheduled):
            schedule, method = method, method(0.0)
        fields = dict(fields or {})
        self._take_fields(fields)
        check = functools.partial(checks.check_arguments, method, has_rewards, has_labels, fields)
        if args is not None:  # otherwise they are checked once the trainer has made its own
            check(args, has_sampler=sampler is not None)
        self.method = method
        self.schedule = schedule
        self.sampler = sampler
        self.on_batch = on_batch
        self.cluster_func = None if cluster_func is None else functions.checked_labels(cluster_func)
        self.judge_queue = JudgeQueue(judge) if judge is not None else None
        self.judge_parts = judge_parts
        self.combine = combine
        self.mask_dead_groups = mask_dead_groups
        self._forget_step()
        rewards = [functions.checked_rewards(function) for function in rewards]
        super().__init__(model, rewards, args, *more, **others)
        made: Any = self.args
        if args is None:
            check(made, has_sampler=sampler is not None)
        self._take_arguments(made, truncated)
        if any(callable(one) and is_async_callable(one) for one in self._own_functions):
            self._start_event_loop()

    def _take_fields(self, fields: Mapping[str, Source | MeanLogprob]) -> None:
        """Keep where fields come from: functions and columns, or the policy itself."""
        self.policy_fields = {n: one for n, one in fields.items() if isinstance(one, MeanLogprob)}
        if self.policy_fields.keys() - {"proxy"}:
            raise ValueError("only `proxy` can be a mean log-probability")
        own = {n: one for n, one in fields.items() if not isinstance(one, MeanLogprob)}
        check_sources(own)
        self.fields = {
            name: one if isinstance(one, str) else functions.checked_field(one, name)
            for name, one in own.items()
        }

    def _forget_step(self) -> None:
        """There is no step yet: what one finds out and the next replaces."""
        self._fields: dict[str, np.ndarray] = {}  # of the samples of all processes
        self._columns: Tensor | None = None  # what the reward functions gave, of all processes
        self._truncated: list[bool] | None = None  # which samples were cut, likewise
        self._labels: list[Label] | None = None  # what the cluster function gave, likewise
        self._seconds: dict[str, float] = {}

    def _take_arguments(self, made: Any, truncated: Truncation | None) -> None:
        """Set what depends on TRL's arguments, which the trainer may have made itself."""
        self.truncated = checks.truncation(truncated, made)
        self.mask_truncated_completions = self.truncated.policy == "mask"
        if self.combine is not None:
            checks.check_combine(self.combine, made, self.reward_func_names)
            weights = self.combine.weights
            self.reward_weights = torch.tensor(weights, dtype=torch.float32)  # TRL's log
        self._shown_labels: deque[str | None] = deque(maxlen=made.generation_batch_size)

    @property
    def _own_functions(self) -> list[Any]:
        """What is called beside the reward functions, or None, or the name of a column."""
        return [self.cluster_func, *self.fields.values()]

    def _start_event_loop(self) -> None:
        """Start the loop of asynchronous functions, unless TRL has started it."""
        if self._has_async_funcs:
            return
        thread, loop, ready = start_event_loop_in_daemon(name="SetCredit-AsyncLoop")
        ready.wait()
        atexit.register(shutdown_event_loop_in_daemon, thread, loop)
        self.async_loop = loop

    def _generate(self, prompts: list) -> Any:
        with self._timed("generation"):
            return super()._generate(prompts)

    def _calculate_rewards(
        self, inputs: list[dict[str, Any]], prompts: list, completions: list, ids: list
    ) -> Tensor:
        with self._timed("verification"):
            arguments = self._arguments(inputs, prompts, completions, ids)
            cluster_func = self.cluster_func
            labels = None if cluster_func is None else self._started(cluster_func, arguments)
            asked = self._ask_fields(inputs, arguments) if self._is_training else {}
            columns = super()._calculate_rewards(inputs, prompts, completions, ids)
            self._columns = columns.clone()
            self._labels = gather_rows(labels()) if labels is not None else None
            if self.truncated.changes_rewards:
                ends = {*self.eos_token_ids, self._tokenizer.pad_token_id}
                self._truncated = gather_rows([one[-1] not in ends for one in ids])
            self._fields = {name: values() for name, values in asked.items()}
        return columns

    def _arguments(
        self, inputs: list[dict[str, Any]], prompts: list, completions: list, ids: list
    ) -> dict[str, Any]:
        """What TRL passes to reward functions."""
        own = ("prompt", "completion", "completion_ids")
        fields: dict[str, Any] = {
            key: [one[key] for one in inputs] for key in inputs[0] if key not in own
        }
        fields |= {"prompts": prompts, "completions": completions, "completion_ids": ids}
        fields |= {"trainer_state": self.state, "log_metric": self._log_metric}
        fields |= {"log_extra": self._log_completion_extra}
        if getattr(self, "environments", None) is not None:  # RLOO has none
            fields["environments"] = self.environments
        return fields

    def _started(self, function: Any, arguments: dict[str, Any]) -> Callable[[], Any]:
        """What gives the values of a function; an asynchronous one works until then."""
        if not is_async_callable(function):
            return functools.partial(function, **arguments)
        call = function(**arguments)
        return asyncio.run_coroutine_threadsafe(call, self.async_loop).result

    def _ask_fields(
        self, inputs: list[dict[str, Any]], arguments: dict[str, Any]
    ) -> dict[str, Callable[[], np.ndarray]]:
        """What gives each field of the samples of all processes, once the rewards are known."""

        def gathered(name: str, values: Callable[[], Any]) -> np.ndarray:
            return as_array(name, gather_rows(values()), self._num_samples)

        asked: dict[str, Callable[[], np.ndarray]] = {}
        for name, source in self.fields.items():
            if name == PAIRS:
                asked[name] = functools.partial(self._pairs, source, arguments)
                continue
            if isinstance(source, str):
                own: Callable[[], Any] = functools.partial(column, inputs, source, name)
            else:
                own = self._started(source, arguments)
            asked[name] = functools.partial(gathered, name, own)
        return asked

    def _pairs(self, function: Any, arguments: dict[str, Any]) -> np.ndarray:
        """A matrix for each prompt, (B, N, N); each process asks about its share of the prompts.

        A group may span processes, so that the samples are gathered first.
        """
        n, own = self._num_samples, len(arguments["completions"])
        kept = [key for key, one in arguments.items() if isinstance(one, list)]
        kept = [key for key in kept if key != "environments"]  # they live in their process
        rows = [{key: arguments[key][i] for key in kept} for i in range(own)]
        rows = gather_rows(rows)
        groups = [rows[start : start + n] for start in range(0, len(rows), n)]
        place = f"the pairs function {get_callable_name(function)!r}"
        matrices = []
        for group in self._share(groups):
            samples = {key: [row[key] for row in group] for key in kept}
            with functions.named(place):
                found = self._started(function, samples | {"trainer_state": self.state})()
            matrices.append(read_matrix(found, n, place))
        if self.accelerator.num_processes > 1:
            matrices = gather_rows(matrices)
        return np.stack(matrices)

    def _share(self, groups: list[Any]) -> list[Any]:
        """The part of all groups, in their order, that is for this process."""
        share = math.ceil(len(groups) / self.accelerator.num_processes)
        first = share * self.accelerator.process_index
        return groups[first : first + share]

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        num_samples = len(inputs) * self.accelerator.num_processes
        labels_BN = [] if self._labels is None else [self._labels]
        if self._is_training:
            for name, source in self.policy_fields.items():
                found = gather_rows(source.values(self, output).tolist())
                self._fields[name] = as_array(name, found, self._num_samples)
            batch = self._score(num_samples)
            values = torch.as_tensor(batch.advantages.values_BN).flatten()
            start = len(inputs) * self.accelerator.process_index
            rows = slice(start, start + len(inputs))
            output["advantages"] = values[rows].to(output["advantages"])
            if self.mask_dead_groups:
                dead = torch.as_tensor(dead_groups(batch)).repeat_interleave(self._num_samples)
                importance.leave_out(output, dead[rows], self.accelerator)
            self._relog(values.tolist())
            self._log_batch(batch)
            for key, value in importance.ratio_metrics(output, self.accelerator).items():
                self._metrics["train"][key].append(value)
            if self.on_batch is not None:
                self.on_batch(batch)
            labels_BN = batch.labels_BN or []
        if self.cluster_func is not None or self.judge_queue is not None:
            unknown: list[Label] = [None] * num_samples  # a judge is asked in training alone
            self._log_labels([*chain.from_iterable(labels_BN)] or unknown)
        return output

    def _score(self, num_samples: int) -> ScoredBatch:
        """Credit the samples of all processes; each process does it, as a group may span two."""
        rewards_BN, outcomes_BN = self._rewards()
        prompts_B, texts_BN = self._texts(num_samples)
        clusters_BN, labels_BN, times = self._clusters(prompts_B, texts_BN)
        rng = np.random.default_rng(self._place())
        if self.schedule is not None:
            self.method = self.schedule(self.state.global_step / max(self.state.max_steps, 1))
        with self._timed("credit"):
            advantages = self.method.advantages(
                rewards_BN, rng=rng, clusters=clusters_BN, abstain=True, **self._fields
            )
        return ScoredBatch(
            prompts_B,
            texts_BN,
            rewards_BN,
            clusters_BN,
            advantages,
            dict(self._seconds),
            times,
            labels_BN,
            outcomes_BN,
            self._fields,
        )

    def _texts(self, num_samples: int) -> tuple[list[str], list[list[str]]]:
        """The last prompts and their samples, of all processes, from TRL's own log."""
        n = self._num_samples
        prompts = [prompt_text(prompt) for prompt in list(self._logs["prompt"])[-num_samples::n]]
        texts = [sample_text(text) for text in list(self._logs["completion"])[-num_samples:]]
        return prompts, [texts[start : start + n] for start in range(0, num_samples, n)]

    def _rewards(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The reward of each sample, NaN where it has none, and the outcome if it is not that."""
        assert self._columns is not None
        columns = self._columns.double().cpu().numpy()
        columns_BNR = columns.reshape(-1, self._num_samples, columns.shape[1])
        weights = tuple(self.reward_weights.double().tolist())
        rewards_BN = (self.combine or Combine(weights, missing="skip"))(columns_BNR)
        if self._truncated is not None:
            rewards_BN = self.truncated(rewards_BN, np.reshape(self._truncated, rewards_BN.shape))
        if np.isnan(rewards_BN).all():
            masked = ", or all are truncated" if self.truncated.policy == "mask" else ""
            warnings.warn(
                f"no sample of step {self.state.global_step + 1} got a reward from "
                f"{', '.join(self.reward_func_names)}{masked}: the step trains on nothing",
                stacklevel=2,
            )
        return rewards_BN, columns_BNR[..., self.combine.outcome] if self.combine else None

    def _clusters(
        self, prompts_B: list[str], texts_BN: list[list[str]]
    ) -> tuple[np.ndarray | None, list[list[Label]] | None, JudgingTimes | None]:
        """Clusters as numbers and as labels, from the function or the judge."""
        if self.judge_queue is not None:
            with self._timed("judging"):
                judgements, times = self._judged(prompts_B, texts_BN)
            labels_BN = [labels_of(one, self._num_samples) for one in judgements]
            return clusters_array(judgements, self._num_samples), labels_BN, times
        if self._labels is None:
            return None, None, None
        n = self._num_samples
        labels_BN = [self._labels[start : start + n] for start in range(0, len(self._labels), n)]
        return numbered(self._labels).reshape(-1, n), labels_BN, None

    def _judged(
        self, prompts_B: list[str], texts_BN: list[list[str]]
    ) -> tuple[list[Judgement], JudgingTimes]:
        """What the judge says; each process asks about its share of the groups."""
        assert self.judge_queue is not None
        groups = [Group(p, tuple(t)) for p, t in zip(prompts_B, texts_BN, strict=True)]
        judgements, times = self.judge_queue.collect(self._share(groups))
        if self.accelerator.num_processes == 1:
            return judgements, times
        parts = gather_rows([(judgements, times.used)])
        judgements = [one for part, _ in parts for one in part]
        used = {name: sum(of[name] for _, of in parts) for name in times.used}
        return judgements, replace(times, unknown=unknown_share(judgements), used=used)

    def _relog(self, values: list[float]) -> None:
        """Put the advantages that enter the loss in the place of those that TRL logged."""
        logged: deque[float] = self._logs["advantages"]  # type: ignore[assignment]
        for _ in values:
            logged.pop()
        logged.extend(values)

    def _log_batch(self, batch: ScoredBatch) -> None:
        """Log our metrics with TRL's."""
        logged = self._metrics["train"]
        for key, value in batch_metrics(batch).items():
            logged[key].append(value)
        for part, spent in batch.seconds.items():
            logged[f"time/{part}"].append(spent)

    def _log_labels(self, labels: list[Label]) -> None:
        """Add the strategies to TRL's table of completions, in a column of their own."""
        self._shown_labels.extend(map(shown, labels))
        columns: dict[str, Any] = self._logs["extra"]  # type: ignore[assignment]
        columns.setdefault(LABEL_COLUMN, self._shown_labels)

    def _log_completion_extra(self, column: str, values: list) -> None:
        columns: dict[str, Any] = self._logs["extra"]  # type: ignore[assignment]
        if column == LABEL_COLUMN and columns.get(column) is self._shown_labels:
            del columns[column]  # a function of the user logs its own column of this name
        super()._log_completion_extra(column, values)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[part] = time.perf_counter() - start


class SetGRPOTrainer(SetCredit, GRPOTrainer):
    """TRL's GRPO with set credit: the arguments of `GRPOTrainer`, and those of `SetCredit`."""


CREDITED = (GRPOTrainer, RLOOTrainer)  # their methods are those that `SetCredit` extends


@functools.cache
def set_credit(trainer_class: type) -> type:
    """A trainer of TRL with set credit, for `GRPOTrainer`, `RLOOTrainer` and their subclasses.

    >>> from trl.experimental.gmpo import GMPOTrainer
    >>> set_credit(GMPOTrainer)
    <class 'setrl.engines.trl.trainer.SetGMPOTrainer'>

    Args:
        trainer_class: The class. What it does after the advantages, such as its loss, stays as it
            is; advantages that it computes are replaced.

    Returns:
        A subclass of it that takes the arguments of `SetCredit` too; the same one at each call.

    Raises:
        TypeError: If it is no such class.
    """
    if not (isinstance(trainer_class, type) and issubclass(trainer_class, CREDITED)):
        raise TypeError(
            "set_credit takes TRL's GRPOTrainer, RLOOTrainer or a subclass of them, got "
            f"{trainer_class!r}"
        )
    if issubclass(trainer_class, SetCredit):
        return trainer_class
    text = f"`{trainer_class.__name__}` with set credit: its arguments, and those of `SetCredit`."
    name = f"Set{trainer_class.__name__}"
    return type(name, (SetCredit, trainer_class), {"__doc__": text, "__module__": __name__})


def _warn_of_other_trl() -> None:
    if trl.__version__ != WRITTEN_FOR_TRL:
        warnings.warn(
            f"set credit was written for TRL {WRITTEN_FOR_TRL} and this is {trl.__version__}: "
            "run tests/engines/test_trainer.py before you trust it",
            stacklevel=3,
        )


def _listed(functions: Any) -> list[Any]:
    if functions is None:
        return []
    return list(functions) if isinstance(functions, list) else [functions]
