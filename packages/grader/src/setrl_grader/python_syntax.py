"""Answers in the syntax of Python and SymPy: 2*pi*sqrt(x), x**2, exp(16), Matrix([[1, 2], [3, 4]]).

A product has its sign there and the names are known, so the reading is certain: Python's own parser
reads the expressions, which are written as LaTeX, and the grammar reads the rest. What is not
listed here is not read.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from itertools import pairwise

from setrl_grader.tokens import GREEK, depths
from setrl_grader.trees import UnreadableError

MAX_LENGTH = 1_000
MAX_DEPTH = 50  # of brackets, and terms of a sum

_SAME = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan exp max min"
FUNCTIONS = {
    **{name: rf"\{name}" for name in _SAME.split()},
    "log": r"\ln", "ln": r"\ln", "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan",
}  # fmt: skip
WRITTEN = {"sqrt": r"\sqrt{{{}}}", "Abs": "|{}|", "abs": "|{}|", "factorial": "({})!",
            "floor": r"\lfloor {}\rfloor ", "ceiling": r"\lceil {}\rceil ",
            "Rational": r"\frac{{{}}}{{{}}}", "Fraction": r"\frac{{{}}}{{{}}}",
            "binomial": r"\binom{{{}}}{{{}}}", "cbrt": r"\sqrt[3]{{{}}}"}  # fmt: skip
NAMES = {
    "pi": r"\pi ", "I": "i", "oo": r"\infty ", "E": "e", "lamda": r"\lambda ",
    **{name: rf"\{name} " for name in GREEK if name not in ("Pi", "Sigma")},
}  # fmt: skip
_NOT_PYTHON = re.compile(r"[\\^#]|[^\x00-\x7f]|\d[a-zA-Z]")  # 2x, and what Python warns of
_CALLS = "|".join([*FUNCTIONS, *WRITTEN, "Matrix"])
_MARK = re.compile(
    rf"\*\*|(?<![a-zA-Z])(?:(?:{_CALLS})\(|(?:pi|oo)(?![a-zA-Z(])|[EI]\s*\*)|\*\s*[EI](?!\w)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_INTEGER = re.compile(r"-?\d+")
_NAMED = re.compile(r"\s*([a-zA-Z])\s*=(?!=)")
_BRACKETS = ("(", "[", "{")
_SIGNS: dict[type[ast.AST], tuple[str, int]] = {  # an operation → its sign, and how close it binds
    ast.Add: ("+", 1),
    ast.Sub: ("-", 1),
    ast.Mult: (r"\cdot ", 2),
    ast.Div: ("/", 2),
}
_ORDERS = {ast.Lt: "<", ast.Gt: ">", ast.LtE: r"\le ", ast.GtE: r"\ge ", ast.NotEq: r"\ne "}
_ATOM = 5
_POSITIVE = {"sqrt", "exp", "factorial", "pi", "E"}
_LAMBDA = re.compile(r"(?<!\w)lambda(?!\w)")  # which is a word of Python


@lru_cache(maxsize=4096)
def as_latex(text: str, letters: str = "") -> str | None:
    r"""Return an answer in the syntax of Python as LaTeX; None for anything else.

    Args:
        text: The answer.
        letters: Which of I and E are letters here: a current, and no imaginary unit.

    >>> as_latex("2*pi*sqrt(x)"), as_latex("x**(1/2)"), as_latex("(0, pi]"), as_latex("2*x")
    ('2\\cdot \\pi \\cdot \\sqrt{x}', 'x^{1/2}', '(0, \\pi ]', None)
    """
    plain = text.strip().strip("$").strip()
    if len(text) > MAX_LENGTH or _NOT_PYTHON.search(plain) or not _MARK.search(plain):
        return None
    for each in letters:
        plain = re.sub(rf"(?<!\w){each}(?!\w)", f"letter_{each}", plain)
    try:
        return _items(_LAMBDA.sub("lamda", " ".join(plain.split())), MAX_DEPTH)
    except (UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _items(text: str, depth: int) -> str:
    """Write what is between commas."""
    commas = _outermost(text, depth, ",")
    pieces = [text[start + 1 : end] for start, end in pairwise([-1, *commas, len(text)])]
    return ",".join(" " * piece.startswith(" ") + _item(piece.strip(), depth) for piece in pieces)


def _outermost(text: str, depth: int, signs: str) -> list[int]:
    """Return where these signs stand in no bracket."""
    levels = [0, *depths(text, "([{", ")]}")]
    if not (min(levels) == 0 == levels[-1] and max(levels) <= depth):
        raise UnreadableError
    places = enumerate(zip(text, levels[1:], strict=True))
    return [at for at, (sign, level) in places if level == 0 and sign in signs]


def _item(text: str, depth: int) -> str:
    """Write a named item, a bracket with its own two ends, or an expression."""
    if named := _NAMED.match(text):
        return f"{named[1]}={_item(text[named.end() :].strip(), depth)}"
    if text[:1] in _BRACKETS and _outermost(text, depth, ")]}")[0] == len(text) - 1:
        inner = text[1:-1]
        if text[0] != "(" or text[-1] != ")" or _outermost(inner, depth, ","):
            ends = [rf"\{end}" if end in "{}" else end for end in (text[0], text[-1])]
            return _items(inner, depth - 1).join(ends)
    return _Writer(text).written(ast.parse(text, mode="eval").body, depth)[0]


class _Writer:
    """It writes an expression of Python as LaTeX, and says how close the last operation binds."""

    def __init__(self, text: str):
        self.text = text

    def written(self, node: ast.expr, depth: int) -> tuple[str, int]:
        if depth < 0:
            raise UnreadableError
        match node:
            case ast.Constant() if _NUMBER.fullmatch(number := self.source(node)):
                return number, _ATOM
            case ast.Name(name):
                return _name(name), _ATOM
            case ast.UnaryOp(ast.USub(), operand):
                return f"-{self.side(operand, 2, depth)}", 2
            case ast.BinOp(base, ast.Pow(), exponent):
                if _in_doubt(base) and not _INTEGER.fullmatch(self.source(exponent)):
                    raise UnreadableError
                raised = self.written(exponent, depth - 1)[0]
                return f"{self.side(base, _ATOM, depth)}^{{{raised}}}", 4
            case ast.BinOp(left, operator, right) if type(operator) in _SIGNS:
                sign, binds = _SIGNS[type(operator)]
                last = self.side(right, binds + 1, depth, first=False)
                return self.side(left, binds, depth) + sign + last, binds
            case ast.Call(ast.Name(name), given, []):
                return self.call(name, given, depth - 1), 4
            case ast.Compare(left, signs, others):
                sides = [self.side(each, 1, depth) for each in (left, *others)]
                orders = [_ORDERS[type(sign)] for sign in signs if type(sign) in _ORDERS]
                if len(orders) == len(signs):
                    return "".join(map("".join, zip(sides, [*orders, ""], strict=True))), 0
        raise UnreadableError

    def source(self, node: ast.expr) -> str:
        return self.text[node.col_offset : node.end_col_offset]

    def side(self, node: ast.expr, least: int, depth: int, *, first: bool = True) -> str:
        """Write one side of an operation, in brackets where it binds less."""
        text, binds = self.written(node, depth - 1)
        return f"({text})" if binds < least or (text[0] == "-" and not first) else text

    def call(self, name: str, given: list[ast.expr], depth: int) -> str:
        if name == "Matrix" and len(given) == 1:
            rows = [_elements(row) or [row] for row in _elements(given[0])]
            return self.matrix(rows, depth)
        texts = [self.written(each, depth)[0] for each in given]
        if name == "cbrt" and any(map(_in_doubt, given)):
            raise UnreadableError
        if name in WRITTEN and len(texts) == WRITTEN[name].replace("{{{", "{").count("{}"):
            return WRITTEN[name].format(*texts)
        if name == "log" and len(texts) == 2:
            return rf"\log_{{{texts[1]}}}({texts[0]})"
        if name in FUNCTIONS and (len(texts) == 1 or name in ("max", "min")):
            return f"{FUNCTIONS[name]}({','.join(texts)})"
        raise UnreadableError

    def matrix(self, rows: list[list[ast.expr]], depth: int) -> str:
        lines = ["&".join(self.written(each, depth)[0] for each in row) for row in rows]
        return r"\begin{pmatrix}" + r"\\".join(lines) + r"\end{pmatrix}"


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List) else []


def _in_doubt(base: ast.expr) -> bool:
    """Whether a number may be below 0: its root is complex in Python, and real in LaTeX."""
    parts = list(ast.walk(base))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    if names - _POSITIVE - FUNCTIONS.keys() - WRITTEN.keys():  # a letter, as in LaTeX
        return False
    return bool(names - _POSITIVE) or any(isinstance(part, ast.USub | ast.Sub) for part in parts)


def _name(name: str) -> str:
    if name.startswith("letter_"):
        return f"{name[-1]} "
    if name in NAMES:
        return NAMES[name]
    indexed = re.fullmatch(r"([a-zA-Z])(?:_?(\d+))?", name)
    if not indexed:
        raise UnreadableError
    return f"{indexed[1]}_{{{indexed[2]}}}" if indexed[2] else name
