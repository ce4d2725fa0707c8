"""What an engine takes besides rewards and strategies, on one batch, and its credit by definition.

Each feature changes the advantages of the batch: an engine that drops what it was given fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from claims import scores
from setrl import AnyMethod, methods, objectives
from setrl.judges import Judge, Judgement
from setrl.rewards import Combine, Truncation
from setrl.train.scoring import StopRule

PROMPTS = ["p", "q"]
REWARDS = [[0.25, 1.0, 0.75, 0.0], [1.0, 0.5, 0.0, 0.75]]
SECOND = [[1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 1.0, 0.0]]
RIGHT = [[True, False, False, True], [False, True, False, False]]
CUT = [[False, True, False, False], [True, False, False, False]]
PROXY = [[0.1, 0.2, 0.9, 0.4], [0.3, 0.8, 0.5, 0.1]]
LABELS = [[0, 1, 1, 2], [0, 0, 1, 0]]
EQUAL = [[0.0] * 4] * 2

Rows = Sequence[Sequence[Any]]
SetScore = Callable[[tuple[int, ...]], Any]


def texts(b: int) -> list[str]:
    return [f"{PROMPTS[b]} {i}" for i in range(4)]


class Labelling(Judge):
    """A judge that knows `LABELS` by heart."""

    name = "labelling"

    def judge(self, groups):
        known = {text: LABELS[b][i] for b in (0, 1) for i, text in enumerate(texts(b))}
        return [Judgement(tuple(known[text] for text in group.texts)) for group in groups]


@dataclass(frozen=True)
class Feature:
    """One thing that an engine takes.

    Attributes:
        method: The method.
        score: Prompt → the score of a set, by its definition.
        given: The arguments of `SetCredit` that an engine takes for it.
        rewards_R: The rewards of each reward function.
        cut: Which samples were cut at the length limit.
        compare_all: Whether the definition is u − U, and not u − v.
        steps: How many steps the run has.
        stops: What the message of the error says that ends the run; empty if no error does.
    """

    method: AnyMethod
    score: Callable[[int], SetScore]
    given: dict[str, Any] = field(default_factory=dict)
    rewards_R: Sequence[Rows] = (REWARDS,)
    cut: Rows = ((False,) * 4,) * 2
    compare_all: bool = False
    steps: int = 1
    stops: str = ""

    def expected(self) -> list[list[float]]:
        """The advantages, by enumeration of all pairs."""
        return [[float(self._credit(self.score(b), i)) for i in range(4)] for b in (0, 1)]

    def _credit(self, score: SetScore, i: int) -> Fraction:
        pairs = list(combinations(range(4), 2))
        against = pairs if self.compare_all else [one for one in pairs if i not in one]
        u = scores.average(score(one) for one in pairs if i in one)
        return u - scores.average(score(one) for one in against)


def column(values: Rows) -> Callable[..., list[Any]]:
    """A function of a user that knows the value of each sample."""
    known = {text: values[b][i] for b in (0, 1) for i, text in enumerate(texts(b))}

    def function(completions, **_):
        return [known[text] for text in completions]

    return function


def _exact(values: Sequence[float]) -> list[Fraction]:
    return [Fraction(one) for one in values]


def _sums(b: int) -> list[Fraction]:
    return [Fraction(r) + Fraction(s) / 2 for r, s in zip(REWARDS[b], SECOND[b], strict=True)]


def _punished(b: int) -> list[Fraction]:
    pairs = zip(REWARDS[b], CUT[b], strict=True)
    return [Fraction(0) if is_cut else Fraction(one) for one, is_cut in pairs]


def _of(objective):
    return methods.set_rl(objective, 2, baseline="leave_one_out")


FEATURES = {
    "which samples are right": Feature(
        _of(objectives.any_correct()),
        lambda b: scores.any_correct(RIGHT[b]),
        {"correct": column(RIGHT)},
    ),
    "a field": Feature(
        _of(objectives.best_of()),
        lambda b: scores.best_of(_exact(REWARDS[b]), PROXY[b]),
        {"fields": {"proxy": column(PROXY)}},
    ),
    "two rewards": Feature(
        methods.maxpo(2),
        lambda b: scores.maximum(_sums(b)),
        {"combine": Combine((1.0, 0.5))},
        rewards_R=(REWARDS, SECOND),
    ),
    "truncated samples": Feature(
        methods.maxpo(2),
        lambda b: scores.maximum(_punished(b)),
        {"truncated": Truncation("punish")},
        cut=CUT,
    ),
    "a judge": Feature(
        methods.poly_epo(2),
        lambda b: scores.polychromic(_exact(REWARDS[b]), LABELS[b]),
        {"judge": Labelling()},
        compare_all=True,
    ),
    "the stop rule": Feature(
        methods.maxpo(2),
        lambda b: scores.maximum(_exact(EQUAL[b])),
        {"stop_rule": StopRule(max_without_signal=16)},
        rewards_R=(EQUAL,),
        steps=8,
        stops="no signal",
    ),
}
