r"""Expressions as numbers of sixty digits at many points: what is not a rational function.

Values are real where they can be: √x of a negative x is undefined, and points where one side is
undefined say nothing, so that √x·√x is x and √(x²) is not. Where i occurs, values are complex.
mpmath may be slow on huge arguments: workers that may be killed call this.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath

from setrl.grading.expressions import Tree, has, letters_of
from setrl.grading.modular import drawn
from setrl.grading.numbers import Number, equal_numbers, read_number
from setrl.grading.reals import exact_value

DIGITS = 60
CONFIRMING_DIGITS = (1_000, 20_000)  # √(10⁸⁰ + 1) is 10⁴⁰ in sixty digits; at least and at most
CANCELLED = 20  # digits that rounding and cancellation may take
SHOWN_DIGITS = 20
MAX_EXPONENT = 10**6
MAX_FACTORIAL = 10**5
MAX_COUNT = 1_000
MAX_DEGREE = 8  # of polynomials within |u| and √u
POINTS, NEEDED = 8, 3
_ODD = 0.4837  # so that no point is 1, where (x − 1)/(√x − 1) has no value
_COUNTS = {"!", "!!", "binom"}


class UndefinedError(Exception):
    """The expression has no value at this point."""


class TooLargeError(Exception):
    """The expression may have a value at this point, which takes too long to find."""


def equal_numeric(one: Tree, other: Tree, relative_tolerance: float) -> bool | None:
    r"""Whether two expressions agree at random points; None where too few have values.

    A degree mark outside of functions may be a unit (30° is 30) or an angle (30° is π/6).

    Args:
        one: The gold.
        other: The answer.
        relative_tolerance: How far a decimal that is a whole side may be from the number that it
            rounds, if that is not an integer. All else agrees in 40 digits and in 980.
    """
    verdict: bool | None = None
    bare = any(tree.op == "degrees" and not has(tree, {"apply"}) for tree in (one, other))
    for bare_degrees in (False, True) if bare else (False,):
        rounded = _rounded(one, other, relative_tolerance, bare_degrees)
        verdict = rounded or _agree(one, other, bare_degrees, DIGITS)
        if verdict and not rounded:
            verdict = _confirmed(one, other, bare_degrees)
        if verdict:
            break
    return verdict


def separating_point(one: Tree, other: Tree) -> tuple[str, str, str] | None:
    """Return a point at which two expressions differ, and both values; None if none was found."""
    with mpmath.workdps(DIGITS):
        points = _points(one, other)
        for point in points + _piece_points([one, other], points):
            values = [_value_at(tree, point, False) for tree in (one, other)]
            if any(value is NotImplemented for value in values) or values == [None, None]:
                continue
            if None in values or _near(*values) is False:
                texts = ["undefined" if value is None else _short(value) for value in values]
                at = ", ".join(f"{letter} = {_short(value)}" for letter, value in point.items())
                return at, texts[0], texts[1]
    return None


def _short(value: Any) -> str:
    return str(mpmath.nstr(value, SHOWN_DIGITS))


def _rounded(one: Tree, other: Tree, relative_tolerance: float, bare_degrees: bool) -> bool:
    """Whether one side is a decimal, and the other a number that it rounds or cuts."""
    numbers = as_number(one), as_number(other)
    if letters_of(one) or letters_of(other) or (numbers[0] is None) == (numbers[1] is None):
        return False
    number, exact = (numbers[0], other) if numbers[0] else (numbers[1], one)
    assert number is not None
    with mpmath.workdps(DIGITS):
        try:
            value = _value(exact, _Context({}, exact, bare_degrees))
        except (UndefinedError, TooLargeError, ZeroDivisionError, ValueError, OverflowError):
            return False
        if mpmath.im(value) or abs(value - mpmath.nint(value)) < mpmath.mpf(10) ** -30:
            return False
        near = Fraction(int(value * 10**DIGITS), 10**DIGITS)
    return equal_numbers(Number(near, decimal=True), number, relative_tolerance)


def as_number(tree: Tree) -> Number | None:
    """Return the decimal that an expression is: 1.5, −1.5 or 1.5·10⁶; None for any other one."""
    if tree.op == "number" and "." in tree.text:
        return read_number(tree.text)
    parts = [as_number(tree.parts[0])] if tree.op in ("-", "*") else [None]
    if parts[0] is None or parts[0].step is None:
        return None
    factor = Fraction(-1)
    if tree.op == "*":
        scale = tree.parts[1]
        if len(tree.parts) != 2 or scale.op != "^" or scale.parts[0].text != "10":
            return None
        exponent = scale.parts[1].parts[0] if scale.parts[1].op == "-" else scale.parts[1]
        if not exponent.text.isdigit() or len(exponent.text) > 4:
            return None
        power = int(exponent.text)
        factor = Fraction(10) ** (-power if scale.parts[1].op == "-" else power)
    return Number(parts[0].value * factor, True, step=abs(parts[0].step * factor))


def _confirmed(one: Tree, other: Tree, bare_degrees: bool) -> bool | None:
    """Whether two that agree in sixty digits agree in many more; None if that takes too many.

    The digits are twice those of the largest and the smallest number that occurs: √2 + 10⁻²⁰⁰⁰ is
    √2 in a thousand digits.
    """
    least, most = CONFIRMING_DIGITS
    span = max(_span(tree, point) for tree in (one, other) for point in _points(one, other)[:1])
    needed = max(least, 2 * span + 2 * CANCELLED)
    if needed > most:
        return None
    verdict = _agree(one, other, bare_degrees, needed)
    return _agree(one, other, bare_degrees, most) if verdict is None else verdict


def _span(tree: Tree, point: Mapping[str, Any]) -> int:
    """Return the digits of the largest value within an expression, or of the smallest below 1."""
    values = [tree, *tree.parts] if tree.op == r"\tanh" else [tree]
    sizes = [_value_at(each, point, False) for each in values]
    known = [size for size in sizes if size is not None and size is not NotImplemented and size]
    digits = [abs(int(mpmath.log10(abs(size)))) for size in known]
    if tree.op == r"\tanh" and len(known) == 2:  # 1 − tanh u is about 2·exp(−2u)
        digits.append(int(abs(known[1])))
    return max([0, *digits, *(_span(part, point) for part in tree.parts)])


def _agree(one: Tree, other: Tree, bare_degrees: bool, digits: int) -> bool | None:
    with mpmath.workdps(digits):
        points = _points(one, other)
        if digits == DIGITS:
            points += _piece_points([one, other], points)
        verdict = _agree_at_points(one, other, points, bare_degrees)
        if verdict is None and _is_counted(one, other, points, bare_degrees):
            verdict = _agree_at_points(one, other, _whole_points(one, other), bare_degrees)
        return verdict


def _agree_at_points(
    one: Tree, other: Tree, points: list[dict[str, Any]], bare_degrees: bool
) -> bool | None:
    defined = 0
    whole_domain = has(one, {"abs", "root"})  # each piece of such a gold must be seen
    for point in points:
        value = _value_at(one, point, bare_degrees)
        if value is None or value is NotImplemented:
            continue
        found = _value_at(other, point, bare_degrees)
        if found is None and whole_domain:
            return False
        near = None if found is None or found is NotImplemented else _near(value, found)
        if near is False and not _near_in_more_digits(one, other, point, bare_degrees):
            return False
        defined += near is True
    letters = letters_of(one) | letters_of(other)
    return True if defined >= (NEEDED if letters else 1) else None


def _near_in_more_digits(
    one: Tree, other: Tree, point: Mapping[str, Any], bare_degrees: bool
) -> bool:
    """Whether only cancellation keeps two values apart, as in cosh² x − sinh² x."""
    with mpmath.workdps(CONFIRMING_DIGITS[0]):
        values = [_value_at(tree, point, bare_degrees) for tree in (one, other)]
        found = all(value is not None and value is not NotImplemented for value in values)
        return found and _near(*values) is True


def _value_at(tree: Tree, point: Mapping[str, Any], bare_degrees: bool) -> Any:
    """Return the value at a point; None without one, NotImplemented where it is too large."""
    try:
        return _value(tree, _Context(point, tree, bare_degrees))
    except (TooLargeError, OverflowError):
        return NotImplemented
    except (UndefinedError, ZeroDivisionError, ValueError):
        return None


def _near(one: Any, other: Any) -> bool | None:
    """Whether two values are equal but for rounding; None where this is unknown."""
    scale, digits = max(abs(one), abs(other)), mpmath.mp.dps
    if digits > DIGITS and scale > mpmath.mpf(10) ** (digits // 2):  # 2024! + 1 is 2024! here
        return None
    if scale < mpmath.mpf(10) ** (CANCELLED - digits):  # cancellation hides the value
        return True if one == other else None
    return bool(abs(one - other) <= mpmath.mpf(10) ** (CANCELLED - digits) * scale)


# ------------------------------------------------------------------ points


def _points(one: Tree, other: Tree) -> list[dict[str, Any]]:
    """Points of both signs and of several sizes; positive integers where something is counted."""
    letters = sorted(letters_of(one) | letters_of(other))
    if not letters:
        return [{}]
    if has(one, _COUNTS) or has(other, _COUNTS):
        return _whole_points(one, other)
    rng = random.Random("\n".join(letters))
    scales = [Fraction(1)] * POINTS + [Fraction(1, 10**3), Fraction(40), Fraction(10**3)]
    scales += [Fraction(1, 4)] * NEEDED  # where arcsin has values
    return [
        {letter: _real(rng, at) * mpmath.mpf(scale) for letter in letters}
        for at, scale in enumerate(map(_as_float, scales))
    ]


def _as_float(scale: Fraction) -> Any:
    return mpmath.mpf(scale.numerator) / scale.denominator


def _real(rng: random.Random, at: int) -> Any:
    value = mpmath.mpf(rng.randint(300, 3000)) / 1009
    return -value if at >= POINTS // 2 and rng.random() < 0.5 else value


def _whole_points(one: Tree, other: Tree) -> list[dict[str, Any]]:
    """Integers on both sides of where a binomial coefficient begins; none if that is too far."""
    letters = sorted(letters_of(one) | letters_of(other))
    rng = random.Random("\n".join(letters))
    most = max(14, _reach(one), _reach(other))
    if most > MAX_COUNT:
        return []
    ranges = [(0, 14), (most, 2 * most + 14)] * POINTS
    points = [{letter: mpmath.mpf(rng.randint(*ends)) for letter in letters} for ends in ranges]
    near = {constant + off for constant in {0, *_constants(one), *_constants(other)}
            for off in range(-2, 5)}  # fmt: skip
    at = [mpmath.mpf(each) for each in sorted(near) if 0 <= each <= MAX_COUNT]
    return points + [{**points[0], letter: each} for letter in letters for each in at]


def _reach(tree: Tree, counted: bool = False) -> int:
    """Return how far from 0 a constant within a factorial or a binomial coefficient may act."""
    if not counted:
        inside = [_reach(part, tree.op in _COUNTS) for part in tree.parts]
        return max([0, *inside])
    value = None if letters_of(tree) else exact_value(tree, {})
    if value is not None or not tree.parts:
        return min(abs(int(value or 0)), MAX_COUNT + 1)
    parts = [_reach(part, counted=True) for part in tree.parts]
    return sum(parts) if tree.op in ("+", "-") else math.prod(max(1, part) for part in parts)


def _constants(tree: Tree) -> list[int]:
    if tree.op == "number" and tree.text.isdigit() and len(tree.text) < 10:
        return [int(tree.text)]
    return [constant for part in tree.parts for constant in _constants(part)]


def _is_counted(one: Tree, other: Tree, points: list[dict[str, Any]], bare_degrees: bool) -> bool:
    """Whether letters are whole numbers: (−1)ⁿ has no value elsewhere."""
    letters = letters_of(one) | letters_of(other)
    if not letters or has(one, _COUNTS) or has(other, _COUNTS):
        return False
    if letters <= {"n", "k", "m"}:
        return True
    return all(_value_at(one, point, bare_degrees) is None for point in points)


def _piece_points(trees: list[Tree], points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points in each piece of |u| and √u: on both sides of where u is zero, along each letter."""
    inner = [part for tree in trees for part in _pieces(tree)]
    found = []
    for letter in sorted(set().union(*(letters_of(each) for each in inner)) if inner else ()):
        base = points[0]
        zeros = sorted({zero for each in inner for zero in _zeros(each, letter, base)})
        if not zeros:
            continue
        between = [low + (high - low) * _ODD for low, high in pairwise(zeros)]
        ends = [zeros[0] - _ODD * (1 + abs(zeros[0])), zeros[-1] + _ODD * (1 + abs(zeros[-1]))]
        found += [{**base, letter: at} for at in (*ends, *between)]
    return found


def _pieces(tree: Tree) -> list[Tree]:
    own = [tree.parts[0]] if tree.op in ("abs", "root") else []
    return own + [each for part in tree.parts for each in _pieces(part)]


def _zeros(tree: Tree, letter: str, base: Mapping[str, Any]) -> list[Any]:
    """Return where a polynomial of degree eight or less is zero; for others a grid of all sizes."""
    if letter not in letters_of(tree):
        return []
    at = range(MAX_DEGREE + 2)
    values = [_value_at(tree, {**base, letter: mpmath.mpf(each)}, False) for each in at]
    try:
        powers = mpmath.matrix([[mpmath.mpf(each) ** power for power in at] for each in at])
        coefficients = [*mpmath.lu_solve(powers, mpmath.matrix(values))]
        while coefficients and abs(coefficients[-1]) < mpmath.mpf(10) ** -CANCELLED:
            coefficients.pop()
        if len(coefficients) > MAX_DEGREE + 1:
            raise ValueError
        roots = mpmath.polyroots(coefficients[::-1], maxsteps=200, extraprec=200)
    except (TypeError, ValueError, mpmath.libmp.NoConvergence):  # no polynomial, or undefined
        sizes = [mpmath.mpf(10) ** (mpmath.mpf(power) / 3) for power in range(-9, 22)]
        return [sign * size for size in sizes for sign in (1, -1)]
    found = [
        mpmath.re(root) for root in roots if abs(mpmath.im(root)) < mpmath.mpf(10) ** -CANCELLED
    ]
    return found or [mpmath.mpf(0)]


class _Context:
    """The values of letters, whether values are complex, and what a degree mark means."""

    def __init__(self, point: Mapping[str, Any], tree: Tree, bare_degrees: bool):
        self.point = point
        self.complex = _has_i(tree)
        self.bare_degrees = bare_degrees


def _value(tree: Tree, context: _Context, inside: bool = False) -> Any:
    """Return the value of an expression; `inside` a function a degree mark always means π/180."""
    if tree.op == "number":
        return mpmath.mpf(tree.text)
    if tree.op == "letter":
        return context.point[tree.text]
    if tree.op == "constant":
        return {"i": mpmath.mpc(0, 1), "e": +mpmath.e, r"\pi": +mpmath.pi}[tree.text]
    is_function = tree.op.startswith("\\")
    parts = [_value(part, context, inside or is_function) for part in tree.parts]
    if tree.op == "degrees":
        bare = context.bare_degrees and not inside
        return parts[0] if bare else parts[0] * mpmath.pi / 180
    if tree.op == "apply" or _is_bumpy(tree):
        return _drawn(tree.text or tree.op, parts)
    result = _OPERATIONS[tree.op](*parts) if tree.op in _OPERATIONS else _function(tree.op, *parts)
    if not context.complex and isinstance(result, mpmath.mpc):
        raise UndefinedError
    if not mpmath.isfinite(result):
        raise UndefinedError
    return result


def _is_bumpy(tree: Tree) -> bool:
    """Whether no few points see where a rounded variable steps, or where C(5, n) is not 0."""
    if tree.op in ("floor", "ceil"):
        return bool(letters_of(tree))
    return tree.op == "binom" and not letters_of(tree.parts[0]) and bool(letters_of(tree.parts[1]))


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > MAX_EXPONENT:
        raise TooLargeError
    if base == 0 and exponent <= 0:
        raise UndefinedError
    if exponent == mpmath.nint(mpmath.re(exponent)):
        return base ** int(mpmath.re(exponent))
    return mpmath.power(base, exponent)


def _root(radicand: Any, degree: Any) -> Any:
    if degree != int(degree) or degree < 1 or degree > 1000:
        raise UndefinedError
    if not isinstance(radicand, mpmath.mpc) and radicand < 0 and int(degree) % 2:
        return -mpmath.root(-radicand, int(degree))
    return mpmath.root(radicand, int(degree))


def _whole(value: Any) -> int:
    if mpmath.im(value):
        raise UndefinedError
    if value > MAX_FACTORIAL:
        raise TooLargeError
    if value != mpmath.nint(value) or value < 0:
        raise UndefinedError
    return int(value)


def _step(value: Any, rounding: Callable[[Any], Any]) -> Any:
    """Round down or up; a value that only rounding keeps from an integer has no step."""
    off = abs(value - mpmath.nint(value))
    if off and off < mpmath.mpf(10) ** -CANCELLED:
        raise UndefinedError
    return rounding(value)


def _divided(top: Any, bottom: Any) -> Any:
    if bottom == 0:
        raise UndefinedError
    return top / bottom


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *terms: mpmath.fsum(terms),
    "-": lambda value: -value,
    "*": lambda *factors: mpmath.fprod(factors),
    "/": _divided,
    "^": _power,
    "root": _root,
    "abs": abs,
    "!": lambda value: mpmath.factorial(_whole(value)),
    "!!": lambda value: mpmath.fac2(_whole(value)),
    "floor": lambda value: _step(value, mpmath.floor),
    "ceil": lambda value: _step(value, mpmath.ceil),
    "binom": lambda top, bottom: mpmath.binomial(_whole(top), _whole(bottom)),
    "log": lambda base, value: mpmath.log(value) / mpmath.log(base),
}
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    r"\arcsin": mpmath.asin,
    r"\arccos": mpmath.acos,
    r"\arctan": mpmath.atan,
    r"\ln": mpmath.log,
}


def _function(name: str, value: Any) -> Any:
    """Apply a function, given by its command; sin, cos, exp, … have mpmath's names."""
    if abs(value) > MAX_EXPONENT:
        raise TooLargeError
    function = _FUNCTIONS.get(name) or getattr(mpmath, name.removeprefix("\\"))
    return function(value)


def _has_i(tree: Tree) -> bool:
    is_i = tree.op == "constant" and tree.text == "i"
    return is_i or any(_has_i(part) for part in tree.parts)


def _drawn(name: str, values: list[Any]) -> Any:
    """Return the random number that is the value of an unknown function at these arguments."""
    digits = mpmath.mp.dps - 2 * CANCELLED
    tiny = mpmath.mpf(10) ** -digits
    keys = [mpmath.nstr(mpmath.mpc(0) if abs(each) < tiny else each, digits) for each in values]
    return 1 + mpmath.mpf(drawn(name, keys)) / 2**128
