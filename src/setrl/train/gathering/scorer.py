"""Samples of a task's prompts → rewards, strategies and advantages, for engines that sample.

Such an engine samples whole groups and leaves everything between the texts and the advantages to a
`Scorer`.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from setrl import AnyMethod
from setrl.grading.conversation import Text
from setrl.judges import Group, Judge
from setrl.rewards import Reward, Truncation
from setrl.support.errors import RunError
from setrl.tasks import Problem, Task
from setrl.train.gathering import functions
from setrl.train.gathering.correct import Outcome
from setrl.train.gathering.functions import Source, functions_of
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.gathering.timing import timed
from setrl.train.scoring import Columns, ScoredBatch, score
from setrl.train.scoring.fields import PAIRS
from setrl.train.scoring.stop_rule import CreditWatch, StopRule


@dataclass(frozen=True)
class SampledGroup:
    """The samples of one prompt.

    Attributes:
        problem: The problem.
        prompt: The prompt as the functions of the task get it: text, or messages.
        texts_N: The samples as texts.
        ids_N: The samples as tokens.
        cut_N: Which samples were cut at the length limit.
    """

    problem: Problem
    prompt: Text
    texts_N: Sequence[str]
    ids_N: Sequence[Sequence[int]]
    cut_N: Sequence[bool]


@dataclass
class Scorer:
    """Gathers the columns of whole groups from a task's functions or a judge, and scores them.

    Attributes:
        task: Gives rewards, their combination, and the function of strategies.
        judge: Gives the strategies instead of the task's function.
        fields: What the method reads besides rewards and clusters, as in `SetCredit`.
        truncated: What samples count that were cut at the length limit.
        rewards: Functions that replace the task's reward functions, one for each; None: none.
        correct: What says which samples are right: a function, or the place of a reward, whose
            values must then be 0 and 1. None: the task's `correct`, or the outcome of its
            `combine`, where its values are 0 and 1.
        stop_rule: When a run stops because it learns nothing; None: never.
        had_signal: As in `CreditWatch`, for a run that resumes.
    """

    task: Task
    judge: Judge | None = None
    fields: Mapping[str, Source] = field(default_factory=dict)
    truncated: Truncation = field(default_factory=Truncation)
    rewards: Sequence[Reward] | None = None
    correct: Outcome | None = None
    stop_rule: StopRule | None = field(default_factory=StopRule)
    had_signal: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        rewards = self.task.rewards if self.rewards is None else self.rewards
        self._rewards = [functions.checked_rewards(one) for one in rewards]
        function = None if self.judge is not None else self.task.strategy.function
        self._labels = None if function is None else functions.checked_labels(function)
        own = getattr(self.task, "correct", None)  # a task of a user may not have it
        correct = own if self.correct is None else self.correct
        self._correct = functions.checked_outcome(correct) if callable(correct) else correct
        self._fields = functions_of(self.fields)
        self._queue = None if self.judge is None else JudgeQueue(self.judge)
        self._watch = CreditWatch(self.stop_rule, self.had_signal)
        self._seconds: dict[str, float] = {}

    def ask_ahead(self, group: SampledGroup) -> None:
        """Ask a judge that answers in the background, while other groups are sampled."""
        if self._queue is not None:
            self._queue.ask(_question(group))

    def score(
        self,
        groups: Sequence[SampledGroup],
        method: AnyMethod,
        rng: np.random.Generator,
        *,
        is_last: bool = False,
    ) -> ScoredBatch:
        """Credit the samples of all groups of a step, which have N samples each.

        Args:
            groups: The samples.
            method: The method.
            rng: For methods that sample sets.
            is_last: Whether the run ends with this step, so that a short run can be stopped, too.

        Raises:
            RunError: If a group lacks samples, or a function of the task fails; it names it. Or if
                the run must stop, by the rule.
        """
        _refuse_other_sizes(groups)
        self._seconds = {}
        with timed(self._seconds, "verification"):
            columns, judging = self._columns(groups), None
        if self._queue is not None:
            with timed(self._seconds, "judging"):
                judgements, judging = self._queue.collect([_question(one) for one in groups])
            columns = replace(columns, strategies=judgements)
        with timed(self._seconds, "credit"):
            batch = score(
                columns, method, combine=self.task.combine, truncated=self.truncated, rng=rng
            )
        if np.isnan(batch.rewards_BN).all():
            warnings.warn(
                "no sample of the step got a reward: the step trains on nothing", stacklevel=2
            )
        self._watch.see(batch, is_last)
        return replace(batch, seconds=self._seconds, judging=judging)

    def _columns(self, groups: Sequence[SampledGroup]) -> Columns:
        """Ask the functions of the task about the samples."""
        arguments = _arguments(groups)
        return Columns(
            [_question(group).prompt for group in groups],
            [list(group.texts_N) for group in groups],
            [called(function, arguments) for function in self._rewards],
            [cut for group in groups for cut in group.cut_N],
            None if self._labels is None else called(self._labels, arguments),
            {
                name: [called(function, _arguments([one])) for one in groups]
                if name == PAIRS
                else called(function, arguments)
                for name, function in self._fields.items()
            },
            called(self._correct, arguments) if callable(self._correct) else self._correct,
            [functions.name_of(function) for function in self._rewards],
            [len(ids) for group in groups for ids in group.ids_N],
        )


def _refuse_other_sizes(groups: Sequence[SampledGroup]) -> None:
    sizes = {len(group.texts_N) for group in groups}
    if len(sizes) != 1:
        raise RunError(
            "all groups of a step must have equally many samples, got groups of "
            f"{' and '.join(map(str, sorted(sizes)))}: a group was cut"
        )


def _question(group: SampledGroup) -> Group:
    return Group.of_texts(group.problem.prompt, tuple(group.texts_N))


def _arguments(groups: Sequence[SampledGroup]) -> dict[str, Any]:
    """Make what functions receive in TRL's interface: lists with one value for each sample."""
    samples = [(group, i) for group in groups for i in range(len(group.texts_N))]
    keys = dict.fromkeys(key for group in groups for key in group.problem.columns)
    arguments: dict[str, Any] = {
        key: [group.problem.columns.get(key) for group, _ in samples] for key in keys
    }
    arguments["prompts"] = [group.prompt for group, _ in samples]
    arguments["completions"] = [_completion(group, i) for group, i in samples]
    arguments["completion_ids"] = [list(group.ids_N[i]) for group, i in samples]
    return arguments


def _completion(group: SampledGroup, i: int) -> Text:
    text = group.texts_N[i]
    is_text = isinstance(group.prompt, str)
    return text if is_text else [{"role": "assistant", "content": text}]


def called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Return what a function returns, which may be asynchronous."""
    values = function(**arguments)
    return asyncio.run(values) if inspect.iscoroutine(values) else values
