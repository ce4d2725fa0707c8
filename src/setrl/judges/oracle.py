"""The judge that cannot be wrong: a domain's own reader of strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement, judgement_by_names
from setrl.rewards.problem import Reading

OTHER_DOMAIN = "other_domain"


class ReadsStrategies(Protocol):
    """What an oracle asks: a domain, or whatever else reads a sample of a prompt."""

    def read(self, prompt: str, text: str) -> Reading:
        """Read what a sample answers, and by which strategy."""


@dataclass(frozen=True)
class OracleJudge(Judge):
    """Same label if and only if the domain reads the same strategy; names are kept.

    A group whose prompt does not belong to the domain is unknown ("other_domain").

    Attributes:
        domain: Reads the samples (`setrl.tasks.domains`); −1 is degenerate.

    >>> from setrl.tasks.domains import by_name
    >>> group = Group.of_texts("x^2-5x+6=0: ", ("factor (x-2)(x-3)=0 x=2,3", "I do not know"))
    >>> OracleJudge(by_name("quadratic")).judge([group])[0].names_N
    ('factoring', None)
    """

    domain: ReadsStrategies

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        return [self._judge_by_reader(group) for group in groups]

    def _judge_by_reader(self, group: Group) -> Judgement:
        try:
            readings = [self.domain.read(group.prompt, text) for text in group.texts]
        except ValueError:
            return Judgement(None, reason=OTHER_DOMAIN)
        return judgement_by_names([reading.strategy for reading in readings])
