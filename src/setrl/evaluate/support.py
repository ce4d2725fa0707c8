"""Support dynamics: which problems a run still solves, which it lost, and which are new.

With k samples each of runs A and B, a problem is *preserved* if both have a right one, *lost* if
only A has, *gained* if only B has, and *outside* if neither has: Wu et al., arXiv:2507.14843, and
Figure 9 of MaxPO. Axes: P problems, R training seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setrl.evaluate.estimators import Floats, pass_at_k
from setrl.evaluate.samples import Evaluation

LEVEL = 0.95
STATES = ("preserved", "lost", "gained", "outside")


@dataclass(frozen=True)
class SupportAt:
    """How many problems are in each state with k samples of each run, in expectation.

    Attributes:
        k: Samples of a problem.
        preserved, lost, gained, outside: Numbers of problems; they add up to all. At k = n they are
            whole for one seed.
        lost_again: How many problems a second k samples *of A* would lose: what chance alone does.
            NaN where 2k samples are more than a problem has.
    """

    k: int
    preserved: float
    lost: float
    gained: float
    outside: float
    lost_again: float

    @property
    def kept(self) -> float:
        """Share of A's problems that B keeps (SRR of Wu et al.); NaN if A has none."""
        return _share(self.preserved, self.lost)

    @property
    def new(self) -> float:
        """Share of B's problems that A lacks (NDR of Wu et al.); NaN if B has none."""
        return _share(self.gained, self.preserved)


@dataclass(frozen=True)
class ProblemSupport:
    """The state of one problem with all samples of all seeds.

    Attributes:
        id: What names it.
        state: One of `STATES`.
        right: Right samples of A and of B.
        samples: Samples of A and of B.
        at_most: The success rate that B may have although none of its N samples is right, with 95%
            confidence: 1 − 0.05^(1/N). NaN where one is.
    """

    id: str
    state: str
    right: tuple[int, int]
    samples: tuple[int, int]
    at_most: float


@dataclass(frozen=True)
class Support:
    """The support dynamics of two runs: a row for each k, and the state of each problem."""

    rows: tuple[SupportAt, ...]
    problems: tuple[ProblemSupport, ...]


def support_of(
    first: Sequence[Evaluation], second: Sequence[Evaluation], ks: Sequence[int]
) -> Support:
    """Compute the support dynamics from run A to run B on the same problems.

        lost = Σ_P pass@k of A · (1 − pass@k of B),     and the others in the same way

    The two runs are independent, so a product of unbiased pass@k is unbiased. Seeds are averaged.

    Args:
        first: Evaluations of A, the reference, one for each seed.
        second: Evaluations of B.
        ks: Numbers of samples, each at most what every problem has.
    """
    return Support(
        tuple(_support_at(first, second, k) for k in ks), tuple(_problem_states(first, second))
    )


def _support_at(first: Sequence[Evaluation], second: Sequence[Evaluation], k: int) -> SupportAt:
    a_P, b_P = _chance_solved(first, k), _chance_solved(second, k)
    return SupportAt(
        k,
        preserved=float((a_P * b_P).sum()),
        lost=float((a_P * (1 - b_P)).sum()),
        gained=float(((1 - a_P) * b_P).sum()),
        outside=float(((1 - a_P) * (1 - b_P)).sum()),
        lost_again=float(np.mean([_chance_lost_again(one, k).sum() for one in first])),
    )


def _chance_solved(evaluations: Sequence[Evaluation], k: int) -> Floats:
    """Return the chance that k samples hold a right one, over seeds: (P,)."""
    return np.mean([pass_at_k(one.correct_count_P, one.size_P, k) for one in evaluations], axis=0)


def _chance_lost_again(one: Evaluation, k: int) -> Floats:
    """P(of two disjoint k-sets of a problem's samples the first holds a right one, the other none).

    C(n−c, k)/C(n, k) − C(n−c, 2k)/C(n, 2k)
    """
    if 2 * k > one.n:
        return np.full(len(one), np.nan)
    misses_P, misses_twice_P = (
        1 - pass_at_k(one.correct_count_P, one.size_P, size) for size in (k, 2 * k)
    )
    return misses_P - misses_twice_P


def _problem_states(
    first: Sequence[Evaluation], second: Sequence[Evaluation]
) -> list[ProblemSupport]:
    right, sizes = (
        [np.sum([getattr(one, name) for one in run], axis=0).tolist() for run in (first, second)]
        for name in ("correct_count_P", "size_P")
    )
    counts = zip(zip(*right, strict=True), zip(*sizes, strict=True), strict=True)
    return [
        ProblemSupport(
            id=str(id),
            state=STATES[2 * (not a) + (not b)],
            right=(a, b),
            samples=(n, m),
            at_most=math.nan if b else -math.expm1(math.log(1 - LEVEL) / m),
        )
        for id, ((a, b), (n, m)) in zip(first[0].ids, counts, strict=True)
    ]


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else math.nan
