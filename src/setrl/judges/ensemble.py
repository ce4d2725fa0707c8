"""Several judges, one answer: samples are together when most judges put them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import components, linked, spread, together
from setrl.samples.strategies import DEGENERATE
from setrl.support.files.sections import refuse_other_choice

Rule = Literal["average", "components"]
TOO_FEW = "too_few_judges"


@dataclass(frozen=True)
class EnsembleJudge(Judge):
    """Majority by co-association (Fred and Jain, IEEE TPAMI 27(6), 2005).

        a(i, j) = share of the judges that answered which have i and j in one cluster

    "components" joins every pair with a(i, j) > 1/2, and all that such pairs connect: a sample
    between two clusters can merge them. "average" joins the nearest clusters while their mean
    a(i, j) over pairs is above 1/2, which no single sample can tip.

    A sample is degenerate if more than half of the judges that answered call it degenerate; for a
    judge that does, it is together with no other sample.

    Attributes:
        judges: Two or more; an odd number has no ties (a tie is "apart").
        rule: How pairs become clusters.
        quorum: Judges that must have answered, or the group is unknown ("too_few_judges"); more
            than half of them by default.
    """

    judges: tuple[Judge, ...]
    rule: Rule = "average"
    quorum: int | None = None

    def __post_init__(self) -> None:
        if not self.judges:
            raise ValueError("judges must hold at least one judge, got none")
        refuse_other_choice("rule", self.rule, Rule)
        if self.quorum is not None and not 1 <= self.quorum <= len(self.judges):
            raise ValueError(f"quorum must be in [1, {len(self.judges)}], got {self.quorum}")

    @override
    def close(self) -> None:
        for judge in self.judges:
            judge.close()

    @override
    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return the majority for each group; the judges are asked one after the other."""
        answers = zip(*(judge.judge(groups) for judge in self.judges), strict=True)
        return [self._majority([one.clusters_N for one in judgements]) for judgements in answers]

    def _majority(self, labelings: Sequence[tuple[int, ...] | None]) -> Judgement:
        known = [clusters_N for clusters_N in labelings if clusters_N is not None]
        if len(known) < (self.quorum or len(self.judges) // 2 + 1):
            return Judgement(None, reason=TOO_FEW)
        votes_N = np.mean([np.equal(clusters_N, DEGENERATE) for clusters_N in known], axis=0)
        kept = np.flatnonzero(votes_N <= 0.5)
        shares_NN = np.mean([together(clusters_N) for clusters_N in known], axis=0)
        labels = self._clusters(shares_NN[np.ix_(kept, kept)])
        return Judgement(spread(kept.tolist(), labels, len(votes_N)))

    def _clusters(self, shares_NN: NDArray[np.float64]) -> tuple[int, ...]:
        if self.rule == "average":
            return linked(1.0 - shares_NN, 0.5, "average")
        first, second = np.nonzero(np.triu(shares_NN > 0.5, k=1))
        return components(len(shares_NN), zip(first.tolist(), second.tolist(), strict=True))
