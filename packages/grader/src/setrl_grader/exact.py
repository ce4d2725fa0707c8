"""The exact rational value of an expression, and its degree."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from setrl_grader.budget import of_digits, spend
from setrl_grader.trees import Tree, letters_of

MAX_EXPONENT = 1_000
MAX_COUNTED = 5_000  # of factorials and binomial coefficients
MAX_BITS = 400_000  # of all parts of an operation


def degree(tree: Tree) -> int:
    """Return a degree that a polynomial does not exceed; 99 if it is not a polynomial."""
    if tree.op == "letter":
        return 1
    if not letters_of(tree):
        return 0
    if tree.op in ("+", "-"):
        return max(map(degree, tree.parts))
    if tree.op == "*":
        return sum(map(degree, tree.parts))
    if tree.op == "/" and not letters_of(tree.parts[1]):
        return degree(tree.parts[0])
    return 99


def exact_value(tree: Tree, point: dict[str, Fraction]) -> Fraction | None:
    """Return the rational value of an expression; None where it has none."""
    if tree.op == "number":
        return Fraction(tree.text) if len(tree.text) < MAX_EXPONENT else None
    if tree.op == "letter":
        return point.get(tree.text)
    values = [exact_value(part, point) for part in tree.parts]
    known = [value for value in values if value is not None]
    bits = sum(each.numerator.bit_length() + each.denominator.bit_length() for each in known)
    spend(of_digits(bits / 10, len(values)))
    if tree.op not in _EXACT or len(known) < len(values) or bits > MAX_BITS:
        return None
    return _EXACT[tree.op](*known)


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    is_small = exponent.denominator == 1 and abs(exponent) * bits < 10 * MAX_EXPONENT
    return base ** int(exponent) if is_small and base else None


def _counted(function: Callable[..., int], *values: Fraction) -> Fraction | None:
    are_whole = all(value.denominator == 1 and 0 <= value <= MAX_COUNTED for value in values)
    return Fraction(function(*map(int, values))) if are_whole else None


def factorial(number: int) -> int:
    """Return n!, and pay for it."""
    spend(number * number / 1e5)
    return math.factorial(number)


def double_factorial(number: int) -> int:
    """Return n·(n − 2)·(n − 4)·…, and pay for it.

    >>> double_factorial(7), double_factorial(0)
    (105, 1)
    """
    spend(number * number / 1e5)
    return _steps(number, number // 2 + number % 2)


def _steps(top: int, count: int) -> int:
    """Return the product of so many numbers in steps of two; of halves, which are as long."""
    if count < 32:
        return math.prod(range(top, top - 2 * count, -2))
    half = count // 2
    return _steps(top, half) * _steps(top - 2 * half, count - half)


def choices(top: int, bottom: int) -> int:
    """Return a binomial coefficient, and pay for it."""
    spend(top * top / 1e5)
    return math.comb(top, bottom)


_EXACT: dict[str, Callable[..., Fraction | None]] = {
    "!": lambda value: _counted(factorial, value),
    "binom": lambda top, bottom: _counted(choices, top, bottom),
    "+": lambda *terms: sum(terms, Fraction(0)),
    "-": lambda value: -value,
    "*": lambda *factors: math.prod(factors, start=Fraction(1)),
    "/": lambda top, bottom: top / bottom if bottom else None,
    "^": _power,
}
