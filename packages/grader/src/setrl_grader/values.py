r"""The value of an expression at a point, in the digits of now, through mpmath.

Values are real where they can be: √x of a negative x is undefined. Where i occurs, values are
complex. Each operation is paid for before it is done; huge arguments have no value here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mpmath.libmp import from_int

from setrl_grader.arithmetic import mp
from setrl_grader.budget import of_digits, spend
from setrl_grader.exact import choices, exact_value, factorial
from setrl_grader.modular import drawn
from setrl_grader.trees import Tree, has, letters_of

CANCELLED = 20  # digits that rounding and cancellation may take
MAX_EXPONENT = 10**6
MAX_FACTORIAL = 10**5
_WEIGHTS = {"+": 1, "-": 1, "*": 1, "/": 1, "abs": 1, "degrees": 1, "^": 2, "root": 3}
_LEAF, _FUNCTION, _POWER = 4, 30, 50  # weights


_INVERSES = {r"\arcsin", r"\arccos", r"\arctan"}
_PERIODIC = {r"\sin", r"\cos", r"\tan", r"\cot", r"\sec", r"\csc"}


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
    if tree.op == "letter":
        return context.point[tree.text]
    if not tree.parts:
        spend(of_digits(mp.dps, _LEAF))
    if tree.op == "number":
        return mp.mpf(tree.text)
    if tree.op == "constant":
        return {"i": mp.mpc(0, 1), "e": +mp.e, r"\pi": +mp.pi}[tree.text]
    is_function = tree.op.startswith("\\")
    parts = [value(part, context, inside or is_function) for part in tree.parts]
    weight = len(parts) * _WEIGHTS.get(tree.op, _FUNCTION)
    spend(of_digits(mp.dps, 4 * weight if context.complex else weight))
    if tree.op == "degrees":
        bare = context.bare_degrees and not inside
        return parts[0] if bare else parts[0] * mp.pi / 180
    if tree.op == "apply" or _is_bumpy(tree):
        return _drawn(tree.text or tree.op, parts)
    if tree.op == "^" and _is_root_of_negative(parts):
        return _odd_root(tree, parts[0])
    result = _OPERATIONS[tree.op](*parts) if tree.op in _OPERATIONS else _function(tree.op, *parts)
    if not context.complex and isinstance(result, mp.mpc):
        raise UndefinedError
    if not mp.isfinite(result):
        raise UndefinedError
    return result


def _is_bumpy(tree: Tree) -> bool:
    """Whether no few points see where a function steps or turns.

    A rounded variable steps, C(5, n) is mostly 0, and arctan(tan u) begins anew at each pole.
    """
    if tree.op in _INVERSES and has(tree, _PERIODIC):
        return bool(letters_of(tree))
    if tree.op in ("floor", "ceil"):
        return bool(letters_of(tree))
    return tree.op == "binom" and not letters_of(tree.parts[0]) and bool(letters_of(tree.parts[1]))


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > MAX_EXPONENT:
        raise TooLargeError
    if base == 0 and not mp.re(exponent) > 0:
        raise UndefinedError
    if exponent == mp.nint(mp.re(exponent)):
        return base ** int(mp.re(exponent))
    spend(of_digits(mp.dps, 4 * _POWER))
    return mp.power(base, exponent)


def _is_root_of_negative(parts: list[Any]) -> bool:
    base, exponent = parts
    if isinstance(base, mp.mpc) or isinstance(exponent, mp.mpc):
        return False
    return bool(base < 0 and exponent != mp.nint(exponent))


def _odd_root(tree: Tree, base: Any) -> Any:
    """Return x^{2/3} of a negative number: a power of its cube root."""
    exponent = exact_value(tree.parts[1], {})
    if exponent is None or exponent.denominator % 2 == 0:
        raise UndefinedError
    sign = -1 if exponent.numerator % 2 else 1
    size = mp.mpf(exponent.numerator) / exponent.denominator
    return sign * _power(-base, size)


def _root(radicand: Any, degree: Any) -> Any:
    if abs(degree) > MAX_EXPONENT:
        raise TooLargeError
    degree = _real(degree)
    if degree != int(degree) and not isinstance(radicand, mp.mpc) and radicand > 0:
        return _power(radicand, 1 / degree)
    if degree != int(degree) or degree < 1 or degree > 1000:
        raise UndefinedError
    if not isinstance(radicand, mp.mpc) and radicand < 0 and int(degree) % 2:
        return -mp.root(-radicand, int(degree))
    return mp.root(radicand, int(degree))


def _real(number: Any) -> Any:
    if mp.im(number):
        raise UndefinedError
    return mp.re(number)


def _short(number: int) -> Any:
    """Return a whole number in the digits of now; `mpf` would look at all digits first."""
    return mp.make_mpf(from_int(number, mp.prec, "n"))


def _double_factorial(number: int) -> Any:
    half = number // 2
    evens = mp.ldexp(_short(factorial(half)), half)
    return _short(factorial(number)) / evens if number % 2 else evens


def _whole(number: Any) -> int:
    number = _real(number)
    if number > MAX_FACTORIAL:
        raise TooLargeError
    if number != mp.nint(number) or number < 0:
        raise UndefinedError
    return int(number)


def _step(number: Any, rounding: Callable[[Any], Any]) -> Any:
    """Round down or up; a value that only rounding keeps from an integer has no step."""
    off = abs(number - mp.nint(number))
    if off and off < mp.mpf(10) ** -CANCELLED:
        raise UndefinedError
    return rounding(number)


def _divided(top: Any, bottom: Any) -> Any:
    if bottom == 0:
        raise UndefinedError
    return top / bottom


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *terms: mp.fsum(terms),
    "-": lambda value: -value,
    "*": lambda *factors: mp.fprod(factors),
    "/": _divided,
    "^": _power,
    "root": _root,
    "abs": abs,
    "!": lambda value: _short(factorial(_whole(value))),
    "!!": lambda value: _double_factorial(_whole(value)),
    "floor": lambda value: _step(value, mp.floor),
    "ceil": lambda value: _step(value, mp.ceil),
    "binom": lambda top, bottom: _short(choices(_whole(top), _whole(bottom))),
    "log": lambda base, value: mp.log(value) / mp.log(base),
}
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    r"\arcsin": mp.asin,
    r"\arccos": mp.acos,
    r"\arctan": mp.atan,
    r"\ln": mp.log,
}


def _function(name: str, argument: Any) -> Any:
    """Apply a function, given by its command; sin, cos, exp, … have mpmath's names."""
    if abs(argument) > MAX_EXPONENT and name != r"\ln":
        raise TooLargeError
    function = _FUNCTIONS.get(name) or getattr(mp, name.removeprefix("\\"))
    return function(argument)


def _has_i(tree: Tree) -> bool:
    is_i = tree.op == "constant" and tree.text == "i"
    return is_i or any(_has_i(part) for part in tree.parts)


def is_bumpy(tree: Tree) -> bool:
    """Whether a part of an expression is bumpy, so that its values are drawn."""
    return _is_bumpy(tree) or any(map(is_bumpy, tree.parts))


def _drawn(name: str, values: list[Any]) -> Any:
    """Return the random number that is the value of an unknown function at these arguments."""
    digits = mp.dps - 2 * CANCELLED
    tiny = mp.mpf(10) ** -digits
    keys = [mp.nstr(mp.mpc(0) if abs(each) < tiny else each, digits) for each in values]
    return 1 + mp.mpf(drawn(name, keys)) / 2**128
