r"""The value of an expression at a point between two bounds, by mpmath's interval arithmetic.

Rounding and cancellation are within the bounds, so a difference is one, and nothing is guessed
about digits. Values are real where they can be: √x of a negative x is undefined. Where i occurs,
values are complex. Each operation is paid for before it is done; huge arguments have no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from mpmath import MPContext, MPIntervalContext
from mpmath.libmp import mpi_atan

from setrl_grader.budget import ForkedLock, of_digits, spend
from setrl_grader.modular import drawn
from setrl_grader.trees import (
    Tree,
    double_factorial,
    exact_value,
    has,
    has_i,
    letters_of,
    paid,
    walk,
)

mp, iv = MPContext(), MPIntervalContext()

_computing = ForkedLock()
CANCELLED = 20  # digits that rounding and cancellation may take
MAX_ARGUMENT = 10**6
DRAWN = frozenset(["apply", "word"])  # operations whose values are random numbers
MAX_FACTORIAL = 10**5
_WEIGHTS = {"+": 2, "-": 2, "*": 2, "/": 2, "abs": 2, "degrees": 2, "^": 10, "root": 4,
            "number": 8, "constant": 8, "letter": 0}  # fmt: skip
_FUNCTION = 80  # a weight
_INVERSES = {r"\arcsin", r"\arccos", r"\arctan"}
_PERIODIC = {r"\sin", r"\cos", r"\tan", r"\cot", r"\sec", r"\csc"}


@contextmanager
def alone() -> Iterator[None]:
    """Let one thread at a time compute, which begins in sixteen digits."""
    with _computing.lock, mp.workprec(53):
        iv.prec = 53  # a child may be forked between two precisions
        yield


@contextmanager
def in_digits(digits: int) -> Iterator[None]:
    """Compute numbers and bounds in so many digits."""
    before, iv.dps = iv.prec, digits
    try:
        with mp.workdps(digits):
            yield
    finally:
        iv.prec = before


class UndefinedError(Exception):
    """The expression has no value at this point."""


class UnboundedError(Exception):
    """The expression may have a value at this point, of which these digits know nothing."""


def value_at(tree: Tree, point: Mapping[str, Any], bare_degrees: bool = False) -> Any:
    """Return about the value at a point; None without one, NotImplemented if it is not known."""
    found = Context(tree, point, bare_degrees).bounds(tree)
    if found is None or found is NotImplemented:
        return found
    return _middle(found) if size_of(found) < math.inf else NotImplemented


class Context:
    """The values of letters, whether values are complex, and what a degree mark means.

    Attributes:
        span: The digits of the largest value so far within the expression, or of the smallest
            below 1.
    """

    def __init__(self, tree: Tree, point: Mapping[str, Any], bare_degrees: bool = False):
        self.point = {letter: iv.mpf(place) for letter, place in point.items()}
        self.complex = has_i(tree)
        self.bare_degrees = bare_degrees
        self.span = 0

    def bounds(self, tree: Tree) -> Any:
        """Return the bounds of a value; None without one, NotImplemented if it is too large."""
        try:
            return self.value(tree)
        except UndefinedError:
            return None
        except UnboundedError:
            return iv.mpf([-math.inf, math.inf])
        except (OverflowError, ValueError, AttributeError, TypeError, NotImplementedError):
            return NotImplemented  # it is too large, or complex arcs, which have no bounds

    def value(self, tree: Tree, inside: bool = False) -> Any:
        """Return the bounds; `inside` a function a degree mark always means π/180.

        Raises:
            UndefinedError: If there is no value.
            UnboundedError: If there are no bounds in these digits.
            OverflowError: If there are none in any, or it takes too long to find them.
        """
        weight = _WEIGHTS.get(tree.op, _FUNCTION) * (4 if self.complex else 1)
        spend(40 + max(1, len(tree.parts)) * of_digits(iv.dps, weight))
        is_function = tree.op.startswith("\\")
        found = self._of(tree, [self.value(part, inside or is_function) for part in tree.parts])
        if tree.op == "degrees" and (inside or not self.bare_degrees):
            found = found * iv.pi / 180
        self.span = max(self.span, _digits(found))
        return found

    def _of(self, tree: Tree, parts: list[Any]) -> Any:
        if tree.op == "letter":
            return self.point[tree.text]
        if tree.op == "number":
            self.span = max(self.span, len(tree.text))  # 0.999… is near 1
            top, bottom = Fraction(tree.text).as_integer_ratio()
            return iv.mpf(top) / bottom
        if tree.op == "constant":
            return {"i": iv.mpc(0, 1), "e": iv.e + 0, r"\pi": iv.pi + 0}[tree.text]
        if tree.op in DRAWN or _is_bumpy(tree):
            return _drawn(tree.text or tree.op, parts)
        if tree.op in ("^", "root"):
            return self._power(tree, *parts)
        if tree.op.startswith("\\") and tree.op != r"\ln":
            if size_of(parts[0]) > MAX_ARGUMENT:
                raise OverflowError
            if tree.op in (r"\tanh", r"\coth"):  # 1 − tanh u is about 2·exp(−2u)
                self.span = max(self.span, int(size_of(parts[0])))
        if self.complex and tree.op in (r"\ln", "log"):
            parts = [_complex(part) for part in parts]
        return _OPERATIONS[tree.op](*parts)

    def _power(self, tree: Tree, base: Any, exponent: Any) -> Any:
        exact = exact_value(tree.parts[1], {})
        if exact is None and _is_thin(exponent):
            exact = Fraction(int(mp.mpf(exponent.a)))
        if tree.op == "root":
            exact, exponent = exact and 1 / exact, 1 / _nonzero(exponent)
        if size_of(exponent) > MAX_ARGUMENT:
            raise OverflowError
        if exact is not None and exact.denominator == 1:
            return (base if exact > 0 else _nonzero(base)) ** int(exact)
        if self.complex:
            return iv.exp(iv.log(_complex(_nonzero(base))) * exponent)
        return _real_power(base, exponent, exact)


def _real_power(base: Any, exponent: Any, exact: Fraction | None) -> Any:
    """Return a power, also x^{2/3} of a negative number: a power of its cube root."""
    if exact == Fraction(1, 2):
        return _sqrt(base)
    if base.b < 0 and exact is not None and exact.denominator % 2:
        return (-1) ** exact.numerator * _real_power(-base, exponent, exact)
    if base == 0 and exponent.a > 0:
        return base
    spend(40 + of_digits(iv.dps, 2 * _FUNCTION))
    return iv.exp(_ln(base) * exponent)


def size_of(value: Any) -> Any:
    """Return the largest absolute value within bounds."""
    return abs(value).b


def _complex(value: Any) -> Any:
    return iv.mpc(value) if isinstance(value, iv.mpf) else value


def _middle(value: Any) -> Any:
    real, imaginary = (mp.mpf(part.mid) for part in (value.real, value.imag))
    return mp.mpc(real, imaginary) if imaginary else real


def _digits(value: Any) -> int:
    """Return about how many digits a value has before or behind the point."""
    ends = value._mpi_ if isinstance(value, iv.mpf) else sum(value._mpci_, ())
    if any(exponent and not mantissa for _, mantissa, exponent, _ in ends):
        raise UnboundedError  # infinite
    sizes = [exponent + bits for _, mantissa, exponent, bits in ends if mantissa]
    return int(abs(max(sizes, default=0)) * 0.302)


def _is_thin(value: Any) -> bool:
    """Whether a value is known to be an integer."""
    if not isinstance(value, iv.mpf):
        return False
    low, high = value._mpi_
    return bool(low == high and low[2] >= 0)


def _is_bumpy(tree: Tree) -> bool:
    """Whether no few points see where a function steps or turns.

    A rounded variable steps, C(5, n) is mostly 0, and arctan(tan u) begins anew at each pole.
    """
    if tree.op in ("floor", "ceil") or (tree.op in _INVERSES and has(tree, _PERIODIC)):
        return bool(letters_of(tree))
    return tree.op == "binom" and not letters_of(tree.parts[0]) and bool(letters_of(tree.parts[1]))


def is_bumpy(tree: Tree) -> bool:
    """Whether a part of an expression is bumpy, so that its values are drawn."""
    return any(map(_is_bumpy, walk(tree)))


def _drawn(name: str, values: list[Any]) -> Any:
    """Return the random number that is the value of an unknown function at these arguments."""
    digits = iv.dps - 2 * CANCELLED
    tiny = mp.mpf(10) ** -digits
    middles = [mp.mpc(_middle(value)) for value in values]
    for value, middle in zip(values, middles, strict=True):
        if size_of(value - middle) > tiny * max(1, size_of(value)):
            raise UnboundedError
    keys = [mp.nstr(each if abs(each) > tiny else mp.mpc(0), digits) for each in middles]
    return 1 + iv.mpf(drawn(name, keys)) / 2**128


def _nonzero(value: Any) -> Any:
    if value == 0:
        raise UndefinedError
    if 0 in value:
        raise UnboundedError
    return value


def _sqrt(value: Any) -> Any:
    """Return a root; if there may be one, it is of what is not below 0."""
    if value.b < 0:
        raise UndefinedError
    return iv.sqrt(iv.mpf([max(value.a, 0), value.b]))


def _ln(value: Any) -> Any:
    if not isinstance(value, iv.mpf):
        return iv.log(_nonzero(value))
    if value.a > 0:
        return iv.log(value)
    raise UndefinedError if value.b <= 0 else UnboundedError


def _arctan(value: Any) -> Any:
    if not isinstance(value, iv.mpf):
        raise OverflowError
    return iv.make_mpf(mpi_atan(value._mpi_, iv.prec))


def _arcsin(value: Any) -> Any:
    return 2 * _arctan(value / (1 + _sqrt(1 - value**2)))


def _whole(number: Any) -> int:
    if size_of(number) > MAX_FACTORIAL or not isinstance(number, iv.mpf):
        raise OverflowError
    if not _is_thin(number) or number < 0:
        raise UndefinedError
    return int(mp.mpf(number.a))


def _step(number: Any, rounding: Callable[[Any], Any]) -> Any:
    """Round down or up; a value that may be on both sides of a step has no bounds."""
    ends = {rounding(mp.mpf(end)) for end in (number.a, number.b)}
    if len(ends) > 1:
        raise UnboundedError
    return iv.mpf(ends.pop())


def _quotient(top: Any, bottom: Any) -> Any:
    return top / _nonzero(bottom)


def _sinh(value: Any) -> Any:
    return (iv.exp(value) - iv.exp(-value)) / 2


def _cosh(value: Any) -> Any:
    return (iv.exp(value) + iv.exp(-value)) / 2


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *terms: sum(terms, iv.mpf(0)),
    "-": lambda value: -value,
    "*": lambda *factors: math.prod(factors, start=iv.mpf(1)),
    "/": _quotient,
    "abs": abs,
    "degrees": lambda value: value,
    "!": lambda value: iv.mpf(paid(math.factorial, _whole(value))),
    "!!": lambda value: iv.mpf(paid(double_factorial, _whole(value))),
    "floor": lambda value: _step(value, mp.floor),
    "ceil": lambda value: _step(value, mp.ceil),
    "binom": lambda top, bottom: iv.mpf(paid(math.comb, _whole(top), _whole(bottom))),
    "log": lambda base, value: _quotient(_ln(value), _ln(base)),
    r"\ln": _ln,
    r"\exp": iv.exp,
    r"\sin": iv.sin,
    r"\cos": iv.cos,
    r"\tan": lambda value: _quotient(iv.sin(value), iv.cos(value)),
    r"\cot": lambda value: _quotient(iv.cos(value), iv.sin(value)),
    r"\sec": lambda value: _quotient(1, iv.cos(value)),
    r"\csc": lambda value: _quotient(1, iv.sin(value)),
    r"\arctan": _arctan,
    r"\arcsin": _arcsin,
    r"\arccos": lambda value: iv.pi / 2 - _arcsin(value),
    r"\sinh": _sinh,
    r"\cosh": _cosh,
    r"\tanh": lambda value: _quotient(_sinh(value), _cosh(value)),
    r"\coth": lambda value: _quotient(_cosh(value), _sinh(value)),
}
