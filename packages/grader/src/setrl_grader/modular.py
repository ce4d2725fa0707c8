r"""Rational functions, compared at random points modulo random primes near 2⁶¹.

If two rational functions differ, they agree at a point with a chance of at most degree / 2⁶⁰
(Schwartz and Zippel). Microseconds are enough, where expanding both takes seconds. Every process
draws primes of its own: to a prime that an answer may name, 5 and 5 + p would be equal.

An undefined function, f(x), has a random value for each value of its arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, reduce
from hashlib import blake2b
from typing import Any

from setrl_grader.expressions import CAPITALS, Tree, UnreadableError, letters_of, renamed

POINTS = 3
MAX_EXPONENT = 10**6  # far below the primes: x^(p−1) would be 1 at every point
UNORDERED = {r"\gcd", r"\lcm", r"\max", r"\min", r"\cdot", "*"}
MAX_DIGITS = 2_000
MAX_MATRICES = 64  # factors of a power of a matrix


def equal_rational(one: Tree, other: Tree) -> bool | None:
    """Whether two rational functions with exact numbers are equal; None where one is not such.

        f(x) = g(x) mod p at a random point x, for three random primes p

    >>> from setrl_grader.expressions import read
    >>> equal_rational(read("(x-1)(x+1)"), read("x^2-1")), equal_rational(read("R"), read("r"))
    (True, False)
    """
    return _agree(one, other, _modular, lambda rng, field: rng.randrange(2, field.prime))


def equal_matrices(one: Tree, other: Tree) -> bool:
    """Whether two expressions are equal if their capitals are matrices: (B + C)A = BA + CA.

    >>> from setrl_grader.expressions import read
    >>> equal_matrices(read("(B+C)Ak"), read("kBA+CAk")), equal_matrices(read("AB"), read("BA"))
    (True, False)
    """
    return bool(
        _agree(
            one,
            other,
            _matrix,
            lambda rng, field: [rng.randrange(2, field.prime) for _ in range(4)],
        )
    )


def _agree(
    one: Tree,
    other: Tree,
    value: Callable[[Tree, Any, _Field], Any],
    draw: Callable[[random.Random, _Field], Any],
) -> bool | None:
    """Whether both have one value at random points; None where a value cannot be computed."""
    letters = sorted(letters_of(one) | letters_of(other))
    rng = random.Random("\n".join(letters))
    try:
        for field in _fields():
            point = {letter: draw(rng, field) for letter in letters}
            if value(one, point, field) != value(other, point, field):
                return False
    except (UnreadableError, ZeroDivisionError):
        return None
    return True


def same_up_to_factor(
    one: Tree, other: Tree, equal: Callable[[Tree, Tree], bool | None]
) -> bool | None:
    """Whether one expression is a constant multiple of the other, and neither is zero.

    f(x)·g(y) = f(y)·g(x) at all x and y
    """
    zero = Tree("number", text="0")
    if equal(one, zero) is not False or equal(other, zero) is not False:
        return False
    second = {letter: f"{letter} " for letter in letters_of(one) | letters_of(other)}
    first_by_second = Tree("*", (one, renamed(other, second)))
    return equal(first_by_second, Tree("*", (renamed(one, second), other)))


@dataclass(frozen=True)
class _Field:
    """The integers modulo a prime p ≡ 1 (mod 4), where −1 has a square root."""

    prime: int
    root_of_minus_1: int


@lru_cache(maxsize=1)
def _fields() -> list[_Field]:
    """Return the fields of this process."""
    return [_random_field(random.SystemRandom()) for _ in range(POINTS)]


def _random_field(rng: random.Random) -> _Field:
    while True:
        prime = rng.randrange(2**60 + 1, 2**61, 4)
        if _is_prime(prime):
            break
    while True:
        root = pow(rng.randrange(2, prime), (prime - 1) // 4, prime)
        if root * root % prime == prime - 1:
            return _Field(prime, root)


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test, which is exact below 2⁶⁴ with the first twelve primes as bases."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        power = pow(base, odd, number)
        if power not in (1, number - 1) and all(
            (power := power * power % number) != number - 1 for _ in range(twos - 1)
        ):
            return False
    return True


def _modular(tree: Tree, point: Mapping[str, int], field: _Field) -> int:
    """Return the value in a field; an irrational operation has no value there."""
    if tree.op == "number" and len(tree.text) < MAX_DIGITS:
        top, bottom = Fraction(tree.text).as_integer_ratio()
        return top * _inverse(bottom, field) % field.prime
    if tree.op == "letter":
        return point[tree.text]
    if tree.op == "constant" and tree.text == "i":
        return field.root_of_minus_1
    if tree.op == "^":
        base, exponent = _modular(tree.parts[0], point, field), _integer(tree.parts[1])
        if exponent < 0:
            base, exponent = _inverse(base, field), -exponent
        return pow(base, exponent, field.prime)
    if tree.op not in ("+", "*", "/", "-", "apply"):
        raise UnreadableError
    values = [_modular(part, point, field) for part in tree.parts]
    if tree.op == "apply":
        return drawn(tree.text, values) % field.prime
    if tree.op == "+":
        return sum(values) % field.prime
    if tree.op == "-":
        return -values[0] % field.prime
    if tree.op == "/":
        return values[0] * _inverse(values[1], field) % field.prime
    product = 1
    for value in values:
        product = product * value % field.prime
    return product


Matrix = list[int]  # of two rows


def _matrix(tree: Tree, point: Mapping[str, Matrix], field: _Field) -> Matrix:
    """Return the value of an expression whose capitals are matrices of two rows."""
    if not letters_of(tree) & CAPITALS:
        number = _modular(tree, {letter: value[0] for letter, value in point.items()}, field)
        return [number, 0, 0, number]
    if tree.op == "letter":
        return point[tree.text]
    if tree.op == "^":
        base, exponent = _matrix(tree.parts[0], point, field), _integer(tree.parts[1])
        if abs(exponent) > MAX_MATRICES:
            raise UnreadableError
        base = _inverse_matrix(base, field) if exponent < 0 else base
        return reduce(partial(_product, field), [base] * abs(exponent), [1, 0, 0, 1])
    if tree.op not in ("+", "-", "*", "/") or (
        tree.op == "/" and letters_of(tree.parts[1]) & CAPITALS
    ):
        raise UnreadableError
    values = [_matrix(part, point, field) for part in tree.parts]
    if tree.op == "-":
        return [-entry % field.prime for entry in values[0]]
    if tree.op == "+":
        return [sum(entries) % field.prime for entries in zip(*values, strict=True)]
    if tree.op == "/":
        values[1] = _inverse_matrix(values[1], field)
    return reduce(partial(_product, field), values)


def _product(field: _Field, one: Matrix, other: Matrix) -> Matrix:
    (a, b, c, d), (e, f, g, h) = one, other
    products = a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h
    return [each % field.prime for each in products]


def _inverse_matrix(matrix: Matrix, field: _Field) -> Matrix:
    a, b, c, d = matrix
    scale = _inverse((a * d - b * c) % field.prime, field)
    return [each * scale % field.prime for each in (d, -b, -c, a)]


def drawn(name: str, values: Sequence[object]) -> int:
    """Return the random number that is the value of an unknown function at these arguments."""
    if name in UNORDERED:
        values = sorted(values, key=str)
    return int.from_bytes(blake2b(repr((name, *values)).encode(), digest_size=16).digest())


def _integer(tree: Tree) -> int:
    """Return a small whole exponent."""
    sign = -1 if tree.op == "-" else 1
    leaf = tree.parts[0] if tree.op == "-" else tree
    if leaf.op != "number" or "." in leaf.text or len(leaf.text) > 6:
        raise UnreadableError
    return sign * int(leaf.text)


def _inverse(value: int, field: _Field) -> int:
    if value == 0:
        raise ZeroDivisionError
    return pow(value, -1, field.prime)
