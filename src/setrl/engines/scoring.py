"""Texts of a task's prompts → rewards, strategies and advantages, for engines that sample alone.

An engine of this project that is no trainer of TRL samples whole groups and leaves everything
between the texts and the advantages to a `Scorer`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from setrl import AnyMethod
from setrl.engines import functions
from setrl.engines.batch import ScoredBatch
from setrl.engines.fields import PAIRS, Source, as_array, column, read_matrix
from setrl.engines.judging import JudgeQueue, clusters_array, labels_of
from setrl.engines.labels import Label, numbered
from setrl.errors import RunError
from setrl.judges import Group, Judge
from setrl.rewards import Reward, Truncation
from setrl.rewards.interface import Text
from setrl.tasks import Row, Task


@dataclass(frozen=True)
class SampledGroup:
    """The samples of one prompt.

    Attributes:
        row: The problem.
        prompt: The prompt as the functions of the task get it: text, or messages.
        texts_N: The samples as texts.
        ids_N: The samples as tokens.
        cut_N: Which of them were cut at the length limit.
    """

    row: Row
    prompt: Text
    texts_N: Sequence[str]
    ids_N: Sequence[Sequence[int]]
    cut_N: Sequence[bool]


@dataclass
class Scorer:
    """Rewards, strategies and advantages of whole groups.

    Attributes:
        task: Gives rewards, their combination, and the function of strategies.
        judge: Gives the strategies in place of the task's function.
        fields: What the method reads beside rewards and clusters, as in `SetCredit`.
        truncated: What samples count that were cut at the length limit.
        rewards: Reward functions in the place of the task's, one for each; None for the task's.
    """

    task: Task
    judge: Judge | None = None
    fields: Mapping[str, Source] = field(default_factory=dict)
    truncated: Truncation = field(default_factory=Truncation)
    rewards: Sequence[Reward] | None = None

    def __post_init__(self) -> None:
        rewards = self.task.rewards if self.rewards is None else self.rewards
        self._rewards = [functions.checked_rewards(one) for one in rewards]
        function = None if self.judge is not None else self.task.strategy.function
        self._labels = None if function is None else functions.checked_labels(function)
        self._fields = {
            name: one if isinstance(one, str) else functions.checked_field(one, name)
            for name, one in self.fields.items()
        }
        self._queue = None if self.judge is None else JudgeQueue(self.judge)
        self._seconds: dict[str, float] = {}

    def ask_ahead(self, group: SampledGroup) -> None:
        """Ask a judge that answers in the background, while other groups are sampled."""
        if self._queue is not None:
            self._queue.ask(_question(group))

    def score(
        self, groups: Sequence[SampledGroup], method: AnyMethod, rng: np.random.Generator
    ) -> ScoredBatch:
        """Credit the samples of all groups of a step, which have N samples each.

        Raises:
            RunError: If a group lacks samples, or a function of the task fails; it names it.
        """
        n = _same_size(groups)
        self._seconds = {}
        with self._timed("verification"):
            arguments = _arguments(groups)
            columns_BNR = self._columns(arguments).reshape(len(groups), n, -1)
            rewards_BN = self._combined(columns_BNR, groups)
            labels = None if self._labels is None else _called(self._labels, arguments)
            extra = {name: self._field(name, arguments, groups, n) for name in self._fields}
        clusters_BN, labels_BN, times = self._clusters(groups, labels, n)
        with self._timed("credit"):
            advantages = method.advantages(
                rewards_BN, rng=rng, clusters=clusters_BN, abstain=True, **extra
            )
        return ScoredBatch(
            [_question(group).prompt for group in groups],
            [list(group.texts_N) for group in groups],
            rewards_BN,
            clusters_BN,
            advantages,
            dict(self._seconds),
            times,
            labels_BN,
            columns_BNR[..., self.task.combine.outcome],
            extra,
        )

    def _columns(self, arguments: dict[str, Any]) -> np.ndarray:
        """What each reward function gives each sample, (B·N, R); NaN unknown."""
        found = [_called(function, arguments) for function in self._rewards]
        # As numbers first: NumPy reads no tensor in bf16.
        numbers = [[np.nan if one is None else float(one) for one in each] for each in found]
        return np.array(numbers, dtype=np.float64).T

    def _combined(self, columns_BNR: np.ndarray, groups: Sequence[SampledGroup]) -> np.ndarray:
        rewards_BN = self.task.combine(columns_BNR)
        if self.truncated.changes_rewards:
            rewards_BN = self.truncated(rewards_BN, np.array([one.cut_N for one in groups]))
        if np.isnan(rewards_BN).all():
            warnings.warn("no sample of a step got a reward: it trains on nothing", stacklevel=3)
        return rewards_BN

    def _clusters(
        self, groups: Sequence[SampledGroup], labels: list[Label] | None, n: int
    ) -> tuple[Any, Any, Any]:
        """Clusters as numbers and as labels, and the times of the judge."""
        if self._queue is not None:
            with self._timed("judging"):
                judgements, times = self._queue.collect([_question(one) for one in groups])
            labels_BN = [labels_of(one, n) for one in judgements]
            return clusters_array(judgements, n), labels_BN, times
        if labels is None:
            return None, None, None
        labels_BN = [labels[start : start + n] for start in range(0, len(labels), n)]
        return numbered(labels).reshape(-1, n), labels_BN, None

    def _field(
        self, name: str, arguments: dict[str, Any], groups: Sequence[SampledGroup], n: int
    ) -> np.ndarray:
        source = self._fields[name]
        if name == PAIRS:
            return np.stack([_pairs(source, group, n) for group in groups])
        if isinstance(source, str):
            rows = [one.row.columns for one in groups for _ in range(n)]
            return as_array(name, column(rows, source, name), n)
        return as_array(name, _called(source, arguments), n)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[part] = time.perf_counter() - start


def _same_size(groups: Sequence[SampledGroup]) -> int:
    """N of all groups."""
    sizes = {len(group.texts_N) for group in groups}
    if len(sizes) != 1:
        raise RunError(
            "all groups of a step must have equally many samples, got groups of "
            f"{' and '.join(map(str, sorted(sizes)))}: a group was cut"
        )
    return sizes.pop()


def _question(group: SampledGroup) -> Group:
    return Group(group.row.prompt, tuple(group.texts_N))


def _arguments(groups: Sequence[SampledGroup]) -> dict[str, Any]:
    """What functions of a task receive, in TRL's interface: one value a sample."""
    samples = [(group, i) for group in groups for i in range(len(group.texts_N))]
    keys = dict.fromkeys(key for group in groups for key in group.row.columns)
    arguments: dict[str, Any] = {
        key: [group.row.columns.get(key) for group, _ in samples] for key in keys
    }
    arguments["prompts"] = [group.prompt for group, _ in samples]
    arguments["completions"] = [_completion(group, i) for group, i in samples]
    arguments["completion_ids"] = [list(group.ids_N[i]) for group, i in samples]
    return arguments


def _completion(group: SampledGroup, i: int) -> Text:
    text = group.texts_N[i]
    is_text = isinstance(group.prompt, str)
    return text if is_text else [{"role": "assistant", "content": text}]


def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> list[Any]:
    """The values of a function, which may be asynchronous."""
    values = function(**arguments)
    return list(asyncio.run(values) if inspect.iscoroutine(values) else values)


def _pairs(function: Any, group: SampledGroup, n: int) -> np.ndarray:
    place = "the pairs function"
    with functions.named(place):
        found = function(**_arguments([group]))
    return read_matrix(found, n, place)
