"""Set credit in TRL's asynchronous GRPO, whose samples are scored in a process of their own.

Written for TRL 1.16.0. TRL's rollout worker starts a process that samples from a vLLM server,
scores whole groups (`_score_group`) and sends their rows to the trainer with their advantages. The
class of what runs there is an attribute of the worker; here it is replaced by one that credits the
group with a method after TRL has scored it. The trainer is TRL's own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from trl.experimental.async_grpo.async_rollout_worker import (
    AsyncRolloutWorker,
    RolloutGroup,
    RolloutSample,
    TrainingSequence,
    _AsyncRolloutLoop,
)
from trl.trainer.utils import is_async_callable

from setrl import AnyMethod
from setrl.engines import checks
from setrl.engines.batch import ScoredBatch, check_method
from setrl.engines.labels import Label, numbered
from setrl.engines.metrics import batch_metrics
from setrl.engines.texts import prompt_text, sample_text
from setrl.errors import ConfigError

ClusterFunction = Callable[..., Sequence[int | str | None]]

# Stands before the rows of each conversation while TRL scores them, so that the reward is known
# even of a conversation without a row to train on.
MARK = TrainingSequence([], [], [], rollout_id="")


def credit_worker(
    worker: AsyncRolloutWorker, method: AnyMethod, cluster_func: ClusterFunction | None = None
) -> None:
    """Let a worker credit its groups with a method, before training starts.

    `credit_worker(trainer.rollout_worker, methods.poly_epo(4), strategy)`, on the first process of
    the trainer: it alone has a worker. TRL drops samples that are too old one by one, after the
    credit.

    Args:
        worker: The worker of an `AsyncGRPOTrainer`, which has not been started.
        method: A value of `setrl.methods`.
        cluster_func: As in `SetCredit`; like reward functions a function of a module, as it is sent
            to another process.

    Raises:
        ValueError: If `num_generations` is too small for K, or the method needs what it cannot get.
        ConfigError: If the worker runs a loop of another kind, has started, or the method or the
            function cannot be sent to another process.
    """
    if worker._loop_cls is not _AsyncRolloutLoop or worker._process is not None:
        raise ConfigError(
            "credit_worker needs a worker of TRL's own kind that has not been started"
        )
    check_method(method, worker._loop_kwargs.get("num_generations", 8), "num_generations")
    if "clusters" in method.reads and cluster_func is None:
        raise ValueError(f"{method.name} reads clusters: pass cluster_func=...")
    own = {"method": method, "cluster_func": cluster_func}
    try:
        pickle.dumps(own)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            "the method and cluster_func are sent to the worker's process: use functions of a "
            f"module, not lambdas or functions inside functions ({error})"
        ) from None
    worker._loop_cls = SetRolloutLoop
    worker._loop_kwargs |= own


class SetRolloutLoop(_AsyncRolloutLoop):
    """TRL's loop of the worker's process, with the advantages of a method.

    Args:
        method: A value of `setrl.methods`.
        cluster_func: The strategy of each sample of a group.
    """

    def __init__(self, *, method: AnyMethod, cluster_func: ClusterFunction | None, **others: Any):
        self.method = method
        self.cluster_func = None if cluster_func is None else checks.checked_labels(cluster_func)
        super().__init__(**others)

    async def _score_group(self, group: RolloutGroup) -> list[RolloutSample]:
        marked = [[MARK, *rows] for rows in group.completions_sequences]
        samples = await super()._score_group(
            dataclasses.replace(group, completions_sequences=marked)
        )
        starts = [0, *accumulate(map(len, marked))][:-1]  # of the rows of each conversation
        batch = await self._credit(group, [samples[start].metrics["reward"] for start in starts])
        metrics = batch_metrics(batch)
        for start, rows, advantage in zip(
            starts, marked, batch.advantages.values_BN[0], strict=True
        ):
            for sample in samples[start : start + len(rows)]:
                sample.advantage = float(advantage)
                sample.metrics |= metrics
        marks = set(starts)
        return [sample for index, sample in enumerate(samples) if index not in marks]

    async def _credit(self, group: RolloutGroup, rewards_N: list[float]) -> ScoredBatch:
        """The group with its rewards, strategies and advantages."""
        labels_N = await self._labels(group)
        rewards_BN = np.array([rewards_N], dtype=np.float64)
        clusters_BN = None if labels_N is None else numbered(labels_N)[None]
        rng = np.random.default_rng(group.group_id)
        return ScoredBatch(
            [prompt_text(group.prompts[0])],
            [[sample_text(completion) for completion in group.completions]],
            rewards_BN,
            clusters_BN,
            self.method.advantages(rewards_BN, rng=rng, clusters=clusters_BN),
            {},
            labels_BN=None if labels_N is None else [labels_N],
        )

    async def _labels(self, group: RolloutGroup) -> list[Label] | None:
        if self.cluster_func is None:
            return None
        fields = {
            "prompts": group.prompts,
            "completions": group.completions,
            "completion_ids": group.completions_ids,
            **group.reward_kwargs,
        }
        if is_async_callable(self.cluster_func):
            return await self.cluster_func(**fields)
        return await asyncio.to_thread(self.cluster_func, **fields)
