"""A domain as a task: one of ours, or one of a user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from typing_extensions import override

from setrl.models.prompting import PromptForm
from setrl.rewards.combine import Combine
from setrl.rewards.interface import Reward
from setrl.support.errors import ConfigError
from setrl.tasks.base import (
    TRAIN,
    Labels,
    ProblemSet,
    Strategy,
    Task,
    domain_problems,
    drawn_problems,
    in_rounds,
)
from setrl.tasks.domains import SPLITS, Author, Domain, Problem
from setrl.tasks.domains.verifier import Verifier

PROBLEMS = 100  # of an evaluation without a number; a domain can make more


@dataclass(frozen=True)
class DomainTask(Task):
    """A domain's problems, its verifier as the reward, and its reader of strategies."""

    domain: Domain

    @property
    @override
    def name(self) -> str:
        return self.domain.name

    @property
    @override
    def form(self) -> PromptForm:
        return PromptForm(chat=getattr(self.domain, "chat", None))

    @property
    @override
    def splits(self) -> tuple[str, ...]:
        return tuple(getattr(self.domain, "splits", SPLITS))

    @property
    @override
    def author(self) -> Author:
        return self.domain

    @property
    @override
    def max_new_tokens(self) -> int:
        return self.domain.max_new_tokens + 1  # the end token

    @cached_property
    def _verifier(self) -> Verifier:
        return Verifier(self.domain)

    @property
    @override
    def rewards(self) -> tuple[Reward, ...]:
        return (self._verifier.correct,)

    @property
    @override
    def combine(self) -> Combine:
        return Combine((1.0,))

    @property
    @override
    def strategy(self) -> Strategy:
        return Strategy(self._verifier.strategy, name_of=self._verifier.name)

    @property
    @override
    def answers(self) -> Labels:
        return self._verifier.answer

    @override
    def training_problems(self, count: int, different: int | None, seed: int) -> list[Problem]:
        different = min(count, different or count)
        try:
            problems = drawn_problems(self.domain, TRAIN, different, seed)
        except ValueError as error:
            raise ConfigError(f"{error}: set train_problems lower") from error
        return [problems[place] for place in in_rounds(different, count, seed)]

    @override
    def problems(self, split: str, count: int | None, seed: int, chat: bool = False) -> ProblemSet:
        if split not in self.splits:
            raise ConfigError(f"split must be one of {', '.join(self.splits)}, got {split!r}")
        try:
            return domain_problems(self.domain, split, count or PROBLEMS, seed)
        except ValueError as error:
            raise ConfigError(f"{error}: set eval_problems lower") from error
