"""Columns of the samples of all processes: what functions, a judge and TRL say about them."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor
from typing_extensions import override

from setrl.grading.conversation import prompt_text, sample_text
from setrl.judges import Group, Judgement
from setrl.rewards import Truncation
from setrl.support.errors import RunError
from setrl.train.gathering.correct import Outcome
from setrl.train.gathering.functions import is_async
from setrl.train.gathering.judging import JudgeQueue, unknown_share
from setrl.train.gathering.timing import timed
from setrl.train.scoring import Columns
from setrl.train.scoring.batch import JudgingTimes
from setrl.train.scoring.fields import PAIRS, Values
from setrl.train.scoring.labels import Label
from setrl.train.trl.gathering import gather_rows
from setrl.train.trl.policy import MeanLogprob
from setrl.train.trl.sampling import Sampling

ClusterFunction = Callable[..., Sequence[int | str | None]]


@dataclass
class Generation:
    """What TRL's methods find out about one generation, over all processes, before its credit.

    Attributes:
        texts: The prompt and the sample as texts, and how many tokens the sample has.
        rewards_MR: What the reward functions gave.
        cut: Which samples were cut; None if it changes nothing.
        labels: What the cluster function gave; None without one.
        fields: Further fields of the samples.
        correct: Which samples are right, where a function says it.
        seconds: The time that each part took on this process.
    """

    texts: list[tuple[str, str, int]] = field(default_factory=list)
    rewards_MR: Tensor | None = None
    cut: list[bool] | None = None
    labels: list[Label] | None = None
    fields: dict[str, Values] = field(default_factory=dict)
    correct: Values | None = None
    seconds: dict[str, float] = field(default_factory=dict)


class Gathering(Sampling):
    """The part of a trainer of TRL that gathers columns.

    Attributes:
        cluster_func: The strategy of each sample; None without one.
        outcome: The place of the reward that says which samples are right, or a function that does;
            None: the outcome of `combine`, or the only reward.
        fields: The function of each further field.
        policy_fields: The fields that come from the policy.
        truncated: What cut samples count.
    """

    cluster_func: Callable[..., Any] | None
    outcome: Outcome | None
    fields: Mapping[str, Callable[..., Any]]
    policy_fields: Mapping[str, MeanLogprob]
    truncated: Truncation
    _generation = Generation()  # also without `__init__`, as in TRL's tests

    @override
    def _generate(self, prompts: list, *more: Any, **named: Any) -> Any:
        with timed(self._generation.seconds, "generation"):
            return super()._generate(prompts, *more, **named)

    @override
    def _calculate_rewards(
        self,
        inputs: list[dict[str, Any]],
        prompts: list,
        completions: list,
        ids: list,
        *more: Any,
        **named: Any,
    ) -> Tensor:
        found = self._generation
        with timed(self._generation.seconds, "verification"):
            arguments = self._arguments(inputs, prompts, completions, ids)
            # Asynchronous functions work while TRL calls the reward functions.
            labels = self._started(self.cluster_func, arguments) if self.cluster_func else None
            fields = self._start_fields(arguments) if self._is_training else {}
            correct = self._start_outcome(arguments)
            rewards_MR = super()._calculate_rewards(
                inputs, prompts, completions, ids, *more, **named
            )
            found.rewards_MR = rewards_MR.clone()
            found.labels = gather_rows(labels()) if labels is not None else None
            spoken = map(prompt_text, prompts), map(sample_text, completions), map(len, ids)
            found.texts = gather_rows(list(zip(*spoken, strict=True)))
            if self.truncated.changes_rewards:
                last = ends(self, self._tokenizer)
                found.cut = gather_rows([one[-1] not in last for one in ids])
            found.fields = {name: values() for name, values in fields.items()}
            found.correct = gather_rows(list(correct())) if correct is not None else None
        return rewards_MR

    def _columns(self) -> Columns:
        """Gather the columns of the last generation that its functions gave."""
        found = self._generation
        if found.rewards_MR is None:
            raise RunError(
                f"{type(self).__name__} made rewards without TRL's `_calculate_rewards`: set "
                "credit does not know them"
            )
        rewards_MR = found.rewards_MR.double().cpu().numpy()
        n = self._num_samples
        texts = [sample for _, sample, _ in found.texts]
        correct: Any = self.outcome if found.correct is None else found.correct
        return Columns(
            [prompt for prompt, _, _ in found.texts[::n]],
            [texts[start : start + n] for start in range(0, len(texts), n)],
            list(rewards_MR.T),
            found.cut,
            found.labels,
            found.fields,
            correct,
            self.reward_func_names,
            [tokens for _, _, tokens in found.texts],
        )

    def _training_columns(self, output: dict[str, Any]) -> tuple[Columns, JudgingTimes | None]:
        """Add the fields of the policy and the strategies of the judge, and what it cost."""
        columns = self._columns()
        policy = {n: one.values(self, output).tolist() for n, one in self.policy_fields.items()}
        gathered = {name: gather_rows(values) for name, values in policy.items()}
        columns = replace(columns, fields={**columns.fields, **gathered})
        if self.judge_queue is None:
            return columns, None
        with timed(self._generation.seconds, "judging"):
            asked = self._judged(self.judge_queue, columns.prompts_B, columns.texts_BN)
        return replace(columns, strategies=asked[0]), asked[1]

    def _arguments(
        self, inputs: list[dict[str, Any]], prompts: list, completions: list, ids: list
    ) -> dict[str, Any]:
        """Make what TRL passes to reward functions."""
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

    def _started(
        self, function: Callable[..., Any], arguments: Mapping[str, Any]
    ) -> Callable[[], Any]:
        """Return a call that gives the values; an asynchronous function starts now."""
        if not is_async(function):
            return functools.partial(function, **arguments)
        call = function(**arguments)
        return asyncio.run_coroutine_threadsafe(call, self.async_loop).result

    def _start_outcome(self, arguments: dict[str, Any]) -> Callable[[], Values] | None:
        """Start the function that says which samples are right, if there is one."""
        return self._started(self.outcome, arguments) if callable(self.outcome) else None

    def _start_fields(self, arguments: dict[str, Any]) -> dict[str, Callable[[], Values]]:
        """Return a call for each field that gives its values for the samples of all processes."""

        def gathered(values: Callable[[], Any]) -> Values:
            return gather_rows(values())

        return {
            name: functools.partial(self._pairs, function, arguments)
            if name == PAIRS
            else functools.partial(gathered, self._started(function, arguments))
            for name, function in self.fields.items()
        }

    def _pairs(self, function: Callable[..., Any], arguments: dict[str, Any]) -> Values:
        """Return a matrix for each prompt; each process asks about its share of the prompts.

        The samples are gathered first, because a group may span processes.
        """
        n, own = self._num_samples, len(arguments["completions"])
        kept = [key for key, one in arguments.items() if isinstance(one, list)]
        kept = [key for key in kept if key != "environments"]  # they live in their process
        rows = gather_rows([{key: arguments[key][i] for key in kept} for i in range(own)])
        groups = [rows[start : start + n] for start in range(0, len(rows), n)]
        matrices = []
        for group in self._share(groups):
            samples = {key: [row[key] for row in group] for key in kept}
            matrices.append(self._started(function, samples | {"trainer_state": self.state})())
        return gather_rows(matrices)

    def _share(self, groups: list[Any]) -> list[Any]:
        """Return the groups that this process asks about."""
        share = math.ceil(len(groups) / self.accelerator.num_processes)
        first = share * self.accelerator.process_index
        return groups[first : first + share]

    def _judged(
        self, queue: JudgeQueue, prompts_B: list[str], texts_BN: list[list[str]]
    ) -> tuple[list[Judgement], JudgingTimes]:
        """Ask the judge; each process asks about its share of the groups."""
        groups = [Group.of_texts(p, tuple(t)) for p, t in zip(prompts_B, texts_BN, strict=True)]
        judgements, times = queue.collect(self._share(groups))
        if self.accelerator.num_processes == 1:
            return judgements, times
        parts = gather_rows([(judgements, times.used)])
        judgements = [one for part, _ in parts for one in part]
        used = {name: sum(of[name] for _, of in parts) for name in times.used}
        return judgements, replace(times, unknown=unknown_share(judgements), used=used)


def ends(owner: Any, tokenizer: Any) -> set[int | None]:
    """Return the tokens that end a sample of a trainer or a worker, or follow its end.

    Before TRL 1.14 they have no `eos_token_ids`, and a sample ends with its tokenizer's token.
    """
    return {*getattr(owner, "eos_token_ids", [tokenizer.eos_token_id]), tokenizer.pad_token_id}
