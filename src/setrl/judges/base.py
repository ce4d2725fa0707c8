"""What a judge is asked, and what it answers: which samples of a prompt use the same strategy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from setrl.core.samples import DEGENERATE
from setrl.groups.types import Group


@dataclass(frozen=True)
class Judgement:
    """The clusters of one prompt's samples, or why they are unknown.

    Attributes:
        clusters_N: Labels ≥ 0 by first appearance, `DEGENERATE` (−1) for a sample in no cluster;
            None if the group could not be judged.
        strategies: The name of each sample's strategy, if the judge gives names.
        reason: Why the clusters are unknown, in one word of a small set; None if they are known.
    """

    clusters_N: tuple[int, ...] | None
    strategies: tuple[str | None, ...] | None = None
    reason: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Sorts the samples of prompts into clusters.

    Inherit from it, or write all three members yourself.
    """

    @property
    def name(self) -> str:
        """Return the name in logs."""

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return one judgement per group, in the order of the groups.

        It blocks until all are made, and never raises for a failure of a service: a group that
        could not be judged gets a judgement with a reason.
        """

    def close(self) -> None:
        """Release threads, connections and files; most judges hold none."""
        return


@runtime_checkable
class BackgroundJudge(Judge, Protocol):
    """A judge that works while its caller does something else."""

    def submit(self, group: Group) -> Future[Judgement]:
        """Ask about one group without waiting; the future gives what `judge` would."""


def by_first_appearance(labels: Sequence[int]) -> tuple[int, ...]:
    """Rename labels 0, 1, … in the order of their first samples; `DEGENERATE` stays.

    >>> by_first_appearance([7, -1, 3, 7])
    (0, -1, 1, 0)
    """
    names: dict[int, int] = {DEGENERATE: DEGENERATE}
    for label in labels:
        names.setdefault(label, len(names) - 1)
    return tuple(names[label] for label in labels)


def judgement_by_names(names: Sequence[Hashable | None]) -> Judgement:
    """Put equal names into one cluster; a sample without a name is degenerate.

    >>> judgement_by_names(["factoring", None, "formula", "factoring"]).clusters_N
    (0, -1, 1, 0)
    """
    label_of: dict[Hashable, int] = {}
    clusters_N = tuple(
        DEGENERATE if name is None else label_of.setdefault(name, len(label_of)) for name in names
    )
    return Judgement(clusters_N, tuple(None if name is None else str(name) for name in names))
