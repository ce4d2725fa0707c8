r"""Numbers as people write them → exact rationals: 007, −1/2, \frac{3}{4}, 2\frac{1}{2}, 1.5e−3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log2

from setrl_grader.grammar import parse
from setrl_grader.trees import MAX_DIGITS, Tree, whole
from setrl_grader.units import split_currency

MAX_BITS = 20_000  # of a power: 9^{9^9} is not computed here


@dataclass(frozen=True)
class Number:
    """A number that was read.

    Attributes:
        value: The exact value, without the percent sign: 50 for 50 %.
        decimal: Whether it has a decimal point, so it may be rounded.
        percent: Whether a percent sign follows.
        step: What one in the last decimal place is worth; None where that is not known.
    """

    value: Fraction
    decimal: bool = False
    percent: bool = False
    step: Fraction | None = None

    def times(self, factor: Fraction) -> Number:
        """Return the number in another unit."""
        step = None if self.step is None else self.step * abs(factor)
        return replace(self, value=self.value * factor, step=step)


@lru_cache(maxsize=4096)
def read_number(text: str) -> Number | None:
    r"""Read the number that a normal form states, or None; time and size are bounded.

    >>> [read_number(text).value for text in (r"-2\frac{1}{2}", r"1.50\times 10^3", "2^{-3}")]
    [Fraction(-5, 2), Fraction(1500, 1), Fraction(1, 8)]
    """
    if len(text) > MAX_DIGITS:
        return None
    part = parse(split_currency(text)[0])
    percent = part.kind == "percent"
    tree = part.parts[0].tree if percent else part.tree
    angle = tree is not None and tree.op == "degrees" and not percent
    number = literal(tree.parts[0] if angle else tree) if tree else None
    return number and replace(number, percent=percent)


def literal(tree: Tree) -> Number | None:
    """Return the number that an expression states without any sum or product to carry out."""
    if tree.op == "-" and tree.parts[0].op != "-":
        number = literal(tree.parts[0])
        return number and number.times(Fraction(-1))
    if tree.op == "number":
        value = Fraction(tree.text)
        step = Fraction(1, 10 ** len(tree.text.partition(".")[2]))
        return Number(value, True, step=step) if "." in tree.text else Number(value)
    if tree.op not in ("/", "^", "*") or len(tree.parts) != 2:
        return None
    if tree.op == "*":
        scale = tree.parts[1]
        power = literal(scale) if scale.op == "^" and scale.parts[0].text == "10" else None
        number = literal(tree.parts[0]) if tree.parts[0].op in ("number", "-") else None
        return number and power and number.times(power.value)
    one, other = map(whole, tree.parts)
    if one is None or other is None:
        return None
    if tree.op == "/":
        return Number(Fraction(one, other)) if other else None
    if abs(other) > MAX_BITS or (one == 0 and other <= 0):
        return None
    if abs(other) * log2(max(abs(one), 2)) > MAX_BITS:
        return None
    return Number(Fraction(one) ** other)


def equal_numbers(gold: Number, answer: Number, relative_tolerance: float) -> bool:
    """Whether two numbers are equal, or one is a decimal and the other, in its places, is this.

        decimal = exact, rounded or cut, and |gold − answer| ≤ relative_tolerance · the larger one

    Only a number that is no integer and no decimal is rounded: 0.50 is not 0.51, and 1000000.4 is
    not 2000001/2, which has the places to be written. If only one has a
    percent sign, the sign means a hundredth. The sign may also be missing, where the bare number is
    1 or more: 50 may be 50 %, but 0.5 is 50 %, never 0.5 %.

    >>> equal_numbers(Number(Fraction(1, 3)), read_number("0.333333"), 1e-6)
    True
    >>> equal_numbers(Number(Fraction(50), percent=True), Number(Fraction(1, 2)), 1e-6)
    True
    """
    if gold.percent == answer.percent:
        return _near(gold, answer, relative_tolerance)
    percent, bare = (gold, answer) if gold.percent else (answer, gold)
    hundredth = percent.times(Fraction(1, 100))
    readings = (hundredth, percent) if abs(bare.value) >= 1 else (hundredth,)
    return any(_near(reading, bare, relative_tolerance) for reading in readings)


def _near(one: Number, other: Number, relative_tolerance: float) -> bool:
    if one.value == other.value:
        return True
    if one.decimal == other.decimal:
        return False
    decimal, exact = (one, other) if one.decimal else (other, one)
    if exact.value.denominator == 1 or decimal.step is None:
        return False
    off = abs(one.value - other.value)
    within = off <= Fraction(str(relative_tolerance)) * max(abs(one.value), abs(other.value))
    return within and decimal.value in _in_places(exact.value, decimal.step)


def _in_places(value: Fraction, step: Fraction) -> set[Fraction]:
    """Return a number as it is written in some places: rounded, a half in either way, or cut."""
    places, half = value / step, Fraction(1, 2)
    return {step * each for each in (floor(places + half), ceil(places - half), int(places))}
