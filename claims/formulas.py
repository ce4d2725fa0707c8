"""Formulas that are printed and evaluated: one string for both.

>>> from fractions import Fraction
>>> bound = Formula("q·pⁿ(1−p)/n")
>>> str(bound), str(bound(q=1, p=Fraction(1, 2), n=2))
('q·pⁿ(1−p)/n', '1/16')
>>> str(Formula("C(N−1, n)")(N=32, n=8))
'7888725'
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᴷᵗ", "0123456789+-nKt", strict=True))
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")  # in names
_SIGNS = {"−": "-", "·": "*", "^": "**", "½": "(1/2)"}
_FACTORS = re.compile(r"(?<=\))(?=[\w(])|(?<=\d)(?=[^\W\d_(])|(?<=[^\W\d])(?<!\bC)(?=\()")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Formula:
    """An arithmetic expression of letters, as a text prints it; C(a, b) is a binomial."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        """Mark the formula, so that a text may hold its digits."""
        return f"⟦{self.text}⟧"

    def __call__(self, **letters: Any) -> Fraction:
        """Evaluate the formula for these letters."""
        return _value(self._tree, letters)

    @cached_property
    def _tree(self) -> ast.expr:
        return ast.parse(_as_python(self.text), mode="eval").body


def _as_python(text: str) -> str:
    """Write powers, signs and the factors that stand side by side in Python's way.

    >>> _as_python("K(1 − p)ᴷ⁻¹"), _as_python("2B² + B·log₂B")
    ('K*(1 - p)**(K-1)', '2*B**(2) + B*log2B')
    """
    raised = "".join(_RAISED)
    text = re.sub(f"[{raised}]+", lambda m: f"^({_level(m[0])})", text)
    for sign, python in _SIGNS.items():
        text = text.replace(sign, python)
    return _FACTORS.sub("*", text).translate(_LOWERED)


def _level(raised: str) -> str:
    return "".join(_RAISED[sign] for sign in raised)


def _value(node: ast.expr, letters: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(int(number)):
            return Fraction(number)
        case ast.Name(letter):
            number = letters[letter]
            return Fraction(number) if isinstance(number, int) else number
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, letters)
        case ast.BinOp(left, sign, right):
            return _BINARY[type(sign)](_value(left, letters), _value(right, letters))
        case ast.Call(ast.Name("C"), [above, below]):
            return Fraction(comb(int(_value(above, letters)), int(_value(below, letters))))
    raise ValueError(f"not arithmetic: {ast.unparse(node)}")
