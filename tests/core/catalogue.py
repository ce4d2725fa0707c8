"""Every objective next to its definition in rational arithmetic. A new one joins by one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import median

import numpy as np

from claims import scores
from claims.exact import Score
from setrl import Samples, objectives
from setrl.core.objectives import Objective


@dataclass(frozen=True)
class Case:
    """One prompt's samples, in numbers that have exact fractions."""

    rewards: list[float]
    strategies: list[int]
    answers: list[int]
    proxy: list[float]
    pairs: list[list[float]]
    families: list[int] = None  # type: ignore[assignment]  # a family for each strategy

    def __post_init__(self) -> None:
        if self.families is None:
            object.__setattr__(self, "families", self.strategies)

    @property
    def correct(self) -> list[bool]:
        return [r > 0.5 for r in self.rewards]  # the threshold of these cases

    @property
    def second(self) -> list[float]:
        return [1 - p for p in self.proxy]


@dataclass(frozen=True)
class Entry:
    """An objective, and the score of a set of sample indices of a case.

    Attributes:
        smallest: The smallest set that it scores.
        smaller: Whether w is the mean of the same definition over sets with one member less.
    """

    objective: Objective
    definition: Callable[[Case], Score]
    smallest: int = 1
    smaller: bool = True

    @property
    def name(self) -> str:
        return repr(self.objective)


def spread(counts: np.ndarray) -> np.ndarray:
    """(most correct members of a strategy) · (strategies) + wrong² of degenerate samples / 4."""
    correct, strategies = counts[..., :-1, 1].max(axis=-1), counts[..., :-1, :].any(axis=-1).sum(-1)
    return correct * strategies + counts[..., -1, 0] ** 2 / 4


def l_statistic(weights: Callable[[int], list]) -> Callable[[Case], Score]:
    return lambda c: scores.l_statistic(c.rewards, weights)


def times(case: Case, other: Score) -> Score:
    """Mean reward × another score."""
    return scores.product(scores.mean(case.rewards), other)


MEAN, PROXY = objectives.mean(), objectives.mean(of="proxy")
THIRD = Fraction(1, 3)

EXACT = [
    Entry(MEAN, lambda c: scores.mean(c.rewards)),
    Entry(PROXY, lambda c: scores.mean(c.proxy)),
    Entry(objectives.max(), lambda c: scores.maximum(c.rewards)),
    Entry(objectives.any_correct(), lambda c: scores.any_correct(c.correct)),
    Entry(objectives.top_mean(1), l_statistic(lambda k: [0] * (k - 1) + [1])),
    Entry(objectives.top_mean(3), l_statistic(lambda k: [0] * (k - 3) + [THIRD] * 3), smallest=3),
    Entry(objectives.minimum(), l_statistic(lambda k: [1] + [0] * (k - 1))),
    Entry(objectives.median(), lambda c: lambda s: Fraction(median(c.rewards[i] for i in s))),
    Entry(objectives.gini_mean_difference(), lambda c: scores.mean_difference(c.rewards)),
    Entry(objectives.l_statistic([1, 0, -2, 0.5]), l_statistic(lambda k: [1, 0, -2, 0.5])),
    Entry(objectives.best_of(), lambda c: scores.best_of(c.rewards, c.proxy)),
    Entry(
        objectives.top_by_proxy(2),
        lambda c: scores.top_by_proxy(c.rewards, c.proxy, 2),
        smallest=2,
    ),
    Entry(
        objectives.top_by_proxy(3),
        lambda c: scores.top_by_proxy(c.rewards, c.proxy, 3),
        smallest=3,
    ),
    *(
        Entry(
            objectives.majority(ties),
            lambda c, ties=ties: scores.majority(c.rewards, c.answers, ties),
        )
        for ties in ("uniform", "first", "lexicographic")
    ),
    Entry(objectives.distinct(), lambda c: scores.distinct(c.strategies)),
    Entry(
        objectives.distinct_correct(), lambda c: scores.distinct_correct(c.correct, c.strategies)
    ),
    Entry(objectives.rarest_correct(), lambda c: scores.rarest_correct(c.correct, c.strategies)),
    Entry(objectives.differ(), lambda c: scores.differ(c.strategies)),
    Entry(objectives.distinct_share(), lambda c: scores.distinct_share(c.strategies)),
    Entry(objectives.extra_share(), lambda c: scores.extra_share(c.strategies)),
    Entry(objectives.mixed_share(), lambda c: scores.mixed_share(c.strategies)),
    Entry(
        MEAN * objectives.distinct_correct(),
        lambda c: times(c, scores.distinct_correct(c.correct, c.strategies)),
    ),
    Entry(MEAN * objectives.differ(), lambda c: times(c, scores.differ(c.strategies))),
    Entry(objectives.polychromic(), lambda c: scores.polychromic(c.rewards, c.strategies)),
    Entry(
        objectives.polychromic(objectives.extra_share()),
        lambda c: times(c, scores.extra_share(c.strategies)),
    ),
    Entry(
        objectives.polychromic(objectives.mixed_share()),
        lambda c: times(c, scores.mixed_share(c.strategies)),
    ),
    Entry(objectives.product(MEAN, PROXY), lambda c: times(c, scores.mean(c.proxy))),
    Entry(MEAN * objectives.mean(of="second"), lambda c: times(c, scores.mean(c.second))),
    Entry(
        objectives.family_share(0.25),
        lambda c: scores.family_share(c.families, c.strategies, Fraction(1, 4)),
    ),
    Entry(
        objectives.polychromic(objectives.family_share()),
        lambda c: times(c, scores.family_share(c.families, c.strategies, Fraction(1, 2))),
    ),
    Entry(objectives.pairwise_distance(), lambda c: scores.pairwise_distance(c.pairs)),
    Entry(
        objectives.polychromic(objectives.pairwise_distance()),
        lambda c: times(c, scores.pairwise_distance(c.pairs)),
    ),
    Entry(objectives.from_counts(spread), lambda c: scores.counted(c.correct, c.strategies)),
    Entry(
        objectives.over_sizes(objectives.max(), {1: 0.5, 4: -2.0, 3: 1.0}),
        lambda c: scores.over_sizes(scores.maximum(c.rewards), {1: 0.5, 4: -2.0, 3: 1.0}),
        smaller=False,
    ),
    Entry(
        objectives.over_sizes(objectives.polychromic(), {2: 1.0, 5: 1.0}),
        lambda c: scores.over_sizes(scores.polychromic(c.rewards, c.strategies), {2: 1.0, 5: 1.0}),
        smaller=False,
    ),
    Entry(
        objectives.max() - 0.5 * objectives.distinct() + 2 * MEAN * objectives.differ(),
        lambda c: (
            lambda s: (
                scores.maximum(c.rewards)(s)
                - scores.distinct(c.strategies)(s) / 2
                + 2 * times(c, scores.differ(c.strategies))(s)
            )
        ),
    ),
    Entry(MEAN * MEAN, lambda c: times(c, scores.mean(c.rewards))),
]

BASIC = ("mean", "max", "any_correct", "distinct", "polychromic")
COMMON = [  # a few of all kinds, for what is checked with every baseline and estimator
    entry for entry in EXACT if entry.objective in [objectives.by_name[name]() for name in BASIC]
]


@cache
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


def _case(rewards, strategies, answers, n, rng) -> Case:
    proxy = rng.integers(-3, 3, n) / 2
    features = rng.integers(-1, 2, (n, 3)) / 2
    pairs = features @ features.T + np.eye(n) / 4  # a kernel; as good a distance as any
    return Case(
        [float(r) for r in rewards],
        [int(c) for c in strategies],
        [int(a) for a in answers],
        [float(p) for p in proxy],
        [[float(x) for x in row] for row in pairs],
        # Families share labels of strategies, and a sample may be degenerate at one level.
        families=[-1 if i % 5 == 4 else int(c + i) % 2 for i, c in enumerate(strategies)],
    )


ACTIONS = Case(
    rewards=[1.0, 0.25, 1.0],
    strategies=[0, 0, 1],
    answers=[1, 0, 2],
    proxy=[0.5, 1.0, 0.5],
    pairs=[[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]],
    families=[0, 1, 0],
)


def drawn(actions) -> Case:
    """The samples that come of actions."""
    pairs = [[ACTIONS.pairs[a][b] for b in actions] for a in actions]
    fields = (ACTIONS.rewards, ACTIONS.strategies, ACTIONS.answers, ACTIONS.proxy)
    families = [ACTIONS.families[a] for a in actions]
    return Case(*([field[a] for a in actions] for field in fields), pairs, families)


def samples_of(listed: list[Case]) -> Samples:
    """Cases of equal size as arrays."""
    return Samples(
        rewards=np.array([c.rewards for c in listed]),
        strategies=np.array([c.strategies for c in listed]),
        answers=np.array([c.answers for c in listed]),
        proxy=np.array([c.proxy for c in listed]),
        pairs=np.array([c.pairs for c in listed]),
        families=np.array([c.families for c in listed]),
        second=np.array([c.second for c in listed]),
        correct=np.array([c.correct for c in listed]),
    )
