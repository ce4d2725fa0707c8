"""The samples of all processes: what functions, a judge and TRL say about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from accelerate.utils import gather_object
from torch import Tensor
from typing_extensions import override

from setrl.samples.samples import Samples
from setrl.samples.values import was_cut
from setrl.support.errors import RunError
from setrl.train.gathering.gather import (
    Arguments,
    Processes,
    Sources,
    arguments_of,
    judged,
    timed,
)
from setrl.train.scoring.batch import JudgingTimes, Missing
from setrl.train.scoring.credit import with_columns
from setrl.train.trl.policy import MeanLogprob
from setrl.train.trl.sampling import Sampling

StrategyFunction = Callable[..., Sequence[int | str | None]]


@dataclass
class Generation:
    """What TRL's methods find out about one generation, over all processes, before its credit.

    Attributes:
        samples: What is known about the samples; None before TRL has made rewards.
        seconds: The time that each part took on this process.
    """

    samples: Samples | None = None
    seconds: dict[str, float] = field(default_factory=dict)


class Gathering(Sampling):
    """The part of a trainer of TRL that asks about samples.

    Attributes:
        sources: The functions that say something about samples, besides the rewards, which TRL
            calls.
        policy_fields: The fields that come from the policy.
    """

    sources: Sources
    policy_fields: Mapping[str, MeanLogprob]
    async_loop: Any
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
        with timed(self._generation.seconds, "verification"):
            sources = self.sources if self._is_training else replace(self.sources, fields={})
            asked = sources.ask(  # asynchronous functions work while TRL calls the reward functions
                arguments_of(prompts, completions, ids, inputs, **self._further_arguments()),
                self._num_samples,
                loop=self.async_loop if sources.has_async else None,
                among=self._processes,
            )
            rewards_MR = super()._calculate_rewards(
                inputs, prompts, completions, ids, *more, **named
            )
            last = end_tokens(self, self._tokenizer)
            self._generation.samples = asked.samples(
                list(rewards_MR.double().cpu().numpy().T.copy()),
                cut=[was_cut(sample_ids, last) for sample_ids in ids],
            )
        return rewards_MR

    def _gathered_samples(self) -> Samples:
        """Return the samples of the last generation with what its functions gave."""
        if self._generation.samples is None:
            raise RunError(
                f"{type(self).__name__} made rewards without TRL's `_calculate_rewards`: set "
                "credit does not know them"
            )
        return self._generation.samples

    def _training_samples(
        self, output: dict[str, Any]
    ) -> tuple[Samples, Sequence[Missing | None], JudgingTimes | None]:
        """Add the fields of the policy and the strategies of the judge, and what it cost."""
        policy = {n: proxy.values(self, output).tolist() for n, proxy in self.policy_fields.items()}
        gathered = {name: gather_object(values) for name, values in policy.items()}
        samples = with_columns(self._gathered_samples(), gathered)
        if self.judge_queue is None:
            return samples, (), None
        with timed(self._generation.seconds, "judging"):
            return judged(samples, self.judge_queue, self._processes)

    def _further_arguments(self) -> Arguments:
        """Return what TRL passes to reward functions besides columns."""
        arguments: Arguments = {"trainer_state": self.state, "log_metric": self._log_metric}
        arguments |= {"log_extra": self._log_completion_extra}
        if getattr(self, "environments", None) is not None:  # RLOO has none
            arguments["environments"] = self.environments
        return arguments

    @property
    def _processes(self) -> Processes:
        accelerator = self.accelerator
        return Processes(accelerator.num_processes, accelerator.process_index, gather_object)


def end_tokens(owner: Any, tokenizer: Any) -> set[int | None]:
    """Return the tokens that end a sample of a trainer or a worker, or follow its end.

    Before TRL 1.14 they have no `eos_token_ids`, and a sample ends with its tokenizer's token.
    """
    return {*getattr(owner, "eos_token_ids", [tokenizer.eos_token_id]), tokenizer.pad_token_id}
