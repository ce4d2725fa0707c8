"""The value of an expression between two bounds, by mpmath's interval arithmetic.

Rounding and cancellation are within the bounds, so that a difference is one, and nothing has to be
guessed about the digits that they take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mpmath.libmp import ComplexResult, mpi_atan

from setrl_grader.arithmetic import iv, mp
from setrl_grader.budget import of_digits, spend
from setrl_grader.exact import exact_value
from setrl_grader.trees import Tree

MAX_ARGUMENT = 10**6
MAX_LOGARITHM = mp.mpf(10) ** 300  # of a power
_WEIGHTS = {"+": 2, "-": 2, "*": 2, "/": 2, "abs": 2, "degrees": 2, "^": 10, "root": 4,
            "number": 8, "constant": 8, "letter": 0}  # fmt: skip
_FUNCTION = 80  # a weight


class UnboundedError(Exception):
    """There is no interval arithmetic for the expression, or no value in all of the interval."""


def difference(one: Tree, other: Tree, point: Mapping[str, Any], digits: int) -> tuple[Any, Any]:
    """Return the bounds of the difference of two expressions, and the size of the larger one.

    Raises:
        UnboundedError: If there are none.
    """
    before = iv.dps
    iv.dps = digits
    try:
        places = {letter: iv.mpf(place) for letter, place in point.items()}
        values = [_bounds(tree, places) for tree in (one, other)]
        size = max(abs(value).b for value in values)
        return values[0] - values[1], size
    except (ComplexResult, ValueError, ZeroDivisionError, OverflowError, KeyError) as error:
        raise UnboundedError from error
    finally:
        iv.dps = before


def _bounds(tree: Tree, point: Mapping[str, Any]) -> Any:
    spend(of_digits(iv.dps, max(1, len(tree.parts)) * _WEIGHTS.get(tree.op, _FUNCTION)))
    if tree.op == "letter":
        return point[tree.text]
    if tree.op == "number":
        return iv.mpf(tree.text)
    if tree.op == "constant":
        return {"e": iv.e, r"\pi": iv.pi}[tree.text] + 0
    if tree.op == "^":
        return _power(tree, point)
    parts = [_bounds(part, point) for part in tree.parts]
    if tree.op.startswith("\\") and tree.op != r"\ln" and abs(parts[0]).b > MAX_ARGUMENT:
        raise UnboundedError
    return _OPERATIONS[tree.op](*parts)


def _power(tree: Tree, point: Mapping[str, Any]) -> Any:
    base = _bounds(tree.parts[0], point)
    exponent = exact_value(tree.parts[1], {})
    if exponent is None:
        logarithm = _bounds(tree.parts[1], point) * iv.log(base)
        if abs(logarithm).b > MAX_LOGARITHM:
            raise UnboundedError
        spend(of_digits(iv.dps, 2 * _FUNCTION))
        return iv.exp(logarithm)
    if abs(exponent) > MAX_ARGUMENT:
        raise UnboundedError
    if exponent.denominator == 1:
        return _nonzero(base) ** int(exponent) if exponent < 0 else base ** int(exponent)
    root = _root(base, exponent.denominator)
    return _nonzero(root) ** exponent.numerator if exponent < 0 else root**exponent.numerator


def _root(radicand: Any, degree: Any) -> Any:
    whole = int(mp.mpf(degree))
    if degree != whole or whole < 1:
        raise UnboundedError
    if radicand.b < 0 and whole % 2:
        return -_root(-radicand, whole)
    if radicand.a < 0:
        raise UnboundedError
    if whole == 2:
        return iv.sqrt(radicand)
    spend(of_digits(iv.dps, 2 * _FUNCTION))
    return iv.exp(iv.log(_nonzero(radicand)) / whole)


def _nonzero(value: Any) -> Any:
    if 0 in value:
        raise UnboundedError
    return value


def _total(*terms: Any) -> Any:
    total = iv.mpf(0)
    for term in terms:
        total += term
    return total


def _product(*factors: Any) -> Any:
    product = iv.mpf(1)
    for factor in factors:
        product *= factor
    return product


def _arctan(value: Any) -> Any:
    return iv.make_mpf(mpi_atan(value._mpi_, iv.prec))


def _arcsin(value: Any) -> Any:
    return _arctan(value / _nonzero(iv.sqrt(1 - value**2)))


def _sinh(value: Any) -> Any:
    return (iv.exp(value) - iv.exp(-value)) / 2


def _cosh(value: Any) -> Any:
    return (iv.exp(value) + iv.exp(-value)) / 2


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": _total,
    "-": lambda value: -value,
    "*": _product,
    "/": lambda top, bottom: top / _nonzero(bottom),
    "root": _root,
    "abs": abs,
    "degrees": lambda value: value * iv.pi / 180,
    "log": lambda base, value: iv.log(value) / _nonzero(iv.log(base)),
    r"\ln": iv.log,
    r"\exp": iv.exp,
    r"\sin": iv.sin,
    r"\cos": iv.cos,
    r"\tan": lambda value: iv.sin(value) / _nonzero(iv.cos(value)),
    r"\cot": lambda value: iv.cos(value) / _nonzero(iv.sin(value)),
    r"\sec": lambda value: 1 / _nonzero(iv.cos(value)),
    r"\csc": lambda value: 1 / _nonzero(iv.sin(value)),
    r"\arctan": _arctan,
    r"\arcsin": _arcsin,
    r"\arccos": lambda value: iv.pi / 2 - _arcsin(value),
    r"\sinh": _sinh,
    r"\cosh": _cosh,
    r"\tanh": lambda value: _sinh(value) / _cosh(value),
    r"\coth": lambda value: _cosh(value) / _nonzero(_sinh(value)),
}
