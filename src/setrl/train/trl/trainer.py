"""Set credit in TRL: its GRPO trainer, and others, with the advantages of any method.

TRL has no hook for advantages. Three of its methods are extended, each around a call of the
original: `_calculate_rewards`, whose result TRL has gathered over all processes,
`_generate_and_score_completions`, whose result holds the advantages, and `_generate_single_turn`,
where a sampler can be plugged in. `seam.py` checks that a trainer has them as they must be. The
rest is TRL's own. TRL never sees strategies: they are not rewards.

`set_credit` does the same for every other trainer that has these methods: subclasses of
`GRPOTrainer`, such as GMPO's, `RLOOTrainer`, and the classes that libraries put in their place.
"""

from __future__ import annotations

import atexit
import functools
import math
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer
from trl.trainer.utils import shutdown_event_loop_in_daemon, start_event_loop_in_daemon
from typing_extensions import override

from setrl import AnyMethod
from setrl.core import methods
from setrl.core.schedules import Scheduled
from setrl.judges import Judge
from setrl.judges.base import fields_given
from setrl.logs.importers.trl import CREDITED_COLUMN, LABEL_COLUMN
from setrl.rewards import Combine, Truncation
from setrl.samples.samples import Samples
from setrl.samples.values import Label
from setrl.support.errors import RunError
from setrl.train.gathering import functions
from setrl.train.gathering.checks import Correct, check_correct, outcome_of
from setrl.train.gathering.functions import Source
from setrl.train.gathering.gather import Sources, timed
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.gathering.metrics import (
    DEAD_GROUPS,
    batch_metrics,
    dead_groups,
    evaluation_metrics,
    had_signal,
    mean_of,
)
from setrl.train.scoring import ScoredBatch, score
from setrl.train.scoring.batch import STRATEGIES, Missing
from setrl.train.scoring.stop_rule import DEFAULT, CreditWatch, StopRule
from setrl.train.trl import checks, policy, seam
from setrl.train.trl.columns import Gathering, Generation, StrategyFunction
from setrl.train.trl.policy import MeanLogprob
from setrl.train.trl.sampling import Sampler, Sampling

__all__ = ["MeanLogprob", "SetCredit", "SetGRPOTrainer", "set_credit"]

RewardFunction = Callable[..., Sequence[float | None]]


class SetCredit(Gathering):
    """A trainer of TRL in which a method decides the advantage of each sample.

    Put it before the class of the trainer: `class Mine(SetCredit, GRPOTrainer)`, which is what
    `set_credit(GRPOTrainer)` returns. In addition to the arguments of the trainer:

    Args:
        method: A value of `setrl.methods`, a sum of them, or a `schedules.Scheduled`.
        strategy_func: A function in the interface of TRL's reward functions that returns the
            strategy of each sample: its name, or an integer that is the same on all processes; −1
            for a degenerate sample, None for an unknown one, which is left out. It may be
            asynchronous: then it works while the reward functions do.
        judge: A value of `setrl.judges`, instead of `strategy_func`. One process asks it once about
            all samples of a prompt; it reads all messages of a sample with tool calls. With a
            sampler and a judge that answers in the background, the step is sampled in
            `judge_parts` parts, and each part is judged while the next is sampled. A prompt that
            cannot be judged is left out of the step.
        judge_parts: The number of parts in which a step is sampled for that.
        correct: What says which samples are right: one of the reward functions or its name, the
            name of a column, or another function in the same interface that returns True, False or
            None (unknown) for each sample. It may be left out with a single reward function, whose
            values must then be 0 and 1, and with `combine`, whose outcome says it. Methods that
            compare right with wrong samples and the metrics read it; without it, rewards of other
            values stop the first step of such a method, and other methods log no such metrics.
        fields: What the method reads besides rewards and strategies: {"answers": function, "proxy":
            "column", …}. A function has the interface of TRL's reward functions and returns a value
            for each sample. `answers` are texts or numbers; a sample with None has no answer and
            votes for nobody. `proxy` and `second` are numbers, `families` names or integers; a
            sample with None is left out. The function of `pairs` is called once for each prompt,
            with all its samples, and returns N × N numbers. A column belongs to the data set, or
            is a further field of a rollout function. `proxy` may also be `MeanLogprob()` of
            `setrl.trl`: the sample's mean log-probability.
        schedule: Share of the steps that are done, from 0 to 1 → the method; None keeps `method`.
        sampler: Generates the samples instead of `model.generate`; see `sampler.sample_ids`.
        on_batch: Called with each `ScoredBatch` in training, on every process.
        combine: How the rewards of several functions become one (`setrl.rewards.Combine`); by
            default their sum with `reward_weights`, in which unknown rewards are left out.
        truncated: What samples that were cut at the length limit count
            (`setrl.rewards.Truncation`); by default they are masked, out of the sets as out of the
            loss, if `mask_truncated_completions` is set; otherwise they count as other samples
            do.
        mask_dead_groups: Whether groups in which all advantages are 0 leave the loss: its KL and
            entropy terms, and the number of tokens by which DAPO's loss divides. Use it instead of
            a filter on the variance of rewards, which would drop groups of equal rewards whose
            strategies carry a signal. No other groups are drawn for them.
        stop_rule: When the training stops with an error because it learns nothing
            (`setrl.train.scoring.StopRule`): more than half of the last 32 prompts have no credit,
            or all advantages of the first 256 prompts are 0. None: never. A training that resumes
            reads in its checkpoint's log whether it had a signal before.

    The method scales advantages: `scale_rewards` of the arguments has no effect on training. A step
    in which no sample gets a reward warns and trains on nothing. The metrics of docs/metrics.md are
    logged together with TRL's, and TRL's table of completions has a column for the strategies.
    Samples of the evaluation data enter no loss: their advantage in this table is NaN, and
    `eval_reward/pass@k` and `eval_strategies/…` are logged about them.

    Raises:
        ValueError: If `num_generations` is too small for K, the method reads strategies or fields
            that were not given, or it must know which samples are right, and several reward
            functions were given without `correct`.
        ConfigError: If the trainer does not make rewards and advantages where TRL's trainers do.
        RunError: While training, if a function of rewards, strategies or a field raises, or does
            not return one fitting value for each sample, or if it must be known which samples are
            right and a reward is neither 0 nor 1; it names the function. Or if `stop_rule` ends the
            training; checkpoints stay, and `resume_from_checkpoint` goes on from them.
    """

    def __init__(
        self,
        model: Any,
        reward_funcs: RewardFunction | list[RewardFunction] | None = None,
        args: GRPOConfig | None = None,
        *more: Any,
        method: AnyMethod | Scheduled,
        strategy_func: StrategyFunction | None = None,
        judge: Judge | None = None,
        judge_parts: int = 4,
        correct: Correct | None = None,
        fields: Mapping[str, Source | MeanLogprob] | None = None,
        schedule: Callable[[float], AnyMethod] | None = None,
        sampler: Sampler | None = None,
        on_batch: Callable[[ScoredBatch], None] | None = None,
        combine: Combine | None = None,
        truncated: Truncation | None = None,
        mask_dead_groups: bool = False,
        stop_rule: StopRule | None = DEFAULT,
        **others: Any,
    ):
        rewards = _as_list(reward_funcs)
        has_labels = strategy_func is not None or judge is not None
        if strategy_func is not None and judge is not None:
            raise ValueError("pass strategy_func or judge, not both: each gives samples strategies")
        self.judge_queue = JudgeQueue(judge) if judge is not None else None
        if isinstance(method, Scheduled):
            schedule, method = method, method(0.0)
        fields = dict(fields or {})
        self.policy_fields = {
            n: source for n, source in fields.items() if isinstance(source, MeanLogprob)
        }
        if self.policy_fields.keys() - {"proxy"}:
            raise ValueError("only `proxy` can be a mean log-probability")
        sources = {n: source for n, source in fields.items() if not isinstance(source, MeanLogprob)}
        self.sources = Sources.of([], strategy_func, None, sources)
        field_names = [*fields, *([STRATEGIES] if has_labels else [])]
        field_names += [
            name for name in fields_given(judge) - {*field_names} if name in method.reads
        ]
        check = functools.partial(checks.check_arguments, method, field_names)
        if args is not None:  # otherwise they are checked once the trainer has made its own
            check(args, has_sampler=sampler is not None)
        self.method = method
        self.schedule = schedule
        self.sampler = sampler
        self.on_batch = on_batch
        self.judge_parts = judge_parts
        self.combine = combine
        self.mask_dead_groups = mask_dead_groups
        self.credit_watch = CreditWatch(stop_rule, self._had_signal)
        self._began_at: int | None = None
        self._has_entered = False  # whether advantages of a method have been put into a loss
        self._generation = Generation()
        self._has_own_label_column = False
        own_rewards, rewards = rewards, [_name_in_errors(reward) for reward in rewards]
        if args is not None:  # the first weights of adapters are random; TRL does it since 1.15
            set_seed(args.seed)
        super().__init__(model, rewards, args, *more, **others)
        arguments: Any = self.args
        outcome = outcome_of(correct, own_rewards, self.reward_func_names)
        check_correct(method, outcome, combine, self.reward_func_names)
        self.sources = replace(self.sources, correct=outcome, names_R=self.reward_func_names)
        if args is None:
            check(arguments, has_sampler=sampler is not None)
        self._take_arguments(arguments, truncated)
        if self.sources.has_async:
            self._start_event_loop()
        mro = type(self).__mro__
        trainer_classes = mro[mro.index(Sampling) + 1 :]
        seam.check_seam(self, trainer_classes, super()._generate_and_score_completions)

    def _take_arguments(self, arguments: Any, truncated: Truncation | None) -> None:
        """Set what depends on TRL's arguments, which the trainer may have made itself."""
        self._normalize = checks.normalization(self.combine, arguments)
        self.truncated = checks.truncation(truncated, arguments)
        self.mask_truncated_completions = self.truncated.policy == "mask"
        if self.combine is not None:
            checks.check_combine(self.combine, self.reward_func_names, arguments)
            weights = self.combine.weights
            self.reward_weights = torch.tensor(weights, dtype=torch.float32)  # TRL's log

    def _start_event_loop(self) -> None:
        """Start the loop of asynchronous functions, unless TRL has started it."""
        if self._has_async_funcs:
            return
        thread, loop, ready = start_event_loop_in_daemon(name="SetCredit-AsyncLoop")
        ready.wait()
        atexit.register(shutdown_event_loop_in_daemon, thread, loop)
        self.async_loop = loop

    @override
    def _generate_and_score_completions(
        self, inputs: list[dict[str, Any]], *more: Any, **named: Any
    ) -> dict[str, Any]:
        self._generation = Generation()
        if self._began_at is None:
            self._began_at = self.state.global_step
        self._make_room_in_logs()
        output = super()._generate_and_score_completions(inputs, *more, **named)
        credited: list[float] = []
        if self._is_training:
            batch = self._credit_generation(output)
            self._put_into_loss(batch, output, len(inputs))
            self._log_batch(batch, policy.ratio_metrics(output, self.accelerator))
            samples = batch.samples
            if self.on_batch is not None:
                self.on_batch(batch)
            self.credit_watch.see(batch, self._is_last_generation)
            credited = samples.rewards.ravel().tolist()
        else:
            self._log_evaluation()
            samples = self._gathered_samples()  # a judge is asked only in training
        labels = [*chain.from_iterable(samples.labels("strategies") or ())]
        self._log_own_columns(labels, credited, len(inputs) * self.accelerator.num_processes)
        return output

    @override
    def compute_loss(self, *given: Any, **named: Any) -> Any:
        if self._is_training and not self._has_entered:
            raise RunError(
                f"{type(self).__name__} computes a loss from samples that set credit has not "
                "scored, such as samples that another thread drew: their advantages would be the "
                "trainer's own; switch off asynchronous sampling of the trainer"
            )
        return super().compute_loss(*given, **named)

    def _log_evaluation(self) -> None:
        """Log the metrics of a batch of the evaluation data, and that it has no advantages.

        A judge is asked only in training.
        """
        samples = self._gathered_samples()
        self._replace_logged_advantages([float("nan")] * samples.rewards.size)
        if self._num_samples > 1:  # one sample of a prompt is in no set
            batch = self._score_by_trainers_rules(samples, methods.dr_grpo())
            self._replace_logged_rewards("eval", batch.samples.rewards)
            for key, values in evaluation_metrics(batch).items():
                self._metrics["eval"][key].extend(values)

    def _had_signal(self) -> bool:
        """Return whether the training had a signal before the checkpoint from which it resumed.

        If nothing was logged before the checkpoint, it is taken for a training that had one.
        """
        before = [line for line in self.state.log_history if line["step"] <= (self._began_at or 0)]
        logged = [line for line in before if DEAD_GROUPS in line]
        return bool(self._began_at) and (not logged or had_signal(logged))

    @property
    def _is_last_generation(self) -> bool:
        """Whether the training ends with the samples of this generation."""
        args: Any = self.args
        uses = args.steps_per_generation * self.num_iterations
        updates = max(1, uses // args.gradient_accumulation_steps)
        return self.state.global_step + updates >= self.state.max_steps

    def _credit_generation(self, output: dict[str, Any]) -> ScoredBatch:
        """Credit the samples of all processes; each process does it, as a group may span two."""
        samples, unjudged_B, judging = self._training_samples(output)
        if self.schedule is not None:
            self.method = self.schedule(self.state.global_step / max(self.state.max_steps, 1))
        with timed(self._generation.seconds, "credit"):
            batch = self._score_by_trainers_rules(samples, self.method, unjudged_B)
        if np.isnan(batch.samples.rewards).all():
            self._warn_of_no_reward()
        return replace(batch, seconds=self._generation.seconds, judging=judging)

    def _score_by_trainers_rules(
        self, samples: Samples, method: AnyMethod, unjudged_B: Sequence[Missing | None] = ()
    ) -> ScoredBatch:
        weights = tuple(self.reward_weights.double().tolist())
        return score(
            samples,
            method,
            combine=self.combine or Combine(weights, normalize=self._normalize, missing="skip"),
            truncated=self.truncated,
            unjudged_B=unjudged_B,
            rng=np.random.default_rng(self._seed_entropy()),
        )

    def _warn_of_no_reward(self) -> None:
        masked = ", or all are truncated" if self.truncated.policy == "mask" else ""
        warnings.warn(
            f"no sample of step {self.state.global_step + 1} got a reward from "
            f"{', '.join(self.reward_func_names)}{masked}: the step trains on nothing",
            stacklevel=2,
        )

    def _put_into_loss(self, batch: ScoredBatch, output: dict[str, Any], num_samples: int) -> None:
        """Put the advantages of this process into the loss, and all of them into TRL's log."""
        advantages = torch.as_tensor(batch.advantages.values_BN).flatten()
        start = num_samples * self.accelerator.process_index
        rows = slice(start, start + num_samples)
        output["advantages"] = advantages[rows].to(output["advantages"])
        self._has_entered = True
        if self.mask_dead_groups:
            dead = torch.as_tensor(dead_groups(batch)).repeat_interleave(self._num_samples)
            policy.mask_samples(output, dead[rows], self.accelerator)
        self._replace_logged_advantages(advantages.tolist())

    def _replace_logged_advantages(self, advantages: list[float]) -> None:
        """Replace the advantages that TRL logged by the advantages that enter the loss."""
        logged: deque[float] = self._logs["advantages"]  # type: ignore[assignment]
        for _ in advantages:
            logged.pop()
        logged.extend(advantages)

    def _replace_logged_rewards(self, mode: str, rewards_BN: np.ndarray) -> None:
        """Replace TRL's statistics of its own sum of rewards by those of the credited reward.

        TRL sums what gates close, too, what a truncated sample had, and what was not normalised.
        """
        if not self._credits_another_reward:
            return
        args: Any = self.args
        spread_B = [std_of(rewards_N) for rewards_N in rewards_BN]
        overall = std_of(rewards_BN.ravel())
        if args.scale_rewards == "batch":
            spread_B = [overall]
        statistics = {
            "reward": mean_of(rewards_BN),
            "reward_std": overall,
            "frac_reward_zero_std": float(np.isclose(spread_B, 0).mean()),
        }
        for key, value in statistics.items():
            self._metrics[mode][key][-1] = value

    @property
    def _credits_another_reward(self) -> bool:
        """Whether the credited reward may differ from the sum that TRL logs."""
        return bool(self.combine or self._normalize) or self.truncated.policy != "count"

    def _log_batch(self, batch: ScoredBatch, ratios: Mapping[str, float]) -> None:
        """Log our metrics together with TRL's metrics."""
        self._replace_logged_rewards("train", batch.samples.rewards)
        seconds = {f"time/{part}": spent for part, spent in batch.seconds.items()}
        for key, value in {**batch_metrics(batch), **seconds, **ratios}.items():
            self._metrics["train"][key].append(value)

    def _log_own_columns(
        self, labels: Sequence[Label], credited: Sequence[float], num_samples: int
    ) -> None:
        """Add strategies and credited rewards to TRL's table, null where there are none."""
        unknown: list[Any] = [None] * num_samples
        if self.sources.strategies is not None or self.judge_queue is not None:
            self._log_labels(labels or unknown)
        if self._credits_another_reward:
            columns: dict[str, Any] = self._logs["extra"]  # type: ignore[assignment]
            columns[CREDITED_COLUMN].extend(credited or unknown)

    def _log_labels(self, labels: Sequence[Label]) -> None:
        """Add the strategies to TRL's table of completions, in a separate column."""
        columns: dict[str, Any] = self._logs["extra"]  # type: ignore[assignment]
        if not self._has_own_label_column:
            # Of one type: Parquet.
            texts = (None if label is None else str(label) for label in labels)
            columns[LABEL_COLUMN].extend(texts)

    def _log_completion_extra(self, column: str, values: list) -> None:
        columns: dict[str, Any] = self._logs["extra"]  # type: ignore[assignment]
        if column == LABEL_COLUMN and not self._has_own_label_column:
            columns.pop(column, None)  # a function of the user logs its own column of this name
            self._has_own_label_column = True
        super()._log_completion_extra(column, values)

    def _make_room_in_logs(self) -> None:
        """Let an evaluation add its samples to TRL's table, which drops all but as many as a step.

        Without it, they would take the place of the training's samples of the same step.
        """
        args: Any = self.args
        logs: dict[str, Any] = self._logs
        most = args.generation_batch_size if self._is_training else None
        if logs["prompt"].maxlen == most:
            return
        for name, log in logs.items():
            if isinstance(log, deque):
                logs[name] = deque(log, most)
            else:
                columns = {column: deque(values, most) for column, values in log.items()}
                logs[name] = defaultdict(lambda: deque(maxlen=most), columns)


class SetGRPOTrainer(SetCredit, GRPOTrainer):
    """TRL's GRPO with set credit; it takes the arguments of `GRPOTrainer` and of `SetCredit`."""


@functools.cache
def set_credit(trainer_class: type) -> type:
    """Make a trainer with set credit of TRL's `GRPOTrainer`, `RLOOTrainer` or a class like them.

    >>> from trl.experimental.gmpo import GMPOTrainer
    >>> set_credit(GMPOTrainer)
    <class 'setrl.train.trl.trainer.SetGMPOTrainer'>

    Libraries that patch TRL, such as Unsloth and axolotl, put their own class in its place, a copy
    or a subclass; it may be passed, too. It must score samples in the methods of TRL's classes.

    Args:
        trainer_class: The class. Its advantages are replaced; what it does after them, such as its
            loss, stays.

    Returns:
        A subclass of it that takes the arguments of `SetCredit` too; the same one at each call.

    Raises:
        TypeError: If it is another class.
    """
    is_class = isinstance(trainer_class, type)
    fault = seam.missing_method(trainer_class.__mro__) if is_class else "it is not a class"
    if fault is not None:
        raise TypeError(
            "set_credit takes TRL's GRPOTrainer, RLOOTrainer or a class with their methods, got "
            f"{trainer_class!r}: {fault}"
        )
    if issubclass(trainer_class, SetCredit):
        return trainer_class
    text = (
        f"`{trainer_class.__name__}` with set credit; it also takes the arguments of `SetCredit`."
    )
    name = f"Set{trainer_class.__name__}"
    return type(name, (SetCredit, trainer_class), {"__doc__": text, "__module__": __name__})


def _name_in_errors(reward: Any) -> Any:
    """Make a reward function name itself in errors; TRL calls reward models in its own way."""
    is_function = callable(reward) and not isinstance(reward, nn.Module)
    return functions.checked_rewards(reward) if is_function else reward


def _as_list(functions: Any) -> list[Any]:
    if functions is None:
        return []
    return list(functions) if isinstance(functions, list) else [functions]


def std_of(rewards: np.ndarray) -> float:
    """Return the standard deviation of the known rewards, over n − 1; NaN for fewer than two."""
    numbers = rewards[~np.isnan(rewards)]
    return float(numbers.std(ddof=1)) if numbers.size > 1 else math.nan
