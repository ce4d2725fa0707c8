"""What an answer says: statements as parts, expressions as trees; their exact values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Set
from fractions import Fraction
from typing import NamedTuple

from setrl_grader.budget import of_digits, spend

CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
MAX_DEPTH = 60
MAX_DIGITS = 2_000  # of a number
COUNTS = frozenset(["!", "!!", "binom"])
"""Operations on whole numbers."""


class UnreadableError(Exception):
    """The text holds something that a reader does not understand."""


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
    top, bottom = (Tree("number", text=str(each)) for each in value.as_integer_ratio())
    return top if value.denominator == 1 else Tree("/", (top, bottom))


def whole(tree: Tree) -> int | None:
    """Return the integer that is written, with its sign; None for all else."""
    if tree.op == "-":
        value = whole(tree.parts[0])
        return None if value is None else -value
    return int(tree.text) if tree.op == "number" and tree.text.isdecimal() else None


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


def replaced(tree: Tree, values: dict[str, Tree]) -> Tree:
    """Return the tree with these values of its letters."""
    if tree.op == "letter":
        return values.get(tree.text, tree)
    return Tree(tree.op, tuple(replaced(part, values) for part in tree.parts), tree.text)


def too_deep(tree: Tree) -> bool:
    """Whether a tree is too deep to be walked by functions that call themselves."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in each.parts]
        if not level:
            return False
    return True


def has_modulus(tree: Tree, complex_numbers: bool = False) -> bool:
    """Whether |u| may be of a complex number, or a determinant, so that |u|² is not u²."""
    letters = [letters_of(each) for each in walk(tree) if each.op == "abs"]
    units = [each for each in walk(tree) if each.op == "abs" and has_i(each)]
    unreal = any(each & (CAPITALS | {"z", "w"}) or (each and complex_numbers) for each in letters)
    return unreal or any(map(letters_of, units))


def has_i(tree: Tree) -> bool:
    """Whether the imaginary unit occurs in a tree."""
    return any((each.op, each.text) == ("constant", "i") for each in walk(tree))


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


MAX_EXPONENT = 1_000
MAX_COUNTED = 5_000  # of factorials and binomial coefficients
MAX_BITS = 400_000  # of all parts of an operation


def degree(tree: Tree) -> int:
    """Return a degree that a polynomial does not exceed; 99 if it is not a polynomial."""
    if tree.op == "letter":
        return 1
    if not letters_of(tree):
        return 0
    if tree.op in ("+", "-"):
        return max(map(degree, tree.parts))
    if tree.op == "*":
        return sum(map(degree, tree.parts))
    if tree.op == "/" and not letters_of(tree.parts[1]):
        return degree(tree.parts[0])
    return 99


def exact_value(tree: Tree, point: dict[str, Fraction]) -> Fraction | None:
    """Return the rational value of an expression; None where it has none."""
    if tree.op == "number":
        return Fraction(tree.text) if len(tree.text) < MAX_EXPONENT else None
    if tree.op == "letter":
        return point.get(tree.text)
    values = [exact_value(part, point) for part in tree.parts]
    known = [value for value in values if value is not None]
    bits = sum(each.numerator.bit_length() + each.denominator.bit_length() for each in known)
    spend(of_digits(bits / 10, len(values)))
    if tree.op not in _EXACT or len(known) < len(values) or bits > MAX_BITS:
        return None
    return _EXACT[tree.op](*known)


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    is_small = exponent.denominator == 1 and abs(exponent) * bits < 10 * MAX_EXPONENT
    return base ** int(exponent) if is_small and base else None


def _counted(function: Callable[..., int], *values: Fraction) -> Fraction | None:
    are_whole = all(value.denominator == 1 and 0 <= value <= MAX_COUNTED for value in values)
    return Fraction(paid(function, *map(int, values))) if are_whole else None


def paid(function: Callable[..., int], *numbers: int) -> int:
    """Return what a function that counts gives for whole numbers, and pay for it."""
    spend(numbers[0] ** 2 / 1e5)
    return function(*numbers)


def double_factorial(number: int) -> int:
    """Return n·(n − 2)·(n − 4)·….

    >>> double_factorial(7), double_factorial(0)
    (105, 1)
    """
    half = (number + 1) // 2  # (2k − 1)!! is (2k)! / (2ᵏ k!), and (2k)!! is 2ᵏ k!
    return math.perm(2 * half, half) >> half if number % 2 else math.factorial(half) << half


_EXACT: dict[str, Callable[..., Fraction | None]] = {
    "!": lambda value: _counted(math.factorial, value),
    "binom": lambda top, bottom: _counted(math.comb, top, bottom),
    "+": lambda *terms: sum(terms, Fraction(0)),
    "-": lambda value: -value,
    "*": lambda *factors: math.prod(factors, start=Fraction(1)),
    "/": lambda top, bottom: top / bottom if bottom else None,
    "^": _power,
}
