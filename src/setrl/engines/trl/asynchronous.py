"""Set credit in TRL's asynchronous GRPO, which scores samples in another process.

Written for TRL 1.16.0. TRL's rollout worker starts a process that samples from a vLLM server,
scores whole groups (`_score_group`) and sends their rows to the trainer with their advantages. The
class of what runs there is an attribute of the worker; here it is replaced by one that credits the
group with a method after TRL has scored it. The trainer is TRL's own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
from collections.abc import Callable, Mapping, Sequence
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
from setrl.engines import functions
from setrl.engines.correct import Correct, check_correct, outcome_of
from setrl.engines.functions import Source, functions_of
from setrl.engines.metrics import batch_metrics
from setrl.engines.texts import prompt_text, sample_text
from setrl.engines.trl import checks
from setrl.engines.trl.columns import ClusterFunction
from setrl.errors import ConfigError
from setrl.rewards import Combine, Truncation
from setrl.scoring import Columns, ScoredBatch, score
from setrl.scoring.check import FIELDS, check_method
from setrl.scoring.fields import PAIRS
from setrl.scoring.stop_rule import DEFAULT, CreditWatch, StopRule

__all__ = ["credit_worker"]

# Stands before the rows of each conversation while TRL scores them, so that the reward is known
# even if a conversation has no row to train on.
MARK = TrainingSequence([], [], [], rollout_id="")


def credit_worker(
    worker: AsyncRolloutWorker,
    method: AnyMethod,
    cluster_func: ClusterFunction | None = None,
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
        cluster_func: As in `SetCredit`, but a function of a module, because it is sent to another
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
    if worker._loop_cls is not _AsyncRolloutLoop or worker._process is not None:
        raise ConfigError(
            "credit_worker needs a worker of TRL's own kind that has not been started"
        )
    fields = dict(fields or {})
    functions_of(fields)  # refuses what is wrong here, not in the worker's process
    known = FIELDS | set(fields)
    check_method(method, worker._loop_kwargs.get("num_generations", 8), "num_generations", known)
    if "clusters" in method.reads and cluster_func is None:
        raise ValueError(f"{method.name} reads clusters: pass cluster_func=...")
    if worker._loop_kwargs.get("environment_factory") is None:
        rewards = worker._loop_kwargs["reward_funcs"]
        names_R = [functions.name_of(one) for one in rewards]
        check_correct(method, outcome_of(correct, rewards, names_R), combine, names_R)
        _check_combine(combine, names_R)
    own: dict[str, Any] = {
        "method": method,
        "cluster_func": cluster_func,
        "fields": fields,
        "correct": correct,
        "combine": combine,
        "truncated": truncated or Truncation(),
        "stop_rule": stop_rule,
    }
    try:
        pickle.dumps(own)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            "the method, cluster_func, correct and fields are sent to the worker's process: use "
            f"functions of a module, not lambdas or functions inside functions ({error})"
        ) from None
    worker._loop_cls = SetRolloutLoop
    worker._loop_kwargs |= own


def _check_combine(combine: Combine | None, names: Sequence[str]) -> None:
    """Refuse weights that do not fit the rewards, and rewards that TRL's metrics mix up."""
    if combine is not None:
        checks.check_combine(combine, names)
    if len(set(names)) < len(names):
        raise ValueError(f"rewards must have different names, got {', '.join(names)}")


class SetRolloutLoop(_AsyncRolloutLoop):
    """TRL's loop of the worker's process, with the advantages of a method.

    Args:
        method: A value of `setrl.methods`.
        cluster_func: The strategy of each sample of a group.
        fields: The source of each further field.
        correct: What says which samples are right.
        combine: How the rewards become one; None for their sum.
        truncated: What samples count that were cut at the length limit.
        stop_rule: When the run stops because it learns nothing; None: never.
    """

    def __init__(
        self,
        *,
        method: AnyMethod,
        cluster_func: ClusterFunction | None,
        fields: Mapping[str, Source],
        correct: Correct | None,
        combine: Combine | None,
        truncated: Truncation,
        stop_rule: StopRule | None,
        **others: Any,
    ):
        self.method = method
        self.cluster_func = None if cluster_func is None else functions.checked_labels(cluster_func)
        self.fields = functions_of(fields)
        self.combine = combine
        self.truncated = truncated
        self.credit_watch = CreditWatch(stop_rule, lambda: others.get("dataset_start_index", 0) > 0)
        super().__init__(**others)
        self.outcome = outcome_of(correct, self.reward_funcs, self.reward_func_names)
        check_correct(method, self.outcome, combine, self.reward_func_names)
        _check_combine(combine, self.reward_func_names)

    async def _score_group(self, group: RolloutGroup) -> list[RolloutSample]:
        marked = [[MARK, *rows] for rows in group.completions_sequences]
        samples = await super()._score_group(
            dataclasses.replace(group, completions_sequences=marked)
        )
        starts = [0, *accumulate(map(len, marked))][:-1]  # of the rows of each conversation
        cut_N = self._cut(group)
        batch = await self._credit(group, [samples[start].metrics for start in starts], cut_N)
        self.credit_watch.see(batch)
        metrics = batch_metrics(batch)
        values_N, kept = batch.advantages.values_BN[0], []
        for start, rows, advantage, is_cut in zip(starts, marked, values_N, cut_N, strict=True):
            if is_cut and self.truncated.policy == "mask":
                continue
            for sample in samples[start + 1 : start + len(rows)]:  # all but the mark
                sample.advantage = float(advantage)
                sample.metrics |= metrics
                kept.append(sample)
        return kept

    def _cut(self, group: RolloutGroup) -> list[bool]:
        """Return which samples were cut: they do not end as TRL's samples do."""
        ends = {*self.eos_token_ids, self.tokenizer.pad_token_id}
        return [not ids or ids[-1] not in ends for ids in group.completions_ids]

    async def _credit(
        self, group: RolloutGroup, metrics_N: list[dict[str, float]], cut_N: list[bool]
    ) -> ScoredBatch:
        """Gather what is known about the group, and credit its samples."""
        arguments = {
            "prompts": group.prompts,
            "completions": group.completions,
            "completion_ids": group.completions_ids,
            **group.reward_kwargs,
        }
        labels = await _called(self.cluster_func, arguments) if self.cluster_func else None
        fields = {name: await _called(one, arguments) for name, one in self.fields.items()}
        outcome = self.outcome
        correct = await _called(outcome, arguments) if callable(outcome) else outcome
        # `pairs` has a matrix for each prompt of the columns, and there is one prompt.
        fields |= {PAIRS: [fields[PAIRS]]} if PAIRS in fields else {}
        columns = Columns(
            [prompt_text(group.prompts[0])],
            [[sample_text(completion) for completion in group.completions]],
            [[one[f"rewards/{name}"] for one in metrics_N] for name in self.reward_func_names],
            cut_N,
            labels,
            fields,
            correct,
            self.reward_func_names,
        )
        rules: dict[str, Any] = {"combine": self.combine, "truncated": self.truncated}
        return score(columns, self.method, rng=group.group_id, **rules)


async def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function while the process goes on with its other work."""
    if functions.is_async(function):
        return await function(**arguments)
    return await asyncio.to_thread(function, **arguments)
