r"""The value of an expression at a point, in the digits of now, through mpmath.

Values are real where they can be: √x of a negative x is undefined. Where i occurs, values are
complex. mpmath may be slow on huge arguments: workers that may be killed call this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath

from setrl_grader.exact import exact_value
from setrl_grader.modular import drawn
from setrl_grader.trees import Tree, letters_of

CANCELLED = 20  # digits that rounding and cancellation may take
MAX_EXPONENT = 10**6
MAX_FACTORIAL = 10**5


class UndefinedError(Exception):
    """The expression has no value at this point."""


class TooLargeError(Exception):
    """The expression may have a value at this point, which takes too long to find."""


def value_at(tree: Tree, point: Mapping[str, Any], bare_degrees: bool = False) -> Any:
    """Return the value at a point; None without one, NotImplemented where it is too large."""
    try:
        return value(tree, Context(point, tree, bare_degrees))
    except (TooLargeError, OverflowError):
        return NotImplemented
    except (UndefinedError, ZeroDivisionError, ValueError):
        return None


class Context:
    """The values of letters, whether values are complex, and what a degree mark means."""

    def __init__(self, point: Mapping[str, Any], tree: Tree, bare_degrees: bool):
        self.point = point
        self.complex = _has_i(tree)
        self.bare_degrees = bare_degrees


def value(tree: Tree, context: Context, inside: bool = False) -> Any:
    """Return the value of an expression; `inside` a function a degree mark always means π/180."""
    if tree.op == "number":
        return mpmath.mpf(tree.text)
    if tree.op == "letter":
        return context.point[tree.text]
    if tree.op == "constant":
        return {"i": mpmath.mpc(0, 1), "e": +mpmath.e, r"\pi": +mpmath.pi}[tree.text]
    is_function = tree.op.startswith("\\")
    parts = [value(part, context, inside or is_function) for part in tree.parts]
    if tree.op == "degrees":
        bare = context.bare_degrees and not inside
        return parts[0] if bare else parts[0] * mpmath.pi / 180
    if tree.op == "apply" or _is_bumpy(tree):
        return _drawn(tree.text or tree.op, parts)
    if tree.op == "^" and _is_root_of_negative(parts):
        return _odd_root(tree, parts[0])
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


def _is_root_of_negative(parts: list[Any]) -> bool:
    base, exponent = parts
    if isinstance(base, mpmath.mpc) or isinstance(exponent, mpmath.mpc):
        return False
    return bool(base < 0 and exponent != mpmath.nint(exponent))


def _odd_root(tree: Tree, base: Any) -> Any:
    """Return x^{2/3} of a negative number: a power of its cube root."""
    exponent = exact_value(tree.parts[1], {})
    if exponent is None or exponent.denominator % 2 == 0:
        raise UndefinedError
    sign = -1 if exponent.numerator % 2 else 1
    size = mpmath.mpf(exponent.numerator) / exponent.denominator
    return sign * _power(-base, size)


def _root(radicand: Any, degree: Any) -> Any:
    if degree != int(degree) and not isinstance(radicand, mpmath.mpc) and radicand > 0:
        return _power(radicand, 1 / degree)
    if degree != int(degree) or degree < 1 or degree > 1000:
        raise UndefinedError
    if not isinstance(radicand, mpmath.mpc) and radicand < 0 and int(degree) % 2:
        return -mpmath.root(-radicand, int(degree))
    return mpmath.root(radicand, int(degree))


def _whole(number: Any) -> int:
    if mpmath.im(number):
        raise UndefinedError
    if number > MAX_FACTORIAL:
        raise TooLargeError
    if number != mpmath.nint(number) or number < 0:
        raise UndefinedError
    return int(number)


def _step(number: Any, rounding: Callable[[Any], Any]) -> Any:
    """Round down or up; a value that only rounding keeps from an integer has no step."""
    off = abs(number - mpmath.nint(number))
    if off and off < mpmath.mpf(10) ** -CANCELLED:
        raise UndefinedError
    return rounding(number)


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


def _function(name: str, argument: Any) -> Any:
    """Apply a function, given by its command; sin, cos, exp, … have mpmath's names."""
    if abs(argument) > MAX_EXPONENT and name != r"\ln":
        raise TooLargeError
    function = _FUNCTIONS.get(name) or getattr(mpmath, name.removeprefix("\\"))
    return function(argument)


def _has_i(tree: Tree) -> bool:
    is_i = tree.op == "constant" and tree.text == "i"
    return is_i or any(_has_i(part) for part in tree.parts)


def is_bumpy(tree: Tree) -> bool:
    """Whether a part of an expression is bumpy, so that its values are drawn."""
    return _is_bumpy(tree) or any(map(is_bumpy, tree.parts))


def _drawn(name: str, values: list[Any]) -> Any:
    """Return the random number that is the value of an unknown function at these arguments."""
    digits = mpmath.mp.dps - 2 * CANCELLED
    tiny = mpmath.mpf(10) ** -digits
    keys = [mpmath.nstr(mpmath.mpc(0) if abs(each) < tiny else each, digits) for each in values]
    return 1 + mpmath.mpf(drawn(name, keys)) / 2**128
