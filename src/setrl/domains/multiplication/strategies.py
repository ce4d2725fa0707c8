"""The strategies as an author writes them: a decomposition, its steps, the product.

Each function takes the two factors, a of three digits and b of one, and a `Hand`, which does the
arithmetic and may make one error, which all later steps use. The module `reader` reads the same
forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from setrl.domains.multiplication.expressions import places
from setrl.domains.multiplication.problems import below_hundred

DIVISORS = {4: (2, 2), 6: (2, 3), 8: (2, 4), 9: (3, 3)}


@dataclass
class Hand:
    """Arithmetic as an author does it: exact, except for the operation number `slip_at`.

    Attributes:
        rng: Chooses the digit that goes wrong.
        slip_at: The operation that goes wrong, counted from 0; None for no error.
        count: The number of operations done so far.
    """

    rng: np.random.Generator
    slip_at: int | None = None
    count: int = field(default=0, init=False)

    def __call__(self, exact: int) -> int:
        """The written result of an operation with this exact result."""
        slips = self.count == self.slip_at
        self.count += 1
        return self._slipped(exact) if slips else exact

    def _slipped(self, exact: int) -> int:
        """One of the last three digits off by one, as after a forgotten carry."""
        place = 10 ** int(self.rng.integers(min(len(str(exact)), 3)))
        lower = exact - place
        return lower if lower > 0 and self.rng.random() < 0.5 else exact + place


def near_round(a: int, b: int, hand: Hand) -> str:
    """298*7: (300-2)*7=2100-14=2086."""
    rest = below_hundred(a)
    left, right = hand((a + rest) * b), hand(rest * b)
    return f"({a + rest}-{rest})*{b}={left}-{right}={hand(left - right)}"


def near_round_undistributed(a: int, b: int, hand: Hand) -> str:
    """343*7: (400-57)*7=2800-57=2743, as if the rest were subtracted only once."""
    rest = below_hundred(a)
    left = hand((a + rest) * b)
    return f"({a + rest}-{rest})*{b}={left}-{rest}={hand(left - rest)}"


def near_ten(a: int, b: int, hand: Hand) -> str:
    """343*9: 343*(10-1)=3430-343=3087."""
    left, right = hand(10 * a), hand((10 - b) * a)
    return f"{a}*(10-{10 - b})={left}-{right}={hand(left - right)}"


def near_ten_undistributed(a: int, b: int, hand: Hand) -> str:
    """343*7: 343*(10-3)=3430-343=3087, as if 3 were 1."""
    left = hand(10 * a)
    return f"{a}*(10-{10 - b})={left}-{a}={hand(left - a)}"


def partial_products(a: int, b: int, hand: Hand) -> str:
    """343*7: (300+40+3)*7=2100+280+21=2380+21=2401."""
    return f"({_sum(places(a))})*{b}={_multiplied_out(a, b, hand)}"


def factorisation(a: int, b: int, hand: Hand) -> str:
    """343*6: 343*2*3=686*3=1800+240+18=2040+18=2058; 5 and 7 lose 1 to have divisors."""
    first, second = DIVISORS.get(b) or DIVISORS[b - 1]
    partial = hand(a * first)
    return f"{a}*{first}*{second}={partial}*{second}={_multiplied_out(partial, second, hand)}"


def doubling_halving(a: int, b: int, hand: Hand) -> str:
    """343*6: 686*3=1800+240+18=2040+18=2058; half of an odd number is rounded down."""
    doubled, halved = hand(2 * a), b // 2
    return f"{doubled}*{halved}={_multiplied_out(doubled, halved, hand)}"


def long_multiplication(a: int, b: int, hand: Hand) -> str:
    """343*7: 3*7=21,4*7+2=30,3*7+3=24:2401, digit by digit from the right, with the carries."""
    carry, units, rows = 0, "", list[str]()
    for digit in reversed(str(a)):
        row = hand(int(digit) * b + carry)
        rows.append(f"{digit}*{b}+{carry}={row}" if rows else f"{digit}*{b}={row}")
        carry, units = row // 10, f"{row % 10}{units}"
    return f"{','.join(rows)}:{int(f'{carry}{units}')}"


def egyptian(a: int, b: int, hand: Hand) -> str:
    """343*5: 343,686,1372:1372+343=1715, doublings, and the sum of those that add up to 5."""
    table = [a]
    while len(table) < b.bit_length():
        table.append(hand(2 * table[-1]))
    rows = [row for power, row in enumerate(table) if b >> power & 1]
    return f"{','.join(map(str, table))}:{_added(rows[::-1], hand)}"


def repeated_addition(a: int, b: int, hand: Hand) -> str:
    """343*3: 343+343+343=686+343=1029."""
    return _added([a] * b, hand)


def direct(a: int, b: int, hand: Hand) -> str:
    """343*7: 2401, without a step."""
    return str(hand(a * b))


def _multiplied_out(x: int, y: int, hand: Hand) -> str:
    """The products of the digits of x with y, and their sum."""
    return _added([hand(place * y) for place in places(x)], hand)


def _added(terms: list[int], hand: Hand) -> str:
    """The terms, then neighbours added in pairs from the left, down to one number."""
    sums = [terms]
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [hand(sum(pair)) if len(pair) == 2 else pair[0] for pair in pairs]
        sums.append(terms)
    return "=".join(map(_sum, sums))


def _sum(terms: list[int]) -> str:
    return "+".join(map(str, terms))
