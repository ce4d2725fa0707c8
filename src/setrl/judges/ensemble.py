"""Several judges, one answer: samples are together when most judges put them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import linked, spread, together
from setrl.samples.values import DEGENERATE

TOO_FEW = "too_few_judges"


@dataclass(frozen=True)
class EnsembleJudge(Judge):
    """Majority by co-association (Fred and Jain, IEEE TPAMI 27(6), 2005).

        a(i, j) = share of the judges that answered which have i and j in one cluster

    The nearest clusters are joined while their mean a(i, j) over pairs is above 1/2, which no
    single sample between two clusters can tip.

    A sample is degenerate if more than half of the judges that answered call it degenerate; for a
    judge that does, it is together with no other sample.

    Attributes:
        judges: Two or more; an odd number has no ties (a tie is "apart").
        quorum: Judges that must have answered, or the group is unknown ("too_few_judges"); more
            than half of them by default.
    """

    judges: tuple[Judge, ...]
    quorum: int | None = None

    def __post_init__(self) -> None:
        if not self.judges:
            raise ValueError("judges must hold at least one judge, got none")
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
        return [self._majority([one.labels_N for one in judgements]) for judgements in answers]

    def _majority(self, labelings: Sequence[tuple[int, ...] | None]) -> Judgement:
        known = [labels_N for labels_N in labelings if labels_N is not None]
        if len(known) < (self.quorum or len(self.judges) // 2 + 1):
            return Judgement(None, reason=TOO_FEW)
        votes_N = np.mean([np.equal(labels_N, DEGENERATE) for labels_N in known], axis=0)
        kept = np.flatnonzero(votes_N <= 0.5)
        shares_NN = np.mean([together(labels_N) for labels_N in known], axis=0)
        labels = linked(1.0 - shares_NN[np.ix_(kept, kept)], 0.5)
        return Judgement(spread(kept.tolist(), labels, len(votes_N)))
