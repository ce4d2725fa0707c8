"""The author of the corpus: how each strategy is written, when it is chosen, and how it goes wrong.

A function writes one strategy: a decomposition, its steps, the product. It takes the two factors (a
has three digits, b has one) and the `Arithmetic` that it computes with, which may make one error;
all later steps use the wrong number. The module `reader` reads the same forms.

If the strategy suits the problem, the author's errors are slips, anywhere in the steps. If it does
not, they are a misconception, always the same one. The most probable text is then a wrong one,
however well a model learns to imitate the author.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from setrl.tasks.domains.base import Hand, Written, draw, with_a_slip
from setrl.tasks.domains.multiplication.expressions import places

DIVISORS = {4: (2, 2), 6: (2, 3), 8: (2, 4), 9: (3, 3)}


class Arithmetic(Hand):
    """Arithmetic as an author does it."""

    def __call__(self, exact: int) -> int:
        """Return the number that the author writes for an operation with this exact result."""
        return self._slipped(exact) if self.slips() else exact

    def _slipped(self, exact: int) -> int:
        """Return the number with one of its last three digits off by one: a forgotten carry."""
        place = 10 ** int(self.rng.integers(min(len(str(exact)), 3)))
        lower = exact - place
        return lower if lower > 0 and self.rng.random() < 0.5 else exact + place


Draft = Callable[[int, int, Arithmetic], str]
Condition = Callable[[int, int], bool]


def below_hundred(a: int) -> int:
    """Return how far a is below the next multiple of a hundred, from 1 to 100."""
    return 100 - a % 100


def near_round(a: int, b: int, hand: Arithmetic, once: bool = False) -> str:
    """Write `(300-2)*7=2100-14=2086` for 298*7.

    `once` subtracts the rest only once, as if it were not multiplied: (300-2)*7=2100-2=2098.
    """
    rest = below_hundred(a)
    left = hand((a + rest) * b)
    right = rest if once else hand(rest * b)
    return f"({a + rest}-{rest})*{b}={left}-{right}={hand(left - right)}"


def near_ten(a: int, b: int, hand: Arithmetic, once: bool = False) -> str:
    """Write `343*(10-1)=3430-343=3087` for 343*9.

    `once` subtracts the number only once for 343*7, as if 3 were 1: 343*(10-3)=3430-343=3087.
    """
    left = hand(10 * a)
    right = a if once else hand((10 - b) * a)
    return f"{a}*(10-{10 - b})={left}-{right}={hand(left - right)}"


def partial_products(a: int, b: int, hand: Arithmetic) -> str:
    """Write `(300+40+3)*7=2100+280+21=2380+21=2401` for 343*7."""
    return f"({_sum(places(a))})*{b}={_multiplied_out(a, b, hand)}"


def factorisation(a: int, b: int, hand: Arithmetic) -> str:
    """Write `343*2*3=686*3=1800+240+18=2040+18=2058` for 343*6; 5 and 7 lose 1 to have divisors."""
    first, second = DIVISORS.get(b) or DIVISORS[b - 1]
    partial = hand(a * first)
    return f"{a}*{first}*{second}={partial}*{second}={_multiplied_out(partial, second, hand)}"


def doubling_halving(a: int, b: int, hand: Arithmetic) -> str:
    """Write `686*3=1800+240+18=2040+18=2058` for 343*6; half of an odd number is rounded down."""
    doubled, halved = hand(2 * a), b // 2
    return f"{doubled}*{halved}={_multiplied_out(doubled, halved, hand)}"


def long_multiplication(a: int, b: int, hand: Arithmetic) -> str:
    """Write `3*7=21,4*7+2=30,3*7+3=24:2401` for 343*7: from the right, with the carries."""
    carry, units, rows = 0, "", list[str]()
    for digit in reversed(str(a)):
        row = hand(int(digit) * b + carry)
        rows.append(f"{digit}*{b}+{carry}={row}" if rows else f"{digit}*{b}={row}")
        carry, units = row // 10, f"{row % 10}{units}"
    return f"{','.join(rows)}:{int(f'{carry}{units}')}"


def egyptian(a: int, b: int, hand: Arithmetic) -> str:
    """Write `343,686,1372:1372+343=1715` for 343*5: doublings, and the sum of some of them."""
    table = [a]
    while len(table) < b.bit_length():
        table.append(hand(2 * table[-1]))
    rows = [row for power, row in enumerate(table) if b >> power & 1]
    return f"{','.join(map(str, table))}:{_added(rows[::-1], hand)}"


def repeated_addition(a: int, b: int, hand: Arithmetic) -> str:
    """Write `343+343+343=686+343=1029` for 343*3."""
    return _added([a] * b, hand)


def direct(a: int, b: int, hand: Arithmetic) -> str:
    """Write `2401` for 343*7, without a step."""
    return str(hand(a * b))


def _multiplied_out(x: int, y: int, hand: Arithmetic) -> str:
    """Write the products of the digits of x with y, and their sum."""
    return _added([hand(place * y) for place in places(x)], hand)


def _added(terms: list[int], hand: Arithmetic) -> str:
    """Write the terms, then add neighbours in pairs from the left, down to one number."""
    sums = [terms]
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [hand(sum(pair)) if len(pair) == 2 else pair[0] for pair in pairs]
        sums.append(terms)
    return "=".join(map(_sum, sums))


def _sum(terms: list[int]) -> str:
    return "+".join(map(str, terms))


def always(a: int, b: int) -> bool:
    """Suit every problem."""
    return True


def has_divisors(a: int, b: int) -> bool:
    """Return whether b is a product of smaller digits and a times the first has three digits."""
    return b in DIVISORS and a * DIVISORS[b][0] < 1000


def seems_divisible(a: int, b: int) -> bool:
    """Return whether b is 5 or 7, one more than a product of digits, and 2a has three digits."""
    return b in (5, 7) and a < 500


@dataclass(frozen=True)
class Habit:
    """How the author uses one strategy.

    Attributes:
        write: Writes a correct sample, if the strategy suits or if `misfit_success` is not 0.
        share: Weight of the strategy for problems that it suits.
        success: Probability that such a sample is correct.
        suits: Which problems it suits.
        misfit_share: Weight of the strategy for problems that it does not suit.
        misfit_success: Probability that such a sample is correct.
        misconception: Writes a wrong sample for a problem that the strategy does not suit; None:
            the author only slips.
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
        """Return the weight of the strategy for this problem."""
        if self.suits(a, b):
            return self.share
        return self.misfit_share if self.tempts(a, b) else 0.0

    def draft(self, a: int, b: int, rng: np.random.Generator) -> tuple[str, bool]:
        """Write one draft; return it, and whether it is correct."""
        suits = self.suits(a, b)
        if rng.random() < (self.success if suits else self.misfit_success):
            return self.write(a, b, Arithmetic(rng)), True
        if self.misconception is not None and not suits:
            return self.misconception(a, b, Arithmetic(rng)), False
        return with_a_slip(partial(self.write, a, b), Arithmetic, rng), False


HABITS = {
    "near_round": Habit(
        near_round, 45, 0.85, lambda a, b: below_hundred(a) < 20,
        misfit_share=16, misfit_success=0.04, misconception=partial(near_round, once=True),
    ),
    "partial_products": Habit(
        partial_products, 36, 0.80, lambda a, b: a % 100 < 20,  # just above a hundred
        misfit_share=20, misfit_success=0.70,
    ),
    "near_ten": Habit(
        near_ten, 10, 0.65, lambda a, b: b >= 8,
        misfit_share=1.5, misconception=partial(near_ten, once=True),
    ),
    "factorisation": Habit(
        factorisation, 14, 0.70, has_divisors,
        misfit_share=1.5, misconception=factorisation, tempts=seems_divisible,
    ),
    "doubling_halving": Habit(
        # b is even and 2a has three digits.
        doubling_halving, 14, 0.70, lambda a, b: b % 2 == 0 and a < 500,
        misfit_share=1.5, misconception=doubling_halving, tempts=seems_divisible,
    ),
    "long_multiplication": Habit(long_multiplication, 12, 0.70),
    "repeated_addition": Habit(
        repeated_addition, 8, 0.60, lambda a, b: b <= 4,  # few copies of a are quickly added
    ),
    "egyptian": Habit(
        egyptian, 0.9, 0.55, lambda a, b: b.bit_count() <= 2,  # at most two powers of two
    ),
    "direct": Habit(direct, 4, 0.35),
}  # fmt: skip


def shares(a: int, b: int) -> dict[str, float]:
    """Return the probability with which the author chooses each strategy for this problem."""
    weights = {name: habit.weight(a, b) for name, habit in HABITS.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def write(a: int, b: int, rng: np.random.Generator) -> Written:
    """Write one sample of the corpus, right or wrong."""
    strategy = draw(rng, shares(a, b))
    text, correct = HABITS[strategy].draft(a, b, rng)
    return Written(text, strategy, correct)
