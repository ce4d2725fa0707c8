"""The strategy of an answer to a generator of reasoning-gym, where it can be read from the answer.

Two answers have the same strategy if their canonical forms are equal:

- countdown, puzzle24: the shape of the expression. Numbers are left out; the order of terms and of
  factors and superfluous brackets do not count.
- shortest_path: the path; word_ladder: the words; n_queens, sudoku, mini_sudoku: the board.
- graph_color: the colouring, whatever the colours are called.
- propositional_logic: the formula; the order of operands of ∧, ∨ and ↔ does not count.

The form depends only on the answer, never on the problem. A form exists for wrong answers, too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable

LONGEST = 500  # characters of an expression; a longer one has no form

_SIGNS = (ast.Add, ast.Sub, ast.UAdd, ast.USub)
_STEPS = {"up", "down", "left", "right"}


def canonical(name: str, answer: str) -> str | None:
    """Return the canonical form of an answer; None if it has none, or the generator has no reader.

    >>> canonical("countdown", "94*4 - 61 - 6") == canonical("countdown", "(3*5) - (1 + 2)")
    True
    """
    reader = READERS.get(name)
    return None if reader is None else reader(answer)


def shape(answer: str) -> str | None:
    """Return an expression with n for each number, sorted terms, and no superfluous brackets.

    >>> shape("94*4 - 61 - 6"), shape("(1 + 2)*3"), shape("3/(4 - 1)"), shape("four")
    ('n*n-n-n', '(n+n)*n', 'n/(n-n)', None)
    """
    if len(answer) > LONGEST:
        return None
    try:
        return _sum(ast.parse(answer.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _sum(node: ast.expr) -> str:
    terms = sorted(_terms(node, False))
    return "".join(f"{'-' if minus else '+'}{term}" for minus, term in terms).removeprefix("+")


def _terms(node: ast.expr, minus: bool) -> list[tuple[bool, str]]:
    """Return the terms of a sum, each with whether it is subtracted."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _terms(node.operand, minus != isinstance(node.op, ast.USub))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = minus != isinstance(node.op, ast.Sub)
        return [*_terms(node.left, minus), *_terms(node.right, right)]
    return [(minus, _product(node))]


def _product(node: ast.expr) -> str:
    factors = sorted(_factors(node, False))
    text = "".join(f"{'/' if divides else '*'}{factor}" for divides, factor in factors)
    return text.removeprefix("*") if text.startswith("*") else f"1{text}"


def _factors(node: ast.expr, divides: bool) -> list[tuple[bool, str]]:
    """Return the factors of a product, each with whether it divides."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        right = divides != isinstance(node.op, ast.Div)
        return [*_factors(node.left, divides), *_factors(node.right, right)]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return [(divides, "n")]
    if isinstance(node, ast.BinOp | ast.UnaryOp) and isinstance(node.op, _SIGNS):
        return [(divides, f"({_sum(node)})")]
    raise ValueError("not an expression of numbers and + - * /")


def moves(answer: str) -> str | None:
    r"""Return the directions of a path, or the word for no path.

    >>> moves(" up  up\nright ")
    'up up right'
    """
    words = answer.lower().split()
    is_path = bool(words) and (set(words) <= _STEPS or words == ["infeasible"])
    return " ".join(words) if is_path else None


def ladder(answer: str) -> str | None:
    """Return the words of a ladder."""
    words = [word.strip().upper() for word in answer.split(",")]
    return ",".join(words) if len(words) > 1 and all(map(str.isalpha, words)) else None


def board(answer: str) -> str | None:
    """Return the cells of a board, row by row: digits, or queens and free squares."""
    rows = ["".join(re.findall(r"[1-9Q_]", row)) for row in answer.split("\n")]
    rows = [row for row in rows if row]
    square = len(rows) > 1 and all(len(row) == len(rows) for row in rows)
    return "/".join(rows) if square else None


def colouring(answer: str) -> str | None:
    """Return which vertices of a graph share a colour, whatever the colours are called.

    >>> colouring('{"0": 1, "1": 2, "2": 1}') == colouring('{"2": 3, "0": 3, "1": 1}')
    True
    """
    try:
        found = json.loads(answer)
        vertices = sorted(found, key=lambda name: (len(name), name))
        colours = [str(found[vertex]) for vertex in vertices]
    except (ValueError, TypeError, RecursionError):
        return None
    first = list(dict.fromkeys(colours))
    return " ".join(str(first.index(colour)) for colour in colours) or None


_LEVELS = ("↔", "→", "∨", "∧")  # the weakest first


def formula(answer: str) -> str | None:
    """Return a formula with sorted operands and brackets only where they are needed.

    >>> formula("(Q ∧ P)"), formula("¬(P → (Q))"), formula("P ∧")
    ('P∧Q', '¬(P→Q)', None)
    """
    text = "".join(answer.split())
    if not text or len(text) > LONGEST:
        return None
    try:
        return _formula(text)[1]
    except ValueError:
        return None


def _formula(text: str) -> tuple[int, str]:
    """Return the level of the weakest operator and the canonical form."""
    for level, operator in enumerate(_LEVELS):
        parts = _parts(text, operator)
        if len(parts) > 1:
            return level, _joined(level, operator, parts)
    if text.startswith("¬"):
        inner, form = _formula(text[1:])
        return 4, f"¬{form if inner == 4 else f'({form})'}"
    if text.startswith("(") and text.endswith(")"):
        return _formula(text[1:-1])
    if re.fullmatch(r"[A-Z]", text):
        return 4, text
    raise ValueError(f"not a formula: {text}")


def _joined(level: int, operator: str, parts: list[str]) -> str:
    """Return operands with their operator; an implication keeps their order."""
    found = [_formula(part) for part in parts]
    forms = [form if inner > level else f"({form})" for inner, form in found]
    if operator != "→":
        forms.sort()
    return operator.join(forms)


def _parts(text: str, operator: str) -> list[str]:
    """Return the operands outside brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += (one == "(") - (one == ")")
        if depth < 0:
            raise ValueError("a bracket too many")
        if one == operator and depth == 0:
            parts.append("")
        else:
            parts[-1] += one
    return parts


READERS: dict[str, Callable[[str], str | None]] = {
    "countdown": shape,
    "puzzle24": shape,
    "shortest_path": moves,
    "word_ladder": ladder,
    "n_queens": board,
    "sudoku": board,
    "mini_sudoku": board,
    "graph_color": colouring,
    "propositional_logic": formula,
}
"""Generator → what reads the canonical form of an answer."""

WORDS: dict[str, str] = {
    "countdown": "the shape of the expression",
    "puzzle24": "the shape of the expression",
    "shortest_path": "the path",
    "word_ladder": "the words",
    "n_queens": "the board",
    "sudoku": "the board",
    "mini_sudoku": "the board",
    "graph_color": "the colouring, whatever the colours are called",
    "propositional_logic": "the formula, up to the order of operands",
}
"""Generator → what its canonical form is, in words."""
