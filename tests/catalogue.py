"""Every objective beside its definition in rational arithmetic. A new one joins by one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import reference
from reference import Score
from setrl import Samples, objectives
from setrl.objectives import Objective


@dataclass(frozen=True)
class Case:
    """One prompt's samples, in numbers that have exact fractions."""

    rewards: list[float]
    clusters: list[int]
    answers: list[int]
    proxy: list[float]
    pairs: list[list[float]]


@dataclass(frozen=True)
class Entry:
    """An objective, and the score of a set of sample indices of a case.

    Attributes:
        graded: Whether rewards other than 0 and 1 may enter.
        smallest: The smallest set that it scores.
    """

    objective: Objective
    definition: Callable[[Case], Score]
    smallest: int = 1

    @property
    def name(self) -> str:
        return repr(self.objective)


MEAN, PROXY = objectives.mean(), objectives.mean(of="proxy")

EXACT = [
    Entry(MEAN, lambda c: reference.mean(c.rewards)),
    Entry(PROXY, lambda c: reference.mean(c.proxy)),
    Entry(objectives.max(), lambda c: reference.maximum(c.rewards)),
    Entry(objectives.any_correct(), lambda c: reference.any_correct(c.rewards)),
    Entry(objectives.distinct(), lambda c: reference.distinct(c.clusters)),
    Entry(
        objectives.distinct_correct(), lambda c: reference.distinct_correct(c.rewards, c.clusters)
    ),
    Entry(objectives.differ(), lambda c: reference.differ(c.clusters)),
    Entry(objectives.distinct_share(), lambda c: reference.distinct_share(c.clusters)),
    Entry(objectives.extra_share(), lambda c: reference.extra_share(c.clusters)),
    Entry(objectives.mixed_share(), lambda c: reference.mixed_share(c.clusters)),
    Entry(
        MEAN * objectives.distinct_correct(),
        lambda c: times(c, reference.distinct_correct(c.rewards, c.clusters)),
    ),
    Entry(MEAN * objectives.differ(), lambda c: times(c, reference.differ(c.clusters))),
    Entry(objectives.polychromic(), lambda c: reference.polychromic(c.rewards, c.clusters)),
    Entry(
        objectives.polychromic(objectives.extra_share()),
        lambda c: times(c, reference.extra_share(c.clusters)),
    ),
    Entry(
        objectives.polychromic(objectives.mixed_share()),
        lambda c: times(c, reference.mixed_share(c.clusters)),
    ),
    Entry(objectives.product(MEAN, PROXY), lambda c: times(c, reference.mean(c.proxy))),
    Entry(MEAN * MEAN, lambda c: times(c, reference.mean(c.rewards))),
]


def times(case: Case, other: Score) -> Score:
    """Mean reward × another score."""
    return reference.times(reference.mean(case.rewards), other)


def cases(n: int) -> list[Case]:
    """Ties, duplicates, degenerate samples, saturated groups, and draws of everything."""
    rng = np.random.default_rng(n)
    ones, zeros, first = [1.0] * n, [0.0] * n, [0] * n
    kinds = [
        (ones, first, first),
        (ones, list(range(n)), list(range(n))),
        (zeros, [-1] * n, first),
        ([1.0] * (n - 1) + [0.0], [0] * (n - 1) + [1], [0] * (n - 1) + [1]),
        ([0.25] * n, [2] * (n // 2) + [-1] * (n - n // 2), list(range(n))[::-1]),
    ]
    for _ in range(3):
        answers = rng.integers(0, 3, n)
        right = rng.integers(0, 2, 3)
        kinds.append((right[answers] * 1.0, rng.integers(-1, 3, n), answers))
        kinds.append(
            (rng.integers(-2, 4, n) / 4, rng.integers(-1, max(n, 2), n), rng.integers(0, 4, n))
        )
    return [_case(*kind, n, rng) for kind in kinds]


def _case(rewards, clusters, answers, n, rng) -> Case:
    proxy = rng.integers(-3, 3, n) / 2
    half = rng.integers(-2, 3, (n, n)) / 4
    pairs = half + half.T
    return Case(
        [float(r) for r in rewards],
        [int(c) for c in clusters],
        [int(a) for a in answers],
        [float(p) for p in proxy],
        [[float(x) for x in row] for row in pairs],
    )


def samples_of(listed: list[Case]) -> Samples:
    """Cases of equal size as arrays."""
    return Samples(
        rewards=np.array([c.rewards for c in listed]),
        clusters=np.array([c.clusters for c in listed]),
        answers=np.array([c.answers for c in listed]),
        proxy=np.array([c.proxy for c in listed]),
        pairs=np.array([c.pairs for c in listed]),
    )
