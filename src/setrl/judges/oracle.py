"""The judge that cannot be wrong: a domain's own reader of strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from setrl import domains
from setrl.judges.base import Group, Judge, Judgement, judgement_by_names

OTHER_DOMAIN = "other_domain"


@dataclass(frozen=True)
class OracleJudge(Judge):
    """Same cluster if and only if the domain reads the same strategy; names are kept.

    A group whose prompt does not belong to the domain is unknown ("other_domain").

    Attributes:
        domain: Reads the samples (`setrl.domains`); what it cannot read is degenerate.

    >>> from setrl.domains import by_name
    >>> group = Group.of_texts("x^2-5x+6=0: ", ("factor (x-2)(x-3)=0 x=2,3", "I do not know"))
    >>> OracleJudge(by_name("quadratic")).judge([group])[0].strategies
    ('factoring', None)
    """

    domain: domains.Domain

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        return [self._read(group) for group in groups]

    def _read(self, group: Group) -> Judgement:
        try:
            readings = [self.domain.read(group.prompt, text) for text in group.texts]
        except ValueError:
            return Judgement(None, reason=OTHER_DOMAIN)
        return judgement_by_names([reading.strategy for reading in readings])


def of_domain(domain: str, options: Mapping[str, Any] | None = None) -> OracleJudge:
    """Read the strategies as a domain does."""
    return OracleJudge(domains.by_name(domain, **(options or {})))
