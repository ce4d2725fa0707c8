"""Expressions as trees: what they are worth at a point, and how they can be written in LaTeX."""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

CONSTANTS = {r"\pi": math.pi, "e": math.e, "i": 1j}
FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "ln": cmath.log,
}
CLOSE = 1e-9


@dataclass(frozen=True)
class Node:
    """An operation and its parts: numbers are Fractions, symbols their LaTeX.

    Operations: num, sym, add, mul, div, pow, neg, sqrt, abs, factorial, choose, degrees, and the
    names of `FUNCTIONS`.
    """

    op: str
    parts: tuple[Node | Fraction | str, ...]


def num(value: int | str | Fraction) -> Node:
    """A number that is not negative; `neg` makes it so."""
    return Node("num", (Fraction(value),))


def sym(name: str) -> Node:
    """A variable or a constant, by its LaTeX: x, R, \\omega, x_{1}."""
    return Node("sym", (name,))


def node(op: str, *parts: Node) -> Node:
    """An operation on expressions."""
    return Node(op, parts)


def value(tree: Node, at: Mapping[str, complex]) -> complex:
    """What an expression is worth where its symbols have these values."""
    if tree.op == "num":
        return complex(float(tree.parts[0]))
    if tree.op == "sym":
        return complex(CONSTANTS.get(tree.parts[0]) or at[tree.parts[0]])
    return _apply(tree.op, [value(part, at) for part in tree.parts])


def _apply(op: str, parts: list[complex]) -> complex:
    match op:
        case "add":
            return sum(parts)
        case "mul":
            return math.prod(parts, start=1 + 0j)
        case "div":
            return parts[0] / parts[1]
        case "pow":
            return parts[0] ** parts[1]
        case "neg":
            return -parts[0]
        case "sqrt":
            return cmath.sqrt(parts[0])
        case "degrees":
            return parts[0] * math.pi / 180
        case "abs":
            return complex(abs(parts[0]))
        case "factorial":
            return complex(math.factorial(round(parts[0].real)))
        case "choose":
            return complex(math.comb(*(round(part.real) for part in parts)))
    return FUNCTIONS[op](parts[0])


def symbols(tree: Node) -> set[str]:
    """The variables of an expression."""
    if tree.op == "num":
        return set()
    if tree.op == "sym":
        return {tree.parts[0]} - set(CONSTANTS)
    return set().union(*(symbols(part) for part in tree.parts))


def same(one: Node, other: Node) -> bool:
    """Whether two expressions agree at five random points, each symbol with its own value."""
    rng = random.Random(5)
    names = sorted(symbols(one) | symbols(other))
    points = [{name: rng.uniform(0.3, 2.7) for name in names} for _ in range(5)]
    return all(_close(value(one, at), value(other, at)) for at in points)


def _close(one: complex, other: complex) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other), 1e-12)


@dataclass(frozen=True)
class Style:
    """One way to write expressions in LaTeX; all ways mean the same.

    Attributes:
        fraction: The command of fractions, or "/" for a slash between brackets.
        dot: What stands between factors: "", "\\cdot " or "\\times ".
        space: What stands around + and −.
        brackets: ("(", ")") or with \\left and \\right.
        reverse: Write sums in the opposite order.
        braces: Always write braces around exponents and indices.
    """

    fraction: str = r"\frac"
    dot: str = ""
    space: str = ""
    brackets: tuple[str, str] = ("(", ")")
    reverse: bool = False
    braces: bool = False


PLAIN = Style()
_TIGHT = {"add": 0, "neg": 1, "mul": 2, "div": 2, "pow": 4}


def write(tree: Node, style: Style = PLAIN) -> str:
    """An expression in LaTeX."""
    match tree.op:
        case "num":
            return _number(tree.parts[0], style)
        case "sym":
            return tree.parts[0]
        case "add":
            return _sum(tree.parts, style)
        case "mul":
            return _product(tree.parts, style)
        case "div":
            return _quotient(*tree.parts, style)
        case "neg":
            return "-" + _in(tree.parts[0], 2, style)
        case "pow":
            return _in(tree.parts[0], 5, style) + "^" + _braced(write(tree.parts[1], style), style)
        case "sqrt":
            return rf"\sqrt{{{write(tree.parts[0], style)}}}"
        case "abs":
            return f"|{write(tree.parts[0], style)}|"
        case "factorial":
            return _in(tree.parts[0], 5, style) + "!"
        case "choose":
            top, bottom = (write(part, style) for part in tree.parts)
            return rf"\binom{{{top}}}{{{bottom}}}"
        case "degrees":
            return write(tree.parts[0], style) + r"^\circ"
    left, right = style.brackets
    return rf"\{tree.op}{left}{write(tree.parts[0], style)}{right}"


def _number(number: Fraction, style: Style) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    if style.fraction == "/":
        return f"{number.numerator}/{number.denominator}"
    return rf"{style.fraction}{{{number.numerator}}}{{{number.denominator}}}"


def _sum(parts: tuple[Node, ...], style: Style) -> str:
    ordered = parts[::-1] if style.reverse else parts
    text = ""
    for part in ordered:
        written = _in(part, 0, style)
        if text and not written.startswith("-"):
            written = "+" + style.space + written
        elif text:
            written = "-" + style.space + written[1:]
        text += (style.space if text else "") + written
    return text


def _product(parts: tuple[Node, ...], style: Style) -> str:
    text = ""
    for part in parts:
        written = _in(part, 2, style)
        needs_dot = bool(text) and (written[0].isdigit() or _ends_in_command(text, written))
        joint = style.dot or (r"\cdot " if needs_dot else "")
        text += (joint if text else "") + written
    return text


def _ends_in_command(text: str, following: str) -> bool:
    return text[-1].isalpha() and following[0].isalpha() and "\\" in text[-8:]


def _quotient(top: Node, bottom: Node, style: Style) -> str:
    if style.fraction == "/":
        return f"{_in(top, 3, style)}/{_in(bottom, 5, style)}"
    return rf"{style.fraction}{{{write(top, style)}}}{{{write(bottom, style)}}}"


def _in(tree: Node, tightness: int, style: Style) -> str:
    """An expression as a part of one that binds its parts with this tightness."""
    written = write(tree, style)
    own = _TIGHT.get(tree.op, 6)
    if tree.op == "num" and tree.parts[0].denominator > 1:
        own = 2
    if tree.op == "div" and style.fraction != "/" and tightness <= 3:
        own = 6
    left, right = style.brackets
    return written if own >= tightness else f"{left}{written}{right}"


def _braced(text: str, style: Style) -> str:
    return text if len(text) == 1 and not style.braces else f"{{{text}}}"
