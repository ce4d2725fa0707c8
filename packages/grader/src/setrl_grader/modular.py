r"""Rational functions, compared at random points modulo random primes near 2⁶¹.

If two rational functions differ, they agree at a point with a chance of at most degree / 2⁶⁰
(Schwartz and Zippel). Microseconds are enough, where expanding both takes seconds. Every process
draws primes of its own: to a prime that an answer may name, 5 and 5 + p would be equal.

    p ≡ 1 (mod 8 · 3 · 5 · … · 19), so −1 and each of these primes is a square modulo p

Any of its two roots will do: what holds for i, √2, √3, …, √19 holds for all choices of their signs.
What else is no rational operation, e^x or ln(x + 1), counts as a new letter: equal rational
functions of the same new letters are equal, others take more than this.

An undefined function, f(x), has a random value for each value of its arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from math import gcd, isqrt, lcm, prod
from typing import NamedTuple

from setrl_grader.budget import spend
from setrl_grader.trees import (
    CAPITALS,
    MAX_DIGITS,
    Tree,
    UnreadableError,
    exact_value,
    letters_of,
    quotient,
    replaced,
    walk,
    whole,
)

POINTS = 3
BRANCHES, DRAWS = 16, 64  # points for each field, and tries for each, where √u has a sign to draw
SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
MODULUS = 8 * prod(SMALL_PRIMES[1:])
UNORDERED = {r"\gcd", r"\lcm", r"\max", r"\min", r"\cdot", "*"}
STEP, ROOT_STEP = 5, 60
_ROOTS = frozenset(["root", "^"])


class _NoRootError(Exception):
    """A number has no square root in a field, so that another point must be drawn."""


def equal_rational(one: Tree, other: Tree, matrices: bool = False) -> bool | None:
    r"""Whether two rational functions with exact numbers are equal; None where one is not such.

        f(x) = g(x) mod p at a random point x, for three random primes p

    Args:
        one: The gold.
        other: The answer.
        matrices: Whether capitals are, so that the order of a product counts: AB + C is C + AB.

    >>> from setrl_grader.grammar import read
    >>> equal_rational(read("(x-1)(x+1)"), read("x^2-1")), equal_rational(read("R"), read("r"))
    (True, False)
    >>> equal_rational(read("AB+C"), read("C+BA"), matrices=True)
    False
    >>> equal_rational(read(r"\sqrt{8}"), read(r"2\sqrt{2}"))
    True
    """
    letters = sorted(letters_of(one) | letters_of(other))
    rng = random.Random("\n".join(letters))
    operations = (each for tree in (one, other) for each in walk(tree) if each.op in _ROOTS)
    branches, irrational = any(map(letters_of, operations)), False
    try:
        for prime in _primes() * (BRANCHES if branches else 1):
            sides, values = _at_a_point((one, other), letters, prime, rng, matrices)
            if sides[0].new != sides[1].new:  # ln u has fewer values than 0·ln u leaves
                return None
            irrational = sides[0].irrational or sides[1].irrational
            if values[0] != values[1]:
                unsure = sides[0].new or (irrational and (_rounds(one) or _rounds(other)))
                return None if unsure else False
    except (UnreadableError, ValueError):  # no value, or a division by 0
        return None
    return True


def _at_a_point(
    trees: tuple[Tree, Tree],
    letters: list[str],
    prime: int,
    rng: random.Random,
    matrices: bool,
) -> tuple[list[_Side], list[int]]:
    """Return both values at a random point at which all square roots exist.

    Raises:
        UnreadableError: If there is no value, or no such point was drawn.
    """
    for _ in range(DRAWS):
        point = {letter: rng.randrange(2, prime) for letter in letters}
        sides = [_Side(point, prime, matrices) for _ in trees]
        with suppress(_NoRootError):
            values = [side.value(tree) for side, tree in zip(sides, trees, strict=True)]
            return sides, values
    raise UnreadableError


def same_up_to_factor(
    one: Tree, other: Tree, equal: Callable[[Tree, Tree], bool | None]
) -> bool | None:
    """Whether one expression is a constant multiple of the other, and neither is zero.

    f(x)·g(y) = f(y)·g(x) at all x and y
    """
    zero = Tree("number", text="0")
    zeros = equal(one, zero), equal(other, zero)
    if zeros != (False, False):
        return False if True in zeros else None
    letters = letters_of(one) | letters_of(other)
    second = {letter: Tree("letter", text=f"{letter} ") for letter in letters}
    first_by_second = Tree("*", (one, replaced(other, second)))
    return equal(first_by_second, Tree("*", (replaced(one, second), other)))


@lru_cache(maxsize=1)
def _primes() -> list[int]:
    """Return the primes of this process."""
    found, rng = list[int](), random.SystemRandom()
    while len(found) < POINTS:
        number = 1 + MODULUS * rng.randrange(2**60 // MODULUS + 1, 2**61 // MODULUS)
        found += [number] if _is_prime(number) else []
    return found


def _is_prime(number: int) -> bool:
    """Whether a random number is a prime, by Fermat's test."""
    return all(pow(base, number - 1, number) == 1 for base in SMALL_PRIMES)


class _Squares(NamedTuple):
    """A number in a field as root²·ratio·rest."""

    root: int
    ratio: Fraction
    rest: int


class _Side:
    """The value of one side in a field, and what is no rational operation in it.

    Attributes:
        new: The operations that count as new letters, with the values of their parts.
        irrational: Whether a root has its exact value.
    """

    def __init__(self, point: Mapping[str, int], prime: int, matrices: bool):
        self.point = point
        self.matrices = matrices
        self.prime = prime
        self.new: set[tuple[object, ...]] = set()
        self.irrational = False

    def value(self, tree: Tree) -> int:
        """Return the value in the field.

        Raises:
            ValueError: If something is divided by 0.
        """
        spend(STEP)
        if tree.op == "number" and len(tree.text) < MAX_DIGITS:
            return self._rational(Fraction(tree.text))
        if tree.op == "letter":
            return self.point[tree.text]
        if tree.op == "constant" and tree.text == "i":
            return _signed_root(-1 % self.prime, self.prime)
        if tree.op == "^" and (exponent := _power(tree)) is not None:
            return pow(self.value(tree.parts[0]), exponent, self.prime)
        if tree.op in ("number", "constant") or (found := self._irrational(tree)) is None:
            return self._as_letter(tree, [self.value(part) for part in tree.parts])
        return found

    def _irrational(self, tree: Tree) -> int | None:
        """Return the value of a sum, a product or a root of a rational number; None for others."""
        if tree.op in _ROOTS and letters_of(tree):
            return self._branch(tree)
        if tree.op == "abs":
            return self._size(tree.parts[0])
        if tree.op == "root":
            exact = self._root(tree)
            self.irrational |= exact is not None
            return exact
        if tree.op not in ("+", "*", "/", "-", "apply", "word"):
            return None
        values = [self.value(part) for part in tree.parts]
        if tree.op in ("apply", "word"):
            return drawn(tree.text, values) % self.prime
        if tree.op == "-":
            return -values[0] % self.prime
        if tree.op == "/":
            values[1] = pow(values[1], -1, self.prime)
        if self.matrices and tree.op == "*":
            capital = [bool(letters_of(part) & CAPITALS) for part in tree.parts]
            ordered = [value for value, is_one in zip(values, capital, strict=True) if is_one]
            values = [value for value, is_one in zip(values, capital, strict=True) if not is_one]
            values += ordered if len(ordered) < 2 else [drawn("product", ordered) % self.prime]
        return (sum(values) if tree.op == "+" else prod(values)) % self.prime

    def _as_letter(self, tree: Tree, values: list[int]) -> int:
        self.new.add((tree.op, tree.text, *values))
        return drawn(f"{tree.op} {tree.text}", values) % self.prime

    def _branch(self, tree: Tree) -> int | None:
        """Return √u with a sign that is drawn for each u, or a power of it; None for other roots.

        What holds for all signs holds where √u is not negative: u/√u is √u, but √(u²) is not u.
        """
        half = tree.op == "root" and tree.parts[1].text == "2"
        power = Fraction(1, 2) if half else exact_value(tree.parts[1], {}) or Fraction(0)
        if (tree.op == "root" and not half) or power.denominator != 2:
            return None
        found, two = self._squares(tree.parts[0]), Tree("number", text="2")
        root = found.root * self.value(Tree("root", (quotient(found.ratio), two)))
        if found.rest != 1:
            spend(ROOT_STEP)
            self.new.add(("root", found.rest))
            root *= _signed_root(found.rest, self.prime)
        return pow(root, power.numerator, self.prime)

    def _squares(self, tree: Tree) -> _Squares:
        """Split u into r², a positive rational number, and the rest: 4x²y is (2|x|)²·y."""
        if tree.op == "number" and len(tree.text) < MAX_DIGITS and Fraction(tree.text):
            return _Squares(1, Fraction(tree.text), 1)
        even = _power(tree) if tree.op == "^" else None
        if even is not None and even % 2 == 0:
            size = self._size(tree.parts[0])
            return _Squares(pow(size, even // 2, self.prime), Fraction(1), 1)
        if tree.op not in ("*", "/", "-"):
            content = factor_of(tree)
            rest = self.value(tree) * pow(self._rational(content), -1, self.prime)
            return _Squares(1, content, rest % self.prime)
        roots, ratios, rests = zip(*map(self._squares, tree.parts), strict=True)
        root, rest = prod(roots), prod(rests) * (-1 if tree.op == "-" else 1)
        if tree.op == "/":  # √(u/v) is √(uv)/|v|
            root *= pow(self._size(tree.parts[1]), -1, self.prime)
        return _Squares(root % self.prime, prod(ratios), rest % self.prime)

    def _size(self, tree: Tree) -> int:
        """Return |u|, a new letter that is the same for −u; of a product, those of its factors."""
        if tree.op in ("number", "constant") and tree.text != "i":
            return self.value(tree)
        if tree.op in ("*", "/", "-"):
            first, *others = map(self._size, tree.parts)
            others = [pow(each, -1, self.prime) if tree.op == "/" else each for each in others]
            return prod(others, start=first) % self.prime
        scale = self._rational(factor_of(tree))
        value = self.value(tree) * pow(scale, -1, self.prime) % self.prime
        value = min(value, -value % self.prime)
        return scale * self._as_letter(Tree("abs"), [value]) % self.prime

    def _rational(self, number: Fraction) -> int:
        return number.numerator * pow(number.denominator, -1, self.prime) % self.prime

    def _root(self, tree: Tree) -> int | None:
        """Return a square root of a positive rational number with small primes."""
        radicand = exact_value(tree.parts[0], {}) if not letters_of(tree) else None
        if radicand is None or radicand < 0 or tree.parts[1].text != "2":
            return None
        root, rest = 1, radicand.numerator * radicand.denominator
        for each in SMALL_PRIMES:
            while rest and rest % each == 0:
                rest //= each
                root = root * _signed_root(each, self.prime)
        if isqrt(rest) ** 2 != rest:
            return None
        return self._rational(Fraction(root * isqrt(rest), radicand.denominator))


@lru_cache(maxsize=1024)
def _signed_root(value: int, prime: int) -> int:
    """Return a square root, found by Cipolla's way, with a sign that only the value decides.

    Raises:
        _NoRootError: If there is none.
    """
    half = (prime - 1) // 2
    if pow(value, half, prime) != 1:
        raise _NoRootError
    start = next(a for a in range(1, prime) if pow(a * a - value, half, prime) == prime - 1)
    (one, two), (x, y), power = (start, 1), (1, 0), (prime + 1) // 2
    square = start * start - value
    while power:  # (x + y·√square) · (one + two·√square)^power
        if power & 1:
            x, y = (x * one + y * two * square) % prime, (x * two + y * one) % prime
        one, two = (one * one + two * two * square) % prime, 2 * one * two % prime
        power >>= 1
    return x if drawn("sign", [value]) & 1 else -x % prime


def factor_of(tree: Tree) -> Fraction:
    """Return a positive rational factor of an expression, which all its terms have."""
    if tree.op == "number" and len(tree.text) < MAX_DIGITS:
        return abs(Fraction(tree.text)) or Fraction(1)
    parts = [*map(factor_of, tree.parts)] if tree.op in "+-*/" and tree.parts else []
    if tree.op == "+":
        tops, bottoms = zip(*(each.as_integer_ratio() for each in parts), strict=True)
        return Fraction(gcd(*tops), lcm(*bottoms))
    if tree.op == "/":
        return parts[0] / parts[1]
    return prod(parts, start=Fraction(1))


def _rounds(tree: Tree) -> bool:
    """Whether a number in an expression has a decimal point, so that it may be rounded."""
    return "." in tree.text or any(map(_rounds, tree.parts))


def _power(tree: Tree) -> int | None:
    """Return the exponent of a power if it is a small integer; None for another one."""
    exponent = whole(tree.parts[1])
    return exponent if exponent is not None and abs(exponent) < 10**6 else None


def drawn(name: str, values: Sequence[object]) -> int:
    """Return the random number that is the value of an unknown function at these arguments."""
    if name in UNORDERED:
        values = sorted(values, key=str)
    return int.from_bytes(blake2b(repr((name, *values)).encode(), digest_size=16).digest())
