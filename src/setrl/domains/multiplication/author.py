"""The author of the corpus: which strategy is chosen for a problem, and how often it succeeds.

If the strategy suits the problem, the author's errors are slips, anywhere in the steps. If it does
not, they are a misconception, always the same one. The likeliest text is then a wrong one, however
well a model learns to imitate it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl.domains.base import Problem, Written
from setrl.domains.multiplication import strategies
from setrl.domains.multiplication.problems import below_hundred, factors_of
from setrl.domains.multiplication.strategies import Hand
from setrl.domains.splits import draw

Draft = Callable[[int, int, Hand], str]
Condition = Callable[[int, int], bool]


def always(a: int, b: int) -> bool:
    """Every problem."""
    return True


def is_below_hundred(a: int, b: int) -> bool:
    """a is less than 20 below a multiple of a hundred."""
    return below_hundred(a) < 20


def is_above_hundred(a: int, b: int) -> bool:
    """a is less than 20 above a multiple of a hundred."""
    return a % 100 < 20


def is_near_ten(a: int, b: int) -> bool:
    """b is 8 or 9."""
    return b >= 8


def has_divisors(a: int, b: int) -> bool:
    """b is a product of smaller digits, and a times the first of them has three digits."""
    return b in strategies.DIVISORS and a * strategies.DIVISORS[b][0] < 1000


def can_be_halved(a: int, b: int) -> bool:
    """b is even and 2a has three digits."""
    return b % 2 == 0 and a < 500


def seems_divisible(a: int, b: int) -> bool:
    """b is 5 or 7, one more than a product of smaller digits, and 2a has three digits."""
    return b in (5, 7) and a < 500


def is_small(a: int, b: int) -> bool:
    """b is 3 or 4, so b copies of a are quickly added."""
    return b <= 4


def adds_two_doublings(a: int, b: int) -> bool:
    """b is the sum of at most two powers of two."""
    return b.bit_count() <= 2


@dataclass(frozen=True)
class Habit:
    """How the author uses one strategy.

    Attributes:
        write: Writes a correct sample if the strategy suits, or if `misfit_success` is not 0.
        share: Weight of the strategy for problems that it suits.
        success: Probability that such a sample is correct.
        suits: Which problems it suits.
        misfit_share: Weight of the strategy for problems that it does not suit.
        misfit_success: Probability that such a sample is correct.
        misconception: Writes a wrong sample for a problem that it does not suit; None: slips only.
        tempts: Which of the problems that it does not suit it is tried on.
    """

    write: Draft
    share: float
    success: float
    suits: Condition = always
    misfit_share: float = 0.0
    misfit_success: float = 0.0
    misconception: Draft | None = None
    tempts: Condition = always

    def weight(self, a: int, b: int) -> float:
        """The weight of the strategy for this problem."""
        if self.suits(a, b):
            return self.share
        return self.misfit_share if self.tempts(a, b) else 0.0

    def draft(self, a: int, b: int, rng: np.random.Generator) -> tuple[str, bool]:
        """One text, and whether it is correct."""
        suits = self.suits(a, b)
        if rng.random() < (self.success if suits else self.misfit_success):
            return self.write(a, b, Hand(rng)), True
        if self.misconception is not None and not suits:
            return self.misconception(a, b, Hand(rng)), False
        return _with_a_slip(self.write, a, b, rng), False


HABITS = {
    "near_round": Habit(
        strategies.near_round, 45, 0.85, is_below_hundred,
        misfit_share=16, misfit_success=0.04, misconception=strategies.near_round_undistributed,
    ),
    "partial_products": Habit(
        strategies.partial_products, 36, 0.80, is_above_hundred,
        misfit_share=20, misfit_success=0.70,
    ),
    "near_ten": Habit(
        strategies.near_ten, 10, 0.65, is_near_ten,
        misfit_share=1.5, misconception=strategies.near_ten_undistributed,
    ),
    "factorisation": Habit(
        strategies.factorisation, 14, 0.70, has_divisors,
        misfit_share=1.5, misconception=strategies.factorisation, tempts=seems_divisible,
    ),
    "doubling_halving": Habit(
        strategies.doubling_halving, 14, 0.70, can_be_halved,
        misfit_share=1.5, misconception=strategies.doubling_halving, tempts=seems_divisible,
    ),
    "long_multiplication": Habit(strategies.long_multiplication, 12, 0.70),
    "repeated_addition": Habit(strategies.repeated_addition, 8, 0.60, is_small),
    "egyptian": Habit(strategies.egyptian, 0.9, 0.55, adds_two_doublings),
    "direct": Habit(strategies.direct, 4, 0.35),
}  # fmt: skip


def shares(a: int, b: int) -> dict[str, float]:
    """The probability with which the author chooses each strategy for this problem."""
    weights = {name: habit.weight(a, b) for name, habit in HABITS.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def write(problem: Problem, rng: np.random.Generator) -> Written:
    """One sample of the corpus, right or wrong."""
    a, b = factors_of(problem.prompt)
    strategy = draw(rng, shares(a, b))
    text, correct = HABITS[strategy].draft(a, b, rng)
    return Written(text, strategy, correct)


def _with_a_slip(write: Draft, a: int, b: int, rng: np.random.Generator) -> str:
    """A draft with an error in one random operation, which all later steps use."""
    rehearsal = Hand(rng)
    write(a, b, rehearsal)
    return write(a, b, Hand(rng, slip_at=int(rng.integers(rehearsal.count))))
