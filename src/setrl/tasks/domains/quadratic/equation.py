"""Quadratic equations and their roots in exact arithmetic, and how both are written."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import isqrt, lcm
from typing import NamedTuple

_TERM = r"(?:[0-9]+(?:x\^2|x)?|x\^2|x)"
_SUM = rf"[+-]?{_TERM}(?:[+-]{_TERM})*"
_PROMPT = re.compile(rf"({_SUM})=({_SUM}): ")
_PARTS = re.compile(r"([+-]?)([0-9]*)(x\^2|x|)")


class Roots(NamedTuple):
    """centre ± √radicand: the two roots of any real quadratic, exactly."""

    centre: Fraction
    radicand: Fraction

    @classmethod
    def of_pair(cls, first: Fraction, second: Fraction) -> Roots:
        """Make the roots from a pair of numbers, in either order."""
        return cls((first + second) / 2, ((first - second) / 2) ** 2)

    def pair(self) -> tuple[Fraction, Fraction] | None:
        """Return the two numbers in ascending order; None if they are irrational."""
        root = square_root(self.radicand)
        return None if root is None else (self.centre - root, self.centre + root)

    def text(self) -> str:
        """Write the normal form: 2,3 or 1/2,3 or 3+-r5 or (3+-r5)/2, with the least denominator."""
        pair = self.pair()
        if pair is not None:
            return ",".join(map(str, pair))
        denominator = lcm(self.centre.denominator, _root_denominator(self.radicand))
        centre = self.centre * denominator
        surd = f"{centre}+-r{self.radicand * denominator**2}"
        return surd if denominator == 1 else f"({surd})/{denominator}"


class Equation(NamedTuple):
    """ax² + bx + c = 0 with two different real roots."""

    a: int
    b: int
    c: int

    @property
    def discriminant(self) -> int:
        """b² − 4ac."""
        return self.b**2 - 4 * self.a * self.c

    @property
    def roots(self) -> Roots:
        """−b/2a ± √(D/4a²)."""
        return Roots(
            Fraction(-self.b, 2 * self.a), Fraction(self.discriminant, 4 * self.a * self.a)
        )

    def at(self, x: Fraction) -> Fraction:
        """Return the value of the left-hand side at x."""
        return self.a * x * x + self.b * x + self.c


def square_root(value: Fraction) -> Fraction | None:
    """Return the rational square root, or None if the root is not rational."""
    if value < 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def _root_denominator(radicand: Fraction) -> int:
    """Return the least q for which q²·radicand is an integer."""
    return next(q for q in range(1, radicand.denominator + 1) if q * q % radicand.denominator == 0)


def signed(value: Fraction | int) -> str:
    """Write a number with its sign in front, as the second term of a sum."""
    return f"+{value}" if value >= 0 else str(value)


def term(coefficient: Fraction | int, power: str) -> str:
    """Write a signed term, without a factor of 1; a term of 0 is empty."""
    if coefficient == 0:
        return ""
    if power and abs(coefficient) == 1:
        return f"+{power}" if coefficient > 0 else f"-{power}"
    return f"{signed(coefficient)}{power}"


def polynomial(a: int, b: int, c: int) -> str:
    """Write ax^2+bx+c in the usual notation; 0 if all terms are 0."""
    written = term(a, "x^2") + term(b, "x") + term(c, "")
    return written.removeprefix("+") or "0"


def coefficients(text: str) -> tuple[int, int, int]:
    """Return (a, b, c) of a sum whose terms are multiples of x^2, x or 1."""
    sums = {"x^2": 0, "x": 0, "": 0}
    for sign, digits, power in _PARTS.findall(text):
        if digits or power:
            sums[power] += int(f"{sign}{digits or 1}")
    return sums["x^2"], sums["x"], sums[""]


@lru_cache(maxsize=65536)
def parse(prompt: str) -> Equation:
    """Read the equation of a prompt in the form ax² + bx + c = 0.

    Raises:
        ValueError: If the prompt is not a quadratic equation with two different real roots.
    """
    match = _PROMPT.fullmatch(prompt)
    if match is not None:
        left, right = coefficients(match[1]), coefficients(match[2])
        equation = Equation(*(p - q for p, q in zip(left, right, strict=True)))
        if equation.a and equation.discriminant > 0:
            return equation
    raise ValueError(
        f"prompt must look like 'x^2-5x+6=0: ' and have two real roots, got {prompt!r}"
    )
