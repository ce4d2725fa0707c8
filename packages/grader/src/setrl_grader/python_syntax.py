"""Answers in the syntax of Python and SymPy: 2*pi*sqrt(x), x**2, exp(16), Rational(1, 2).

A product has its sign there and the names are known, so the reading is certain. Python's own parser
reads it; what is not listed here is not read.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from setrl_grader.tokens import GREEK

MAX_LENGTH = 1_000
MAX_DEPTH = 50

_SAME = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan exp max min"
_FUNCTIONS = {name: rf"\{name}" for name in _SAME.split()}
_FUNCTIONS |= {
    "log": r"\ln",
    "ln": r"\ln",
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
}
_WRITTEN = {"sqrt": r"\sqrt{{{}}}", "cbrt": r"\sqrt[3]{{{}}}", "Abs": "|{}|", "abs": "|{}|",
            "factorial": "({})!", "floor": r"\lfloor {}\rfloor ", "ceiling": r"\lceil {}\rceil ",
            "Rational": r"\frac{{{}}}{{{}}}", "Fraction": r"\frac{{{}}}{{{}}}",
            "binomial": r"\binom{{{}}}{{{}}}"}  # fmt: skip
_NAMES = {"pi": r"\pi ", "I": "i", "oo": r"\infty ", "E": "e"}
_NAMES |= {name: rf"\{name} " for name in GREEK if name not in ("Pi", "Sigma")}
_NOT_PYTHON = re.compile(r"[\\^]|[^\x00-\x7f]|\d[a-zA-Z]")  # 2x, and what Python warns of
_CALLS = "|".join([*_FUNCTIONS, *_WRITTEN])
_MARK = re.compile(rf"\*\*|(?<![a-zA-Z])(?:(?:{_CALLS})\(|(?:pi|oo)(?![a-zA-Z(]))")
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: r"\cdot "}


class _OtherError(Exception):
    """The text is not in this syntax."""


@lru_cache(maxsize=4096)
def as_latex(text: str) -> str | None:
    r"""Return an answer in the syntax of Python as LaTeX; None for anything else.

    >>> as_latex("2*pi*sqrt(x)"), as_latex("x**(1/2)"), as_latex("2x"), as_latex("2*x")
    ('2\\cdot \\pi \\cdot \\sqrt{x}', 'x^{\\frac{1}{2}}', None, None)
    """
    plain = text.strip().strip("$").strip()
    if len(plain) > MAX_LENGTH or _NOT_PYTHON.search(plain) or not _MARK.search(plain):
        return None
    name, is_equation, value = plain.partition("=")
    if is_equation and re.fullmatch(r"\s*[a-zA-Z]\s*", name) and "=" not in value:
        found = as_latex(value)
        return None if found is None else f"{name.strip()}={found}"
    try:
        node = ast.parse(plain, mode="eval").body
        if isinstance(node, ast.Tuple) and _is_bare(node, plain):
            return ",".join(_written(each, MAX_DEPTH) for each in node.elts)
        return _written(node, MAX_DEPTH)
    except (SyntaxError, ValueError, MemoryError, RecursionError, _OtherError):
        return None


def _is_bare(node: ast.Tuple, text: str) -> bool:
    """Whether a list has no brackets around it: its first item begins where the list begins."""
    has_brackets = text.startswith("(") and text.endswith(")")
    return not (has_brackets and node.elts and node.elts[0].col_offset > 0)


def _written(node: ast.expr, depth: int) -> str:
    if depth == 0:
        raise _OtherError
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _number(node)
    if isinstance(node, ast.Name):
        return _name(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-{_factor(node.operand, depth)}"
    if isinstance(node, ast.BinOp):
        return _operation(node, depth)
    if isinstance(node, ast.Call):
        return _call(node, depth)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        opening, closing = {ast.Tuple: "()", ast.List: "[]", ast.Set: (r"\{", r"\}")}[type(node)]
        return opening + ",".join(_written(each, depth - 1) for each in node.elts) + closing
    raise _OtherError


def _number(node: ast.Constant) -> str:
    text = ast.unparse(node)
    if not re.fullmatch(r"\d+(?:\.\d+)?", text):
        raise _OtherError
    return text


def _name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    if re.fullmatch(r"[a-zA-Z]", name):
        return name
    if indexed := re.fullmatch(r"([a-zA-Z])_?(\d+)", name):
        return f"{indexed[1]}_{{{indexed[2]}}}"
    raise _OtherError


def _factor(node: ast.expr, depth: int) -> str:
    """Write an operand, in brackets if it is a sum or has a sign."""
    text = _written(node, depth - 1)
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    return f"({text})" if is_sum or isinstance(node, ast.UnaryOp) else text


def _operation(node: ast.BinOp, depth: int) -> str:
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{_written(node.left, depth - 1)}}}{{{_written(node.right, depth - 1)}}}"
    if isinstance(node.op, ast.Pow):
        base = _written(node.left, depth - 1)
        is_leaf = isinstance(node.left, ast.Name | ast.Constant)
        return f"{base if is_leaf else f'({base})'}^{{{_written(node.right, depth - 1)}}}"
    if type(node.op) not in _SIGNS:
        raise _OtherError
    if isinstance(node.op, ast.Mult):
        left, right = _factor(node.left, depth), _factor(node.right, depth)
    else:
        left, right = _written(node.left, depth - 1), _factor(node.right, depth)
    return f"{left}{_SIGNS[type(node.op)]}{right}"


def _call(node: ast.Call, depth: int) -> str:
    if not isinstance(node.func, ast.Name) or node.keywords:
        raise _OtherError
    name, given = node.func.id, [_written(each, depth - 1) for each in node.args]
    if name in _WRITTEN and len(given) == _WRITTEN[name].replace("{{{", "{").count("{}"):
        return _WRITTEN[name].format(*given)
    if name == "log" and len(given) == 2:
        return rf"\log_{{{given[1]}}}({given[0]})"
    if name in _FUNCTIONS and (len(given) == 1 or name in ("max", "min")):
        return f"{_FUNCTIONS[name]}({','.join(given)})"
    raise _OtherError
