"""Names of strategies → clusters: equal names are one cluster, no name is degenerate."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from setrl.core.samples import DEGENERATE
from setrl.judges.base import Judgement


def judgement_by_names(names: Sequence[Hashable | None]) -> Judgement:
    """The judgement in which samples are together when their names are equal.

    >>> judgement_by_names(["factoring", None, "formula", "factoring"]).clusters_N
    (0, -1, 1, 0)
    """
    label_of: dict[Hashable, int] = {}
    clusters_N = tuple(
        DEGENERATE if name is None else label_of.setdefault(name, len(label_of)) for name in names
    )
    return Judgement(clusters_N, tuple(None if name is None else str(name) for name in names))
