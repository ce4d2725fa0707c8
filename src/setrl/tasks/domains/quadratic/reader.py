"""Verify a sample and read its strategy: the written steps identify the method.

A sample follows one of the eight methods if its steps have the form of that method, with correct or
wrong numbers; the first word is not enough. It is correct if every equation in it holds and both
roots are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains.base import Reading
from setrl.tasks.domains.quadratic.equation import Equation, Roots, coefficients

# All repetitions are bounded, so matching takes linear time on any sample.
_NATURAL = "(?:0|[1-9][0-9]{0,4})"
_NUMBER = "(?:0|-?[1-9][0-9]{0,4}(?:/[1-9][0-9]?)?)"
_SIGNED = "[+-](?:0|[1-9][0-9]{0,4}(?:/[1-9][0-9]?)?)"
_FACTOR = "(?:[2-9]|[1-9][0-9])?"
_LINEAR = rf"{_FACTOR}x[+-]{_NATURAL}"
_PAIR = rf"{_NUMBER},{_NUMBER}"
_SURD = rf"(?:\({_NUMBER}\+-r?{_NATURAL}\)/[1-9][0-9]?|{_NUMBER}\+-r?{_NATURAL}(?:/[1-9][0-9]?)?)"
_SURD_PARTS = re.compile(r"\(?([^(+]+)\+-(r?)([0-9]+)(?:/([0-9]+))?(?:\)/([0-9]+))?")
_TRIAL = re.compile(rf" P\(({_NUMBER})\)=({_NUMBER})")

Statement = tuple[bool, str]  # whether it holds, and the reason if it does not
Check = Callable[[re.Match[str], Equation], Iterator[Statement]]


class Form(NamedTuple):
    """How a method is written, and what its steps state about the equation."""

    strategy: str
    pattern: re.Pattern[str]
    check: Check


def read(equation: Equation, text: str) -> Reading:
    """Verify one sample and read its strategy."""
    form = FORMS.get(text[:32].partition(" ")[0])
    match = form.pattern.fullmatch(text) if form else None
    if form is None or match is None:
        return Reading(False, DEGENERATE, reason="not written as any of the methods")
    # A method that extracts a root writes x=centre+-root, then the answer if that differs.
    expression, answer = match.groupdict().get("expression"), match["answer"]
    final = answer or expression
    steps = (reason for holds, reason in form.check(match, equation) if not holds)
    endings = (reason for holds, reason in _ending(expression, answer, equation) if not holds)
    reason = next(steps, None) or next(endings, "")
    return Reading(not reason, form.strategy, _roots(final).text() if final else None, reason)


def _ending(expression: str | None, answer: str | None, equation: Equation) -> Iterator[Statement]:
    yield (expression or answer) is not None, "no roots are given"
    if expression is not None:
        yield _roots(expression) == equation.roots, f"x={expression} are not the roots"
        unfinished = answer is None and equation.roots.pair() is not None
        yield not unfinished, f"x={expression} is not worked out"
    if answer is not None:
        yield _roots(answer) == equation.roots, f"{answer} are not the roots"


@lru_cache(maxsize=65536)
def _roots(text: str) -> Roots:
    if "," in text:
        first, second = text.split(",")
        return Roots.of_pair(_number(first), _number(second))
    match = _SURD_PARTS.fullmatch(text)
    assert match is not None
    centre, surd, root, divisor, outer = match.groups()
    scale = Fraction(1, int(divisor or 1))
    radicand = int(root) * scale**2 if surd else (int(root) * scale) ** 2
    whole = int(outer or 1)
    return Roots(_number(centre) / whole, radicand / whole**2)


@lru_cache(maxsize=65536)
def _number(text: str) -> Fraction:
    return Fraction(text)


def _numbers(match: re.Match[str], *names: str) -> list[Fraction]:
    return [_number(match[name]) for name in names]


def _factoring(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    _, p, q = coefficients(match["first"])
    _, r, s = coefficients(match["second"])
    outer = int(match["outer"] or 1)
    product = (outer * p * r, outer * (p * s + q * r), outer * q * s)
    yield _is_equation(product, equation), "the brackets do not multiply out to the equation"


def _formula(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    a, b, c = equation
    square, rest, discriminant = _numbers(match, "square", "rest", "discriminant")
    yield square == b * b, f"the square of b is {b * b}, not {square}"
    yield rest == -4 * a * c, f"-4ac is {-4 * a * c}, not {rest}"
    yield discriminant == square + rest, f"D is {square + rest}, not {discriminant}"


def _square(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    a, b, c = equation
    half, squared, rest, value = _numbers(match, "half", "squared", "rest", "value")
    yield half == Fraction(b, 2 * a), f"half of b/a is {Fraction(b, 2 * a)}, not {half}"
    yield squared == half * half, f"the square of {half} is {half * half}, not {squared}"
    yield rest == Fraction(-c, a), f"-c/a is {Fraction(-c, a)}, not {rest}"
    yield value == squared + rest, f"the right-hand side is {squared + rest}, not {value}"


def _sum_product(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    a, b, c = equation
    first, second, total, product = _numbers(match, "first", "second", "total", "product")
    factors = _numbers(match, "left", "right")
    yield factors == [first, second], "the sum and the product are of different numbers"
    yield total == first + second, f"the sum is {first + second}, not {total}"
    yield total == Fraction(-b, a), f"the sum must be -b/a = {Fraction(-b, a)}, not {total}"
    yield product == first * second, f"the product is {first * second}, not {product}"
    yield product == Fraction(c, a), f"the product must be c/a = {Fraction(c, a)}, not {product}"


def _trial(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    values = [(_number(x), _number(value)) for x, value in _TRIAL.findall(match["trials"])]
    for x, value in values:
        candidate = equation.c % x.numerator == 0 if x else False
        yield candidate and equation.a % x.denominator == 0, f"{x} cannot be a root"
        yield value == equation.at(x), f"P({x}) is {equation.at(x)}, not {value}"
    pair = equation.roots.pair() or ()
    yield {x for x, value in values if value == 0} == set(pair), "not every root was found"


def _grouping(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    split = coefficients(match["split"])
    yield _is_equation(split, equation), "the split terms do not add up to the equation"
    _, p, q = coefficients(match["bracket"])
    yield match["bracket"] == match["again"], "the two brackets differ"
    outer, inner = coefficients(f"{match['outer']}x")[1], coefficients(f"{match['inner']}x")[1]
    grouped = (outer * p, outer * q + inner * p, inner * q)
    yield grouped == split, "the brackets do not multiply out to the split terms"


def _division(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    a, b, c = equation
    divisor, leading, middle, rest = _numbers(match, "divisor", "leading", "middle", "rest")
    root = -divisor
    yield leading == a, f"the row starts with {a}, not {leading}"
    yield middle == b + root * a, f"the second number is {b + root * a}, not {middle}"
    yield rest == c + root * middle, f"the remainder is {c + root * middle}, not {rest}"
    yield rest == 0, f"{root} is not a root"


def _midpoint(match: re.Match[str], equation: Equation) -> Iterator[Statement]:
    middle, again, given, value = _numbers(match, "middle", "again", "product", "value")
    centre, product = equation.roots.centre, Fraction(equation.c, equation.a)
    yield middle == again == centre, f"the middle of the roots is {centre}, not {middle}"
    yield given == product, f"the product must be c/a = {product}, not {given}"
    right = middle * middle - given
    yield value == right, f"d^2 is {right}, not {value}"


def _is_equation(product: tuple[int, int, int], equation: Equation) -> bool:
    """Return whether it is the left-hand side, or the left-hand side over its common factor."""
    common = gcd(*equation)
    return product in (equation, tuple(coefficient // common for coefficient in equation))


def _form(strategy: str, check: Check, steps: str, ending: str) -> Form:
    """Make a form: <name> in `steps` marks a number, <+name> a signed number."""
    steps = re.sub(r"<\+(\w+)>", lambda name: f"(?P<{name[1]}>{_SIGNED})", steps)
    steps = re.sub(r"(?<!P)<(\w+)>", lambda name: f"(?P<{name[1]}>{_NUMBER})", steps)
    return Form(strategy, re.compile(steps + ending), check)


_READ_OFF = rf" x=(?:none|(?P<answer>{_PAIR}))"
_EXTRACTED = rf" x=(?:none|(?P<expression>{_SURD})(?:=(?P<answer>{_PAIR}|{_SURD}))?)"
_BRACKETS = rf"(?P<outer>{_FACTOR})\((?P<first>{_LINEAR})\)\((?P<second>{_LINEAR})\)"
_SPLIT = rf"(?P<split>{_FACTOR}x\^2[+-]{_FACTOR}x[+-]{_FACTOR}x[+-]{_NATURAL})"
_GROUPED = (
    rf"(?P<outer>{_FACTOR})x\((?P<bracket>{_LINEAR})\)"
    rf"(?P<inner>[+-]{_FACTOR})\((?P<again>{_LINEAR})\)"
)
_TRIALS = rf"(?P<trials>(?:{_TRIAL.pattern}){{1,8}})"

FORMS: dict[str, Form] = {
    "factor": _form("factoring", _factoring, rf"factor {_BRACKETS}=0", _READ_OFF),
    "formula": _form("formula", _formula, "formula D=<square><+rest>=<discriminant>", _EXTRACTED),
    "square": _form(
        "completing_square",
        _square,
        r"square \(x<+half>\)\^2=<squared><+rest>=<value>",
        _EXTRACTED,
    ),
    "sum": _form(
        "sum_product",
        _sum_product,
        r"sum <first><+second>=<total> product <left>\*<right>=<product>",
        _READ_OFF,
    ),
    "try": _form("divisor_trial", _trial, f"try{_TRIALS}", _READ_OFF),
    "group": _form("grouping", _grouping, f"group {_SPLIT}={_GROUPED}", _READ_OFF),
    "divide": _form(
        "division", _division, "divide x<+divisor>: <leading>,<middle>,<rest>", _READ_OFF
    ),
    "middle": _form(
        "midpoint",
        _midpoint,
        r"middle \(<middle>-d\)\(<again>\+d\)=<product> d\^2=<value>",
        _EXTRACTED,
    ),
}
