"""What a judge is asked, and what it answers: which samples of a prompt use the same strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from setrl.core.samples import DEGENERATE


@dataclass(frozen=True)
class Group:
    """What a judge is asked about: one prompt and all N of its samples."""

    prompt: str
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """The clusters of one prompt's samples, or why nobody knows them.

    Attributes:
        clusters_N: Labels ≥ 0 by first appearance, `DEGENERATE` (−1) for a sample in no cluster;
            None where the group could not be judged.
        strategies: The name of each sample's strategy, where the judge gives names.
        reason: Why the clusters are unknown, in one word of a small set; None where they are known.
    """

    clusters_N: tuple[int, ...] | None
    strategies: tuple[str | None, ...] | None = None
    reason: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Whatever sorts the samples of prompts into clusters."""

    @property
    def name(self) -> str:
        """What logs call it."""
        ...

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """One judgement a group, in the order of the groups.

        It blocks until all are there, and never raises for a failure of the service: what could
        not be judged is a judgement with a reason.
        """
        ...


def by_first_appearance(labels: Sequence[int]) -> tuple[int, ...]:
    """Labels renamed 0, 1, … in the order of their first samples; `DEGENERATE` stays.

    >>> by_first_appearance([7, -1, 3, 7])
    (0, -1, 1, 0)
    """
    names: dict[int, int] = {DEGENERATE: DEGENERATE}
    for label in labels:
        names.setdefault(label, len(names) - 1)
    return tuple(names[label] for label in labels)
