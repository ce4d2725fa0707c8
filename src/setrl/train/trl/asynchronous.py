"""Set credit in TRL's asynchronous GRPO, which scores samples in another process.

Tested with TRL 1.10 to 1.16. TRL's rollout worker starts a process that samples from a vLLM server,
scores whole groups (`_score_group`) and sends their rows to the trainer with their advantages. The
class of what runs there is an attribute of the worker; here it is replaced by one that credits the
group with a method after TRL has scored it. The trainer is TRL's own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from trl.experimental.async_grpo.async_rollout_worker import (
    AsyncRolloutWorker,
    RolloutGroup,
    RolloutSample,
    TrainingSequence,
    _AsyncRolloutLoop,
)

from setrl import AnyMethod
from setrl.rewards import Combine, Truncation
from setrl.samples.values import was_cut
from setrl.support.errors import ConfigError
from setrl.train.gathering import functions
from setrl.train.gathering.checks import (
    Correct,
    Outcome,
    by_argument,
    check_correct,
    check_method,
    outcome_of,
)
from setrl.train.gathering.functions import Source, functions_of
from setrl.train.gathering.gather import Sources, arguments_of
from setrl.train.gathering.metrics import batch_metrics
from setrl.train.scoring import score
from setrl.train.scoring.batch import STRATEGIES
from setrl.train.scoring.stop_rule import DEFAULT, CreditWatch, StopRule
from setrl.train.trl import checks
from setrl.train.trl.columns import StrategyFunction, end_tokens

__all__ = ["credit_worker"]

# Stands before the rows of each conversation while TRL scores them, so that the reward is known
# even if a conversation has no row to train on.
MARK = TrainingSequence([], [], [], rollout_id="")


def credit_worker(
    worker: AsyncRolloutWorker,
    method: AnyMethod,
    strategy_func: StrategyFunction | None = None,
    *,
    fields: Mapping[str, Source] | None = None,
    correct: Correct | None = None,
    combine: Combine | None = None,
    truncated: Truncation | None = None,
    stop_rule: StopRule | None = DEFAULT,
) -> None:
    """Let a worker credit its groups with a method, before training starts.

    `credit_worker(trainer.rollout_worker, methods.poly_epo(4), strategy)`, on the first process of
    the trainer: the others have no worker. TRL drops single samples that are too old after the
    credit.

    Args:
        worker: The worker of an `AsyncGRPOTrainer`, which has not been started.
        method: A value of `setrl.methods`.
        strategy_func: As in `SetCredit`, but a function of a module, because it is sent to another
            process.
        fields: As in `SetCredit`, with functions of a module; a column is one of the data set.
        correct: As in `SetCredit`, but a function of a module.
        combine: As in `SetCredit`.
        truncated: As in `SetCredit`; a masked sample is not sent to the trainer.
        stop_rule: As in `SetCredit`; each group counts as a step. The worker does not see
            the log of a checkpoint: a run that resumes counts as a run that had a signal.

    Raises:
        ValueError: If `num_generations` is too small for K, or the method needs what it cannot get.
        ConfigError: If the worker runs another kind of loop or has started, or if the method or the
            function cannot be sent to another process.
    """
    if getattr(worker, "_loop_cls", None) is not _AsyncRolloutLoop or worker._process is not None:
        raise ConfigError(
            "credit_worker needs a worker of TRL's own kind, from TRL 1.10 or newer, that has not "
            "been started"
        )
    cut, sources = truncated or Truncation(), dict(fields or {})
    credit = CreditSettings(method, strategy_func, sources, correct, combine, cut, stop_rule)
    _check_credit(credit, worker._loop_kwargs)
    worker._loop_cls = SetRolloutLoop
    worker._loop_kwargs["credit"] = credit


@dataclass(frozen=True)
class CreditSettings:
    """How a worker credits its groups; the value is sent to the worker's process.

    Attributes:
        method: A value of `setrl.methods`.
        strategy_func: The strategy of each sample of a group.
        fields: The source of each further field.
        correct: What says which samples are right.
        combine: How the rewards become one; None for their sum.
        truncated: What samples count that were cut at the length limit.
        stop_rule: When the run stops because it learns nothing; None: never.
    """

    method: AnyMethod
    strategy_func: StrategyFunction | None
    fields: Mapping[str, Source]
    correct: Correct | None
    combine: Combine | None
    truncated: Truncation
    stop_rule: StopRule | None


def _check_credit(credit: CreditSettings, loop: Mapping[str, Any]) -> None:
    """Refuse here, not in the worker's process, what would fail there."""
    fields = set(functions_of(credit.fields)) | ({STRATEGIES} if credit.strategy_func else set())
    remedy = partial(by_argument, strategies="strategy_func=...")
    check_method(credit.method, loop.get("num_generations", 8), "num_generations", fields, remedy)
    if loop.get("environment_factory") is None:
        names_R = [functions.name_of(reward) for reward in loop["reward_funcs"]]
        _check_rewards(credit, outcome_of(credit.correct, loop["reward_funcs"], names_R), names_R)
    try:
        pickle.dumps(credit)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            "the method, strategy_func, correct and fields are sent to the worker's process: use "
            f"functions of a module, not lambdas or functions inside functions ({error})"
        ) from None


def _check_rewards(credit: CreditSettings, outcome: Outcome | None, names: Sequence[str]) -> None:
    """Refuse rewards that do not fit the method or the weights, or that TRL's metrics mix up."""
    check_correct(credit.method, outcome, credit.combine, names)
    if credit.combine is not None:
        checks.check_combine(credit.combine, names)
    if len(set(names)) < len(names):
        raise ValueError(f"rewards must have different names, got {', '.join(names)}")


class SetRolloutLoop(_AsyncRolloutLoop):
    """TRL's loop of the worker's process, with the advantages of a method.

    Args:
        credit: How groups are credited.
        **others: Arguments of TRL's loop.
    """

    def __init__(self, *, credit: CreditSettings, **others: Any):
        self.credit = credit
        resumes = others.get("dataset_start_index", 0) > 0
        self.credit_watch = CreditWatch(credit.stop_rule, lambda: resumes)
        super().__init__(**others)
        outcome = outcome_of(credit.correct, self.reward_funcs, self.reward_func_names)
        _check_rewards(credit, outcome, self.reward_func_names)
        sources = Sources.of([], credit.strategy_func, None, credit.fields)
        self.sources = dataclasses.replace(sources, correct=outcome, names_R=self.reward_func_names)

    async def _score_group(self, group: RolloutGroup) -> list[RolloutSample]:
        asked = self.sources.ask(  # asynchronous functions work while TRL scores
            arguments_of(
                group.prompts, group.completions, group.completions_ids, **group.reward_kwargs
            ),
            len(group.completions),
            loop=asyncio.get_running_loop(),
        )
        marked = [[MARK, *rows] for rows in group.completions_sequences]
        samples = await super()._score_group(
            dataclasses.replace(group, completions_sequences=marked)
        )
        starts = [0, *accumulate(map(len, marked))][:-1]  # of the rows of each conversation
        rewards_R = self._reward_columns([samples[start].metrics for start in starts])
        last = end_tokens(self, self.tokenizer)
        cut_N = [was_cut(ids, last) for ids in group.completions_ids]
        # The other functions work in a thread, while the process goes on with its other work.
        gathered = await asyncio.to_thread(asked.samples, rewards_R, cut=cut_N)
        batch = score(
            gathered,
            self.credit.method,
            combine=self.credit.combine,
            truncated=self.credit.truncated,
            rng=group.group_id,
        )
        self.credit_watch.see(batch)
        row = batch_metrics(batch)
        values_N, credited = batch.advantages.values_BN[0], []
        for start, rows, advantage, is_cut in zip(starts, marked, values_N, cut_N, strict=True):
            if is_cut and self.credit.truncated.policy == "mask":
                continue
            for sample in samples[start + 1 : start + len(rows)]:  # all but the mark
                sample.advantage = float(advantage)
                sample.metrics |= row
                credited.append(sample)
        return credited

    def _reward_columns(self, metrics_N: list[dict[str, float]]) -> list[list[float]]:
        """Return the column of each reward, which TRL has noted as metrics of the samples."""
        return [[row[f"rewards/{name}"] for row in metrics_N] for name in self.reward_func_names]
