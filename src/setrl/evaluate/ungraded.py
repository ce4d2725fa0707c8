"""Samples without a grade: how many there are, and how far pass@1 may be off because of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setrl.evaluate.samples import Evaluation
from setrl.logs.options import Fate
from setrl.support.wording import count, percent


@dataclass(frozen=True)
class Ungraded:
    """The samples without a grade.

    They are of the problems that would be in the figures if all samples had a grade.

    Attributes:
        samples: How many.
        of_all: Of how many samples, graded or not.
        are: Whether these samples are left out, or count as wrong.
        if_wrong, if_right: pass@1 if all of them were wrong, and if all were right.
    """

    samples: int
    of_all: int
    are: Fate
    if_wrong: float
    if_right: float

    def sentence(self, name: str) -> str:
        """Say what became of them, and the bounds of pass@1.

        >>> Ungraded(27, 2280, "left-out", 0.31, 0.322).sentence("a")
        'a: 27 of 2,280 samples have no grade and are left out of everything, including votes and
        strategies; pass@1 would be 31.0% if all of them were wrong, 32.2% if all were right'
        """
        is_one = self.samples == 1
        counts, are, have = ("counts", "is", "has") if is_one else ("count", "are", "have")
        fate = f"{counts} as wrong" if self.are == "wrong" else (
            f"{are} left out of everything, including votes and strategies")  # fmt: skip
        return (
            f"{name}: {self.samples:,} of {count(self.of_all, 'sample')} {have} no grade and {fate}"
            f"; pass@1 would be {percent(self.if_wrong)} if all of them were wrong, "
            f"{percent(self.if_right)} if all were right"
        )


def ungraded_of(evaluations: Sequence[Evaluation]) -> Ungraded | None:
    """Count them in an arm's evaluations, one for each seed; None if every sample has a grade.

    With c correct of n samples in the figures and u without a grade, a problem's pass@1 is from
    c/(n + u) to (c + u)/(n + u) where these are left out, and from c/n to (c + u)/n where they are
    among the n.
    """
    found = [(e, e.ungraded_P) for e in evaluations if e.ungraded_P is not None]
    samples = sum(int(u_P.sum()) for _, u_P in found)
    if not samples:
        return None
    bounds, of_all = [], 0
    for e in evaluations:
        u_P = np.zeros(len(e)) if e.ungraded_P is None else e.ungraded_P
        c_P = e.correct_count_P
        bounds.append((np.mean(c_P / e.drawn_P), np.mean((c_P + u_P) / e.drawn_P)))
        of_all += int(e.drawn_P.sum())
    if_wrong, if_right = (float(end) for end in np.mean(bounds, axis=0))
    return Ungraded(samples, of_all, found[0][0].ungraded_are, if_wrong, if_right)
