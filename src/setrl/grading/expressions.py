r"""Expressions as trees, read from normal forms, and whether two of them are equal.

Letters keep their case, index and primes: R is not r, x_1 is not x_2, f' is not f. What the reader
does not understand it does not read (`read` returns None): a function that is applied, f(x), could
be a product, and anything with a sum sign or an integral is left to math-verify.

Two rational functions are compared at random points modulo random primes near 2⁶¹. If they differ,
they agree at a point with a chance of at most degree / 2⁶⁰ (Schwartz and Zippel). Microseconds are
enough, where expanding both takes seconds. Every process draws primes of its own: to a prime that
an answer may name, 5 and 5 + p would be equal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from setrl.grading.tokens import FUNCTIONS

MAX_EXPONENT = 10**6  # far below the primes: x^(p−1) would be 1 at every point
MAX_DEPTH = 60
POINTS = 3

_GREEK = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi
    rho sigma tau upsilon phi varphi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega
"""
_LETTERS = {rf"\{name}" for name in _GREEK.split()} | set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)
_APPLIED = set("fghFGPpQuvw") | {r"\phi", r"\varphi", r"\psi"}  # before "(": applied, or a factor?
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|\.[0-9]+|\s+|.", re.DOTALL)
_DIGITS = "0123456789"
_ONE_ARGUMENT = FUNCTIONS - {r"\max", r"\min", r"\gcd", r"\lcm", r"\log"}
_INVERSE = {r"\sin": r"\arcsin", r"\cos": r"\arccos", r"\tan": r"\arctan"}


@dataclass(frozen=True)
class Tree:
    """An operation and its parts.

    Attributes:
        op: "number", "letter", "constant", "+", "*", "/", "^", "-" (of one part), "root" (of a
            degree), "binom", "!", "abs", "degrees", "log" (of a base), or a function's command.
        parts: The parts; none of leaves.
        text: What a leaf is: the number or the letter.
    """

    op: str
    parts: tuple[Tree, ...] = ()
    text: str = ""


class UnreadableError(Exception):
    """The text holds something that this reader does not understand."""


@lru_cache(maxsize=4096)
def read(text: str) -> Tree | None:
    r"""Read a normal form as an expression; return None if it may be something else.

    >>> read("x^2+1").op, read(r"\frac{1}{2}").op, read("f(x)"), read("2x+")
    ('+', '/', None, None)
    """
    reader = _Reader([token for token in _TOKEN.findall(text) if not token.isspace()])
    if re.search(r"(?<![\d._^])\d+\s+\d", text):  # 1 2 is no product
        return None
    try:
        tree = reader.sum()
    except (UnreadableError, IndexError, RecursionError):
        return None
    return tree if reader.at == len(reader.tokens) and not _too_deep(tree) else None


def _too_deep(tree: Tree) -> bool:
    """Whether a tree is too deep to be walked by functions that call themselves."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in each.parts]
        if not level:
            return False
    return True


class _Reader:
    """A reader by recursive descent: a sum of products of powers."""

    def __init__(self, tokens: list[str]):
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.next
        if not token or (expected and token not in expected):
            raise UnreadableError
        self.at += 1
        return token

    def sum(self) -> Tree:
        terms = [self.term()]
        while self.next in ("+", "-") and self.next:
            terms.append(self.term())
        return terms[0] if len(terms) == 1 else Tree("+", tuple(terms))

    def term(self) -> Tree:
        """Read a product with its sign."""
        negative = False
        while self.next in ("+", "-") and self.next:
            negative ^= self.take() == "-"
        product = self.product()
        return Tree("-", (product,)) if negative else product

    def product(self) -> Tree:
        tree = self.power()
        while True:
            if self.next in (r"\cdot", r"\times", "*"):
                self.take()
                tree = _times(tree, self.signed())
            elif self.next in ("/", r"\div"):
                self.take()
                tree = Tree("/", (tree, self.signed()))
                if self._starts_factor():  # 1/2x: a half of x, or one by 2x?
                    raise UnreadableError
            elif self._starts_factor():
                tree = _times(tree, self.power())
            else:
                return tree

    def signed(self) -> Tree:
        if self.next == "-":
            self.take()
            return Tree("-", (self.power(),))
        return self.power()

    def _starts_factor(self) -> bool:
        token = self.next
        starts = ("(", "{", r"\frac", r"\sqrt", r"\binom", r"\pi", r"\log")
        if token and token[0] in _DIGITS:
            before = self.tokens[self.at - 1]
            return before[-1] not in _DIGITS  # )2 is a product, 2 3 was refused
        return token in starts or token in _LETTERS or token in _ONE_ARGUMENT

    def power(self) -> Tree:
        tree = self.postfix()
        if self.next == "^":
            self.take()
            tree = self.postfixed(Tree("^", (tree, self.argument())))
        return tree

    def postfix(self) -> Tree:
        return self.postfixed(self.atom())

    def postfixed(self, tree: Tree) -> Tree:
        while self.next in ("!", "°") and self.next:
            if self.take() == "°":
                tree = Tree("degrees", (tree,))
                continue
            twice = self.next == "!"  # 5!! is 5·3·1, not (5!)!
            if twice and (self.take() and self.next == "!"):
                raise UnreadableError
            tree = Tree("!!" if twice else "!", (tree,))
        return tree

    def argument(self) -> Tree:
        """Read a braced group, one letter, or a number as people write it: 2^10."""
        if self.next == "{":
            return self.inside("{", "}")
        if self.next == "-":
            self.take()
            return Tree("-", (self.atom(),))
        return self.atom()

    def inside(self, opening: str, closing: str) -> Tree:
        self.take(opening)
        tree = self.sum()
        self.take(closing)
        return tree

    def atom(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError
        tree = self.atom_here()
        self.depth -= 1
        return tree

    def atom_here(self) -> Tree:
        token = self.take()
        if token[0] in _DIGITS or (token[0] == "." and len(token) > 1):
            if self.next == "_":  # a number in a base
                raise UnreadableError
            return Tree("number", text=token)
        if token in ("(", "{", "["):
            self.at -= 1
            return self.inside(token, {"(": ")", "{": "}", "[": "]"}[token])
        if token == "|":
            tree = self.sum()
            self.take("|")
            return Tree("abs", (tree,))
        if token == r"\pi":
            return Tree("constant", text=token)
        if token in _LETTERS:
            return self.letter(token)
        return self.command(token)

    def letter(self, name: str) -> Tree:
        """Read a letter with its index and primes."""
        index, primes = "", ""
        if self.next == "_":
            self.take()
            index = "_" + self.raw_group()
        while self.next == "'":
            primes += self.take()
        if (self.next == "(" and name in _APPLIED) or (primes and self.next == "("):
            raise UnreadableError
        if name in ("e", "i") and not index and not primes:
            return Tree("constant", text=name)
        return Tree("letter", text=name + index + primes)

    def raw_group(self) -> str:
        if self.next != "{":
            return self.take()
        start = self.at
        depth = 0
        while True:
            token = self.take()
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return "".join(self.tokens[start + 1 : self.at - 1])

    def command(self, token: str) -> Tree:
        if token == r"\frac":
            return Tree("/", (self.inside("{", "}"), self.inside("{", "}")))
        if token == r"\binom":
            return Tree("binom", (self.inside("{", "}"), self.inside("{", "}")))
        if token == r"\sqrt":
            degree = self.inside("[", "]") if self.next == "[" else Tree("number", text="2")
            return Tree("root", (self.inside("{", "}"), degree))
        if token == r"\log" and self.next == "_":
            self.take()
            return Tree("log", (self.argument(), self.function_argument()))
        if token in _ONE_ARGUMENT:
            return self.function(token)
        raise UnreadableError

    def function(self, name: str) -> Tree:
        r"""\sin x, \sin^2 x, \sin^{-1} x."""
        exponent = None
        if self.next == "^":
            self.take()
            exponent = self.argument()
        tree = Tree(name, (self.function_argument(),))
        if exponent is None:
            return tree
        if exponent == Tree("-", (Tree("number", text="1"),)):
            if name not in _INVERSE:
                raise UnreadableError
            return Tree(_INVERSE[name], tree.parts)
        return Tree("^", (tree, exponent))

    def function_argument(self) -> Tree:
        r"""Read a bracket, or the product up to the next function: \sin 2x\cos x is two factors."""
        if self.next in ("(", "{"):
            return self.inside(self.next, {"(": ")", "{": "}"}[self.next])
        tree = self.power()
        while self._starts_factor() and self.next not in _ONE_ARGUMENT | {"(", r"\log"}:
            tree = _times(tree, self.power())
        return tree


def _times(product: Tree, factor: Tree) -> Tree:
    """Add one more factor; a product of a thousand letters does not become a deep tree."""
    factors = product.parts if product.op == "*" else (product,)
    return Tree("*", (*factors, factor))


def quick_algebra(gold: str, answer: str) -> bool | None:
    """Whether two normal forms are the same rational function; None if one is something else."""
    one, other = read(gold), read(answer)
    return None if one is None or other is None else equal_rational(one, other)


# ------------------------------------------------------------------ rational functions


def equal_rational(one: Tree, other: Tree) -> bool | None:
    """Whether two rational functions with exact numbers are equal; None where one is not such.

        f(x) = g(x) mod p at a random point x, for three random primes p

    >>> equal_rational(read("(x-1)(x+1)"), read("x^2-1")), equal_rational(read("R"), read("r"))
    (True, False)
    """
    letters = sorted(letters_of(one) | letters_of(other))
    rng = random.Random("\n".join(letters))
    try:
        for field in _fields():
            point = {letter: rng.randrange(2, field.prime) for letter in letters}
            if _modular(one, point, field) != _modular(other, point, field):
                return False
    except (UnreadableError, ZeroDivisionError):
        return None
    return True


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


def letters_of(tree: Tree) -> set[str]:
    """Return the letters of an expression, with their indices and primes."""
    if tree.op == "letter":
        return {tree.text}
    return set().union(*(letters_of(part) for part in tree.parts))


def _modular(tree: Tree, point: Mapping[str, int], field: _Field) -> int:
    """Return the value in a field; a decimal or an irrational operation has no value there."""
    if tree.op == "number" and "." not in tree.text and len(tree.text) < 2_000:
        return int(tree.text) % field.prime
    if tree.op == "letter":
        return point[tree.text]
    if tree.op == "constant" and tree.text == "i":
        return field.root_of_minus_1
    if tree.op == "^":
        base, exponent = _modular(tree.parts[0], point, field), _integer(tree.parts[1])
        if exponent < 0:
            base, exponent = _inverse(base, field), -exponent
        return pow(base, exponent, field.prime)
    if tree.op not in ("+", "*", "/", "-"):
        raise UnreadableError
    values = [_modular(part, point, field) for part in tree.parts]
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
