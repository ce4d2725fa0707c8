r"""Numbers as people write them → exact rationals: 007, −1/2, \frac{3}{4}, 2\frac{1}{2}, 1.5e−3."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import log2

MAX_DIGITS = 2_000
MAX_BITS = 20_000  # of a power: 9^{9^9} is left to a worker, which may be killed

_INTEGER = r"[+-]?\d+"
_EXPONENT = rf"(?:\{{({_INTEGER})\}}|({_INTEGER}))"
_FRACTION = re.compile(
    rf"([+-]?)(\d*)\\frac(?:\{{({_INTEGER})\}}|(\d))(?:\{{({_INTEGER})\}}|(\d))\Z"
)
_RATIO = re.compile(r"([+-]?\d+\.?)/(\d+\.?)\Z")
_MIXED = re.compile(r"([+-]?)(\d+) (\d+)/(\d+)\Z")
_REPEATING = re.compile(r"([+-]?)(\d*)\.(\d*)\\overline\{(\d+)\}\Z")
_DECIMAL = re.compile(
    rf"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:(?:\\times|\\cdot|\*)10\^{_EXPONENT}|[eE]({_INTEGER}))?\Z"
)
_POWER = re.compile(rf"([+-]?)(\d+)\^{_EXPONENT}\Z")


@dataclass(frozen=True)
class Number:
    """A number that was read.

    Attributes:
        value: The exact value, without the percent sign: 50 for 50 %.
        decimal: Whether it has a decimal point, so it may be rounded.
        percent: Whether a percent sign follows.
    """

    value: Fraction
    decimal: bool = False
    percent: bool = False


def read_number(text: str) -> Number | None:
    r"""Read the number that characters without spaces state, or None; time and size are bounded.

    >>> [read_number(text).value for text in (r"-2\frac{1}{2}", "1.50e3", "2^{-3}")]
    [Fraction(-5, 2), Fraction(1500, 1), Fraction(1, 8)]
    """
    if len(text) > MAX_DIGITS:
        return None
    plain = text.removesuffix("%").removesuffix("°")
    value = _fraction(plain) or _decimal(plain) or _power(plain) or _repeating(plain)
    if value is None:
        return None
    return Number(value.value, value.decimal, percent=text.endswith("%"))


def equal_numbers(gold: Number, answer: Number, relative_tolerance: float) -> bool:
    """Whether two numbers are equal, up to a tolerance if one of them is a decimal.

        |gold − answer| ≤ relative_tolerance · max(|gold|, |answer|)

    The tolerance applies if one has a decimal point and not both are integers; everything else is
    exact. If only one has a percent sign, the sign may mean a hundredth or be ignored.

    >>> third = Number(Fraction(1, 3))
    >>> equal_numbers(third, Number(Fraction("0.333333"), decimal=True), 1e-6)
    True
    >>> equal_numbers(Number(Fraction(50), percent=True), Number(Fraction(1, 2)), 1e-6)
    True
    """
    decimal = gold.decimal or answer.decimal
    tolerance = Fraction(str(relative_tolerance)) if decimal else Fraction(0)
    if gold.percent == answer.percent:
        return _near(gold.value, answer.value, tolerance)
    percent, bare = (gold, answer) if gold.percent else (answer, gold)
    readings = (percent.value, percent.value / 100)
    return any(_near(reading, bare.value, tolerance) for reading in readings)


def _near(a: Fraction, b: Fraction, tolerance: Fraction) -> bool:
    if a == b:
        return True
    if not tolerance or a.denominator == b.denominator == 1:
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _fraction(text: str) -> Number | None:
    if ratio := _RATIO.match(text):
        return _divide(*(int(part.rstrip(".")) for part in ratio.groups()))
    if mixed := _MIXED.match(text):
        return _mixed(mixed[1], *(int(part) for part in mixed.groups()[1:]))
    found = _FRACTION.match(text)
    if not found:
        return None
    sign, whole, *parts = found.groups()
    numerator, denominator = (int(part) for part in parts if part is not None)
    if whole:
        return _mixed(sign, int(whole), numerator, denominator)
    ratio_read = _divide(numerator, denominator)
    return Number(-ratio_read.value) if ratio_read and sign == "-" else ratio_read


def _mixed(sign: str, whole: int, numerator: int, denominator: int) -> Number | None:
    r"""Read 2 1/2; 3\frac{4}{2} is more likely a product, so it is not read."""
    if not 0 <= numerator < denominator:
        return None
    value = whole + Fraction(numerator, denominator)
    return Number(-value if sign == "-" else value)


def _repeating(text: str) -> Number | None:
    r"""0.1\overline{6} is 1/6."""
    found = _REPEATING.match(text)
    if not found:
        return None
    sign, whole, fixed, repeated = found.groups()
    value = Fraction(int((whole or "0") + fixed)) + Fraction(int(repeated), 10 ** len(repeated) - 1)
    value /= 10 ** len(fixed)
    return Number(-value if sign == "-" else value)


def _divide(numerator: int, denominator: int) -> Number | None:
    return Number(Fraction(numerator, denominator)) if denominator else None


def _decimal(text: str) -> Number | None:
    found = _DECIMAL.match(text)
    if not found:
        return None
    mantissa, *exponents = found.groups()
    exponent = int(next((each for each in exponents if each), "0"))
    if abs(exponent) > MAX_DIGITS:
        return None
    return Number(Fraction(mantissa) * Fraction(10) ** exponent, decimal="." in mantissa)


def _power(text: str) -> Number | None:
    found = _POWER.match(text)
    if not found:
        return None
    base, exponent = int(found[2]), int(found[3] or found[4])
    if abs(exponent) * log2(max(base, 2)) > MAX_BITS or (base == 0 and exponent <= 0):
        return None
    value = Fraction(base) ** exponent
    return Number(-value if found[1] == "-" else value)
