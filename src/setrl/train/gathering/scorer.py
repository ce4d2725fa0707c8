"""Samples of a task's prompts → rewards, strategies and advantages, for engines that sample.

Such an engine samples whole groups and leaves everything between the texts and the advantages to a
`Scorer`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from setrl import AnyMethod
from setrl.judges import Group, Judge
from setrl.rewards import Reward, Truncation
from setrl.rewards.interface import as_samples
from setrl.samples.conversation import Text
from setrl.samples.samples import Samples
from setrl.support.errors import RunError
from setrl.tasks import Problem, Task
from setrl.train.gathering.checks import Outcome
from setrl.train.gathering.functions import Source
from setrl.train.gathering.gather import Sources, arguments_of, judged, timed
from setrl.train.gathering.judging import JudgeQueue
from setrl.train.scoring import ScoredBatch, score
from setrl.train.scoring.batch import Missing
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
    """Asks a task's functions or a judge about whole groups, and scores their samples.

    Attributes:
        task: Gives rewards, their combination, and the function of strategies.
        judge: Gives the strategies instead of the task's function.
        fields: What the method reads besides rewards and strategies, as in `SetCredit`.
        truncated: What samples count that were cut at the length limit.
        rewards: Functions that replace the task's reward functions, one for each; None: none.
        correct: What says which samples are right: a function, or the place of a reward, whose
            values must then be 0 and 1. None: the task's `correct`, or the outcome of its
            `combine`, where its values are 0 and 1.
        stop_rule: When a run stops because it learns nothing; None: never.
        had_signal: As in `CreditWatch`, for a run that resumes.
        more: What functions get besides, such as `trainer_state`.
    """

    task: Task
    judge: Judge | None = None
    fields: Mapping[str, Source] = field(default_factory=dict)
    truncated: Truncation = field(default_factory=Truncation)
    rewards: Sequence[Reward] | None = None
    correct: Outcome | None = None
    stop_rule: StopRule | None = field(default_factory=StopRule)
    had_signal: Callable[[], bool] = lambda: False
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        correct = getattr(self.task, "correct", None)  # a task of a user may not have it
        self._sources = Sources.of(
            self.task.rewards if self.rewards is None else self.rewards,
            None if self.judge is not None else self.task.strategy.function,
            correct if self.correct is None else self.correct,
            self.fields,
        )
        self._queue = None if self.judge is None else JudgeQueue(self.judge)
        self._watch = CreditWatch(self.stop_rule, self.had_signal)
        self._seconds: dict[str, float] = {}

    def ask_ahead(self, group: SampledGroup) -> None:
        """Ask a judge that answers in the background, while other groups are sampled."""
        if self._queue is not None:
            self._queue.ask(_make_question(group))

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
            samples, judging = self._gather_samples(groups), None
        unjudged_B: Sequence[Missing | None] = ()
        if self._queue is not None:
            with timed(self._seconds, "judging"):
                samples, unjudged_B, judging = judged(samples, self._queue)
        with timed(self._seconds, "credit"):
            batch = score(
                samples,
                method,
                combine=self.task.combine,
                truncated=self.truncated,
                unjudged_B=unjudged_B,
                rng=rng,
            )
        if np.isnan(batch.samples.rewards).all():
            warnings.warn(
                "no sample of the step got a reward: the step trains on nothing", stacklevel=2
            )
        self._watch.see(batch, is_last)
        return replace(batch, seconds=self._seconds, judging=judging)

    def _gather_samples(self, groups: Sequence[SampledGroup]) -> Samples:
        """Ask the functions of the task about the samples."""
        asked = self._sources.ask({**_make_arguments(groups), **self.more}, len(groups[0].texts_N))
        samples = asked.samples(cut=[cut for group in groups for cut in group.cut_N])
        return replace(samples, prompts=[_make_question(group).prompt for group in groups])


def _refuse_other_sizes(groups: Sequence[SampledGroup]) -> None:
    sizes = {len(group.texts_N) for group in groups}
    if len(sizes) != 1:
        raise RunError(
            "all groups of a step must have equally many samples, got groups of "
            f"{' and '.join(map(str, sorted(sizes)))}: a group was cut"
        )


def _make_question(group: SampledGroup) -> Group:
    return Group.of_texts(group.problem.prompt, tuple(group.texts_N))


def _make_arguments(groups: Sequence[SampledGroup]) -> dict[str, Any]:
    """Make what functions receive about the samples of all groups."""
    samples = [(group, i) for group in groups for i in range(len(group.texts_N))]
    return arguments_of(
        [group.prompt for group, _ in samples],
        [
            sample
            for group in groups
            for sample in as_samples(group.texts_N, not isinstance(group.prompt, str))
        ],
        [group.ids_N[i] for group, i in samples],
        [group.problem.columns for group, _ in samples],
    )
