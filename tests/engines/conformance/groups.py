"""The groups that every engine must credit alike, and their credit by its definition.

`CASES` is the one table: each goes through every adapter of `adapters.py` that can hold it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from claims import scores
from setrl import AnyMethod, methods

NAN = float("nan")
Label = str | int | None  # a name or a number, −1 degenerate, None unknown


@dataclass(frozen=True)
class Sample:
    """One member of a group.

    Attributes:
        group: Its prompt.
        reward: Its reward; NaN for none.
        label: Its strategy.
        rows: How many rows an engine trains on for it, such as the turns of a conversation.
    """

    group: str
    reward: float
    label: Label
    rows: int = 1


@dataclass(frozen=True)
class Case:
    """Samples as an engine meets them.

    Attributes:
        samples: In the order in which the engine has them.
        needs: What an engine must be able to hold: ragged, any_order, turns, padding, bf16.
        padding: Rows without a sample that the engine has added.
    """

    samples: Sequence[Sample]
    needs: frozenset[str] = frozenset()
    padding: int = 0

    @property
    def groups(self) -> dict[str, list[int]]:
        """Group → the places of its samples."""
        found: dict[str, list[int]] = {}
        for place, sample in enumerate(self.samples):
            found.setdefault(sample.group, []).append(place)
        return found


def _group(name: str, rewards: Sequence[float], labels: Sequence[Label]) -> list[Sample]:
    return [Sample(name, r, label) for r, label in zip(rewards, labels, strict=True)]


NAMES = [
    *_group("p", [1, 1, 1, 0], ["sum", "sum", "parts", "guess"]),
    *_group("q", [0, 1, 0, 0], ["parts", "sum", "sum", "parts"]),
]
RAGGED = [
    *_group("p", [1, 0, 1, 1, 0], ["a", "b", "b", "c", "a"]),
    *_group("q", [1, 0, 1], ["a", "b", "b"]),
    *_group("r", [1], ["a"]),
    *_group("s", [0, 1], ["a", "b"]),
]
SHUFFLED = [NAMES[i] for i in (5, 2, 7, 0, 3, 4, 6, 1)]

CASES: dict[str, Case] = {
    "names of strategies": Case(NAMES),
    "numbers, one degenerate": Case(
        [*_group("p", [1, 1, 0, 1], [7, -1, 7, 3]), *_group("q", [0, 1, 1, 0], [0, 0, 1, -1])]
    ),
    "names, one degenerate": Case(
        [*_group("p", [1, 1, 0, 1], ["a", -1, "a", "b"]), *_group("q", [0, 1, 1, 0], ["a"] * 4)]
    ),
    "a reward is missing": Case(
        [
            *_group("p", [1, NAN, 0.5, 0], ["a", "b", "b", "c"]),
            *_group("q", [NAN, NAN, NAN, NAN], ["a", "b", "c", "d"]),
        ]
    ),
    "a strategy is unknown": Case(
        [
            *_group("p", [1, 0, 1, 1], ["a", "b", None, "c"]),
            *_group("q", [1, 0, 1, 0], [None, None, "a", "b"]),
        ]
    ),
    "equal rewards": Case(
        [*_group("p", [1] * 4, ["a", "a", "a", "b"]), *_group("q", [0] * 4, ["a", "b", "c", "d"])]
    ),
    "bf16 rewards": Case(
        [
            *_group("p", [0.5, 1.25, 0.25, 0.5], ["a", "b", "b", "c"]),
            *_group("q", [0.0078125, 0, 1, 0.5], ["a", "b", "c", "c"]),
        ],
        frozenset({"bf16"}),
    ),
    "ragged": Case(RAGGED, frozenset({"ragged"})),
    "any order": Case(SHUFFLED, frozenset({"any_order"})),
    "padded": Case(NAMES, frozenset({"padding"}), padding=3),
    "turns of a trajectory": Case(
        [
            replace(one, rows=rows)
            for one, rows in zip(NAMES, (1, 3, 2, 1, 2, 1, 1, 4), strict=True)
        ],
        frozenset({"turns"}),
    ),
    "all at once": Case(
        [replace(one, rows=1 + i % 3) for i, one in enumerate(SHUFFLED + RAGGED[:4])],
        frozenset({"turns", "any_order", "ragged", "padding"}),
        padding=5,
    ),
}


def _poly(usable: Sequence[Sample]) -> list[float]:
    """u − U over all pairs."""
    numbers = {name: i for i, name in enumerate(sorted({str(one.label) for one in usable}))}
    labels = [-1 if one.label == -1 else numbers[str(one.label)] for one in usable]
    rewards = [Fraction(one.reward) for one in usable]
    score = scores.polychromic(rewards, labels)
    sets = list(combinations(range(len(usable)), 2))
    everywhere = scores.average(score(one) for one in sets)
    return [
        float(scores.average(score(one) for one in sets if i in one) - everywhere)
        for i in range(len(usable))
    ]


def _max(usable: Sequence[Sample]) -> list[float]:
    """u − v of the largest reward over all pairs."""
    score = scores.maximum([Fraction(one.reward) for one in usable])
    sets = list(combinations(range(len(usable)), 2))
    return [
        float(
            scores.average(score(one) for one in sets if i in one)
            - scores.average(score(one) for one in sets if i not in one)
        )
        for i in range(len(usable))
    ]


def _grpo(usable: Sequence[Sample]) -> list[float]:
    """(r − mean r) / (std r + 1e-4), the standard deviation with n − 1."""
    rewards = np.array([one.reward for one in usable])
    return ((rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-4)).tolist()


@dataclass(frozen=True)
class Definition:
    """A method, and what it credits the usable samples of one group with, by enumeration."""

    method: AnyMethod
    credit: Callable[[Sequence[Sample]], list[float]]
    fewest: int

    def usable(self, sample: Sample) -> bool:
        """Whether the method can score a set with it."""
        labelled = sample.label is not None or "strategies" not in self.method.reads
        return labelled and not math.isnan(sample.reward)

    def __call__(self, case: Case) -> list[float]:
        """The advantage of each sample; 0 for those that are left out."""
        values = [0.0] * len(case.samples)
        for places in case.groups.values():
            usable = [place for place in places if self.usable(case.samples[place])]
            if len(usable) >= self.fewest:
                credit = self.credit([case.samples[place] for place in usable])
                for place, value in zip(usable, credit, strict=True):
                    values[place] = value
        return values


DEFINITIONS = {
    "poly_epo": Definition(methods.poly_epo(2), _poly, 3),
    "maxpo": Definition(methods.maxpo(2), _max, 3),
    "grpo": Definition(methods.grpo(), _grpo, 2),
}
