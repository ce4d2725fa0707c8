r"""Expressions as numbers of sixty digits at many points: what is not a rational function.

Values are real where they can be: √x of a negative x is undefined, and points where one side is
undefined say nothing, so that √x·√x is x and √(x²) is not. Where i occurs, values are complex.
mpmath may be slow on huge arguments: workers that may be killed call this.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

from setrl.grading.expressions import Tree, letters_of

DIGITS = 60
CONFIRMING_DIGITS = (1_000, 20_000)  # √(10⁸⁰ + 1) is 10⁴⁰ in sixty digits
CANCELLED = 20  # digits that rounding and cancellation may take
MAX_EXPONENT = 10**6
MAX_FACTORIAL = 10**5
POINTS, NEEDED = 8, 3


class UndefinedError(Exception):
    """The expression has no value at this point, or none that this module finds."""


def equal_numeric(one: Tree, other: Tree, relative_tolerance: float) -> bool | None:
    r"""Whether two expressions agree at random points; None where too few have values.

    A degree mark outside of functions may be a unit (30° is 30) or an angle (30° is π/6).

    Args:
        one: An expression.
        other: Another one.
        relative_tolerance: How far values may differ where a decimal is written; elsewhere they
            agree in 40 digits and in 980.
    """
    decimal = _has(one, _is_decimal) or _has(other, _is_decimal)
    tolerance = max(Fraction(str(relative_tolerance)), Fraction(1, 10**30)) if decimal else None
    has_degrees = any(_has(tree, lambda part: part.op == "degrees") for tree in (one, other))
    verdict: bool | None = None
    for bare_degrees in (False, True) if has_degrees else (False,):
        verdict = _agree(one, other, tolerance, bare_degrees, DIGITS)
        if verdict and not decimal:
            verdict = _confirmed(one, other, bare_degrees)
        if verdict:
            break
    return verdict


def _confirmed(one: Tree, other: Tree, bare_degrees: bool) -> bool | None:
    """Whether two that agree in sixty digits agree in many more."""
    for digits in CONFIRMING_DIGITS:
        verdict = _agree(one, other, None, bare_degrees, digits)
        if verdict is not None:
            return verdict
    return None


def _agree(
    one: Tree, other: Tree, tolerance: Fraction | None, bare_degrees: bool, digits: int
) -> bool | None:
    exact = tolerance or Fraction(1, 10 ** (digits - CANCELLED))
    with mpmath.workdps(digits):
        return _agree_at_points(one, other, exact, bare_degrees)


def _agree_at_points(
    one: Tree, other: Tree, tolerance: Fraction, bare_degrees: bool
) -> bool | None:
    defined = 0
    for point in _points(one, other):
        try:
            values = [_value(tree, _Context(point, tree, bare_degrees)) for tree in (one, other)]
        except (UndefinedError, ZeroDivisionError, ValueError, OverflowError):
            continue
        near = _near(values[0], values[1], tolerance)
        if near is None:
            continue
        if not near:
            return False
        defined += 1
    letters = letters_of(one) | letters_of(other)
    return True if defined >= (NEEDED if letters else 1) else None


def _near(one: Any, other: Any, tolerance: Fraction) -> bool | None:
    scale, digits = max(abs(one), abs(other)), mpmath.mp.dps
    if digits > DIGITS and scale > mpmath.mpf(10) ** (digits // 2):  # 2024! + 1 is 2024! here
        return None
    if scale < mpmath.mpf(10) ** (CANCELLED - digits):  # cancellation hides the value
        return True if one == other else None
    return bool(abs(one - other) <= mpmath.mpf(tolerance.numerator) / tolerance.denominator * scale)


def _points(one: Tree, other: Tree) -> list[dict[str, Any]]:
    """Points of both signs; positive integers where something is counted."""
    letters = sorted(letters_of(one) | letters_of(other))
    if not letters:
        return [{}]
    rng = random.Random("\n".join(letters))
    counts = any(_has(tree, lambda part: part.op in ("!", "!!", "binom")) for tree in (one, other))
    points = []
    for at in range(POINTS):
        values = [mpmath.mpf(rng.randint(2, 14)) if counts else _real(rng, at) for _ in letters]
        points.append(dict(zip(letters, values, strict=True)))
    return points


def _real(rng: random.Random, at: int) -> Any:
    value = mpmath.mpf(rng.randint(300, 3000)) / 1009
    return -value if at >= POINTS // 2 and rng.random() < 0.5 else value


class _Context:
    """The values of letters, whether values are complex, and what a degree mark means."""

    def __init__(self, point: Mapping[str, Any], tree: Tree, bare_degrees: bool):
        self.point = point
        self.complex = _has(tree, lambda part: part.op == "constant" and part.text == "i")
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
    result = _OPERATIONS[tree.op](*parts) if tree.op in _OPERATIONS else _function(tree.op, *parts)
    if not context.complex and isinstance(result, mpmath.mpc):
        raise UndefinedError
    if not mpmath.isfinite(result):
        raise UndefinedError
    return result


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > MAX_EXPONENT or (base == 0 and exponent <= 0):
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
    if value != mpmath.nint(value) or not 0 <= value <= MAX_FACTORIAL:
        raise UndefinedError
    return int(value)


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
        raise UndefinedError
    function = _FUNCTIONS.get(name) or getattr(mpmath, name.removeprefix("\\"))
    return function(value)


def _has(tree: Tree, wanted: Callable[[Tree], bool]) -> bool:
    return wanted(tree) or any(_has(part, wanted) for part in tree.parts)


def _is_decimal(tree: Tree) -> bool:
    return tree.op == "number" and "." in tree.text
