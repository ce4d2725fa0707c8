"""Answers in the syntax of Python and SymPy: 2*pi*sqrt(x), x**2, exp(16), Rational(1, 2).

A product has its sign there and the names are known, so the reading is certain: names and calls are
written as commands, and the grammar reads the rest. What is not listed here is not read.
"""

from __future__ import annotations

import re
from functools import lru_cache

from setrl_grader.tokens import GREEK

MAX_LENGTH = 1_000
MAX_DEPTH = 50

_SAME = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan exp max min"
FUNCTIONS = {name: rf"\{name}" for name in _SAME.split()}
FUNCTIONS |= {
    "log": r"\ln",
    "ln": r"\ln",
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
}
WRITTEN = {"sqrt": r"\sqrt{{{}}}", "cbrt": r"\sqrt[3]{{{}}}", "Abs": "|{}|", "abs": "|{}|",
            "factorial": "({})!", "floor": r"\lfloor {}\rfloor ", "ceiling": r"\lceil {}\rceil ",
            "Rational": r"\frac{{{}}}{{{}}}", "Fraction": r"\frac{{{}}}{{{}}}",
            "binomial": r"\binom{{{}}}{{{}}}"}  # fmt: skip
NAMES = {"pi": r"\pi ", "I": "i", "oo": r"\infty ", "E": "e"}
NAMES |= {name: rf"\{name} " for name in GREEK if name not in ("Pi", "Sigma")}
_NOT_PYTHON = re.compile(r"[\\^]|[^\x00-\x7f]|\d[a-zA-Z]")  # 2x, and what Python warns of
_CALLS = "|".join([*FUNCTIONS, *WRITTEN])
_MARK = re.compile(rf"\*\*|(?<![a-zA-Z])(?:(?:{_CALLS})\(|(?:pi|oo)(?![a-zA-Z(]))")
_TOKEN = re.compile(r"\*\*|[a-zA-Z]\w*|\d+(?:\.\d+)?|[-+*/=,()\[\]{}]|(\s+)|(.)", re.DOTALL)
_SIGNS = {"**": "^", "*": r"\cdot "}
_BRACKETS = {"(": "()", "[": "[]", "{": (r"\{", r"\}")}


class _OtherError(Exception):
    """The text is not in this syntax."""


@lru_cache(maxsize=4096)
def as_latex(text: str) -> str | None:
    r"""Return an answer in the syntax of Python as LaTeX; None for anything else.

    >>> as_latex("2*pi*sqrt(x)"), as_latex("x**(1/2)"), as_latex("2x"), as_latex("2*x")
    ('2\\cdot \\pi \\cdot \\sqrt{x}', 'x^(1/2)', None, None)
    """
    plain = text.strip().strip("$").strip()
    if len(plain) > MAX_LENGTH or plain.count("(") > MAX_DEPTH:
        return None
    if _NOT_PYTHON.search(plain) or not _MARK.search(plain):
        return None
    found = [each for each in _TOKEN.finditer(plain) if not each[1]]
    tokens = [each[0] for each in found]
    if any(each[2] for each in found) or "=" in tokens[2:]:
        return None
    try:
        items, end = _items([*tokens, ")"], 0)
    except (_OtherError, IndexError):
        return None
    return ",".join(items) if end > len(tokens) else None


def _items(tokens: list[str], at: int) -> tuple[list[str], int]:
    """Write what is between commas, up to the closing bracket; return where it goes on."""
    items, before = [""], ""
    while tokens[at] not in (")", "]", "}"):
        token, at = tokens[at], at + 1
        is_operand = token[0].isalnum() or token in _BRACKETS
        if is_operand and (before[-1:].isalnum() or before in _BRACKETS):
            raise _OtherError  # a product has its sign
        if token == ",":
            items.append("")
        elif token in _BRACKETS:
            inner, at = _items(tokens, at)
            items[-1] += ",".join(inner).join(_BRACKETS[token])
        elif token[0].isalpha() and tokens[at] == "(":
            given, at = _items(tokens, at + 1)
            items[-1] += _call(token, given)
        else:
            items[-1] += _name(token) if token[0].isalpha() else _SIGNS.get(token, token)
        before = token
    return items, at + 1


def _name(name: str) -> str:
    if name in NAMES:
        return NAMES[name]
    indexed = re.fullmatch(r"([a-zA-Z])(?:_?(\d+))?", name)
    if not indexed:
        raise _OtherError
    return f"{indexed[1]}_{{{indexed[2]}}}" if indexed[2] else name


def _call(name: str, given: list[str]) -> str:
    if name in WRITTEN and len(given) == WRITTEN[name].replace("{{{", "{").count("{}"):
        return WRITTEN[name].format(*given)
    if name == "log" and len(given) == 2:
        return rf"\log_{{{given[1]}}}({given[0]})"
    if name in FUNCTIONS and (len(given) == 1 or name in ("max", "min")):
        return f"{FUNCTIONS[name]}({','.join(given)})"
    raise _OtherError
