r"""Algebra by math-verify 0.9.0: are two LaTeX expressions equal?

It hangs on towers of powers, needs the main thread, and uses the process's alarm. So its own time
limits are off here, and `grading.workers` calls it only in processes that may be killed.

Its result is not used directly:
- The comparison is not symmetric (it cuts an equation to its right-hand side on one side only), so
  both directions must return "equal".
- It rounds to six digits after the point, so it takes 2⁻⁹⁹ for 2⁻⁹⁸. Values are compared here too,
  relative to their size, at several points if there are variables, and can overrule it.
"""

from __future__ import annotations

import logging
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended.math_normalization import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

from setrl.grading.compare import every

logging.getLogger("math_verify").setLevel(logging.ERROR)  # a warning: time limits are off

_EXTRACTION = LatexExtractionConfig(
    boxed_match_priority=-1,
    normalization_config=NormalizationConfig(
        basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none"
    ),
)
_POINTS = [(7, 5), (41, 29), (17, 3)]  # each variable gets the next power, so no two are equal
_DIGITS = 60
_EXACT = Fraction(1, 10**40)
_FLOAT = Fraction(1, 10**12)  # sympy reads decimals with 15 digits


# Rewrites for forms that its grammar rejects: e^e, n!^2.
_REWRITES = (
    (re.compile(r"\^([A-Za-z])"), r"^{\1}"),
    (re.compile(r"(\w|\([^()]*\))!\^"), r"(\1!)^"),
)


class ParseError(ValueError):
    """A text that is not an expression; the argument is the text."""


@lru_cache(maxsize=64)
def expression(text: str) -> Any:
    """Parse LaTeX, without dollar signs, into a sympy object.

    Raises:
        ParseError: If it is not an expression.
    """
    rewritten = text
    for pattern, replacement in _REWRITES:
        rewritten = pattern.sub(replacement, rewritten)
    found = parse(
        f"${rewritten}$", [_EXTRACTION], fallback_mode="no_fallback", parsing_timeout=None
    )
    if not found:
        raise ParseError(text)
    return found[0]


def equal(gold: str, answer: str, relative_tolerance: float) -> bool:
    """Whether two expressions are equal, up to a relative tolerance if one holds a decimal.

    Raises:
        ParseError: If one of them is not an expression.
    """
    a, b = expression(gold), expression(answer)
    decimal = any(isinstance(each, sympy.Basic) and each.has(sympy.Float) for each in (a, b))
    tolerance = max(Fraction(str(relative_tolerance)), _FLOAT) if decimal else _EXACT
    near = _near(a, b, tolerance)
    if near is False:
        return False
    if near and not a.free_symbols | b.free_symbols:
        return True  # constants with the same forty digits
    return _verified(a, b) and _verified(b, a)


def _verified(gold: Any, answer: Any) -> bool:
    return verify(gold, answer, allow_set_relation_comp=True, timeout_seconds=None)


def _near(a: Any, b: Any, tolerance: Fraction) -> bool | None:
    """Whether values are near each other at all points; None without a value."""
    if isinstance(a, sympy.MatrixBase) and isinstance(b, sympy.MatrixBase):
        if a.shape != b.shape:
            return False
        return every(_near(x, y, tolerance) for x, y in zip(a.flat(), b.flat(), strict=True))
    if isinstance(a, sympy.core.relational.Relational) and type(a) is type(b):
        return None if a.lhs != b.lhs or _near(a.rhs, b.rhs, tolerance) is not False else False
    if not isinstance(a, sympy.Expr) or not isinstance(b, sympy.Expr):
        return None
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    points = _POINTS if symbols else _POINTS[:1]
    return every(_near_at(a, b, symbols, sympy.Rational(*point), tolerance) for point in points)


def _near_at(a: Any, b: Any, symbols: list[Any], point: Any, tolerance: Fraction) -> bool | None:
    values = {symbol: point ** (power + 1) for power, symbol in enumerate(symbols)}
    x, y = (sympy.N(each.subs(values), _DIGITS) for each in (a, b))
    if not (x.is_number and y.is_number and x.is_finite and y.is_finite):
        return None
    return bool(abs(x - y) <= sympy.Rational(tolerance) * sympy.Max(abs(x), abs(y)))
