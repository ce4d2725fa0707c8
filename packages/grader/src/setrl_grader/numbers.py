r"""Numbers as people write them → exact rationals: 007, −1/2, \frac{3}{4}, 2\frac{1}{2}, 1.5e−3."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log2

from setrl_grader.normal_form import spaceless
from setrl_grader.shapes import unnamed
from setrl_grader.units import split_currency

MAX_DIGITS = 2_000
MAX_BITS = 20_000  # of a power: 9^{9^9} is left to a worker, which may be killed

_INTEGER = r"[+-]?\d+"
_EXPONENT = rf"(?:\{{({_INTEGER})\}}|({_INTEGER}))"
_FRACTION = re.compile(
    rf"([+-]?)(\d*)\\frac(?:\{{({_INTEGER})\}}|(\d))(?:\{{({_INTEGER})\}}|(\d))\Z"
)
_RATIO = re.compile(r"([+-]?\d+\.?)/(\d+\.?)\Z")
_MIXED = re.compile(r"([+-]?)(\d+) (\d+)/(\d+)\Z")
_REPEATING = re.compile(r"([+-]?)(\d*)\.(\d*)(?:\\overline\{(\d+)\}|\((\d+)\))\Z")
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
        step: What one in the last decimal place is worth; None where that is not known.
    """

    value: Fraction
    decimal: bool = False
    percent: bool = False
    step: Fraction | None = None


def read_number(text: str) -> Number | None:
    r"""Read the number that characters without spaces state, or None; time and size are bounded.

    >>> [read_number(text).value for text in (r"-2\frac{1}{2}", "1.50e3", "2^{-3}")]
    [Fraction(-5, 2), Fraction(1500, 1), Fraction(1, 8)]
    """
    if len(text) > MAX_DIGITS:
        return None
    plain = split_currency(text)[0]
    plain = plain[:-1] if plain.endswith(("%", "°")) else plain
    value = _fraction(plain) or _decimal(plain) or _power(plain) or _repeating(plain)
    if value is None:
        return None
    return replace(value, percent=text.endswith("%"))


@lru_cache(maxsize=4096)
def number_of(text: str) -> Number | None:
    """Return the number that a normal form states, without a name before it: x = 5 is 5."""
    return read_number(spaceless(unnamed(text)))


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
    hundredth = replace(
        percent, value=percent.value / 100, step=percent.step and percent.step / 100
    )
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
    r"""0.1\overline{6} and 0.1(6) are 1/6."""
    found = _REPEATING.match(text)
    if not found:
        return None
    sign, whole, fixed = found.groups()[:3]
    repeated = found[4] or found[5]
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
    power = Fraction(10) ** exponent
    if "." not in mantissa:
        return Number(Fraction(mantissa) * power)
    step = Fraction(1, 10 ** len(mantissa.partition(".")[2])) * power
    return Number(Fraction(mantissa) * power, decimal=True, step=step)


def _power(text: str) -> Number | None:
    found = _POWER.match(text)
    if not found:
        return None
    base, exponent = int(found[2]), int(found[3] or found[4])
    if abs(exponent) > MAX_BITS or (base == 0 and exponent <= 0):
        return None
    if abs(exponent) * log2(max(base, 2)) > MAX_BITS:
        return None
    value = Fraction(base) ** exponent
    return Number(-value if found[1] == "-" else value)
