"""What an answer says: statements as parts, expressions as trees."""

from __future__ import annotations

from collections.abc import Iterator, Set
from fractions import Fraction
from typing import NamedTuple

CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
MAX_DEPTH = 60


class Tree(NamedTuple):
    """An operation and its parts.

    Attributes:
        op: "number", "letter", "constant", "word" (a comma, or what is not read), "+", "*", "/",
            "^", "-" (of one part), "root" (of a degree), "binom", "!", "abs", "floor", "ceil",
            "degrees", "log" (of a base), a command of a function, or "apply": an unknown function,
            a sum, or a product of vectors.
        parts: Its parts.
        text: What a leaf is: the number or the letter; of "apply" the function's name; of "/" how a
            number is written, "mixed" or "periodic".
    """

    op: str
    parts: tuple[Tree, ...] = ()
    text: str = ""


class Part(NamedTuple):
    """A statement, or several.

    Attributes:
        kind: "expression", or "text" that is not read; "list"; the brackets of a tuple, an interval
            or a set: "()", "[)", "{}", "⟨⟩", …; "matrix", "relation", "union", "ratio", "builder",
            "percent".
        text: How it is written in normal form.
        parts: Members, entries by rows, sides, or terms.
        marks: Separators, signs, the size of a matrix ("2×3"), or the letter of a builder.
        tree: What an expression is.
    """

    kind: str
    text: str
    parts: tuple[Part, ...] = ()
    marks: str = ""
    tree: Tree | None = None


def quotient(value: Fraction) -> Tree:
    """Return a positive rational number as a tree."""
    return Tree("/", tuple(Tree("number", text=str(each)) for each in value.as_integer_ratio()))


def walk(tree: Tree) -> Iterator[Tree]:
    """Yield an expression and all its parts."""
    yield tree
    for part in tree.parts:
        yield from walk(part)


def letters_of(tree: Tree) -> set[str]:
    """Return the letters of an expression, with their indices and primes."""
    return {each.text for each in walk(tree) if each.op == "letter"}


def has(tree: Tree, ops: Set[str]) -> bool:
    """Whether one of the operations occurs in a tree."""
    return any(each.op in ops for each in walk(tree))


def renamed(tree: Tree, names: dict[str, str]) -> Tree:
    """Return the tree with other names of its letters."""
    if tree.op == "letter":
        return Tree("letter", text=names.get(tree.text, tree.text))
    return Tree(tree.op, tuple(renamed(part, names) for part in tree.parts), tree.text)


def too_deep(tree: Tree) -> bool:
    """Whether a tree is too deep to be walked by functions that call themselves."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in each.parts]
        if not level:
            return False
    return True


def may_be_matrices(tree: Tree) -> bool:
    """Whether capitals are multiplied, and nothing says that they are numbers: AB may not be BA.

    They are numbers in A + 1, in a denominator, and within functions.
    """
    return any(map(_multiplies_capitals, walk(tree))) and not has_numbers(tree)


def has_numbers(tree: Tree) -> bool:
    """Whether something says that capitals are numbers."""
    return any(map(_has_numbers, walk(tree)))


def _multiplies_capitals(tree: Tree) -> bool:
    factors = [letters_of(part) & CAPITALS for part in tree.parts] if tree.op == "*" else []
    return sum(map(bool, factors)) > 1 and len(set().union(*factors)) > 1


def _has_numbers(tree: Tree) -> bool:
    """Whether a capital must be a number at its place."""
    capital = [bool(letters_of(part) & CAPITALS) for part in tree.parts]
    if tree.op == "+" and any(capital) and not all(capital):
        return True
    if tree.op == "^":
        return capital[0] and has(tree.parts[1], {"/"})
    return (tree.op == "/" and capital[1]) or (tree.op not in "+-*/apply" and any(capital))
