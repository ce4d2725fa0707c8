r"""Expressions as trees, read from normal forms by a strict reader.

Letters keep their case, index and primes: R is not r, x_1 is not x_2, f' is not f. A letter that
is applied, f(x), is a function that is not known. What has two readings, or none that the reader
knows, is not read (`read` returns None): letters behind which a number follows, words, 1/2x,
integrals, limits, derivatives as operators, products of matrices.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache

from setrl_grader.numbers import read_number
from setrl_grader.tokens import APPLIED, FUNCTIONS, GREEK
from setrl_grader.units import follows_number

MAX_DEPTH = 60

CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LETTERS = {rf"\{name}" for name in GREEK} | set("abcdefghijklmnopqrstuvwxyz") | CAPITALS
_NAMES_OF_FUNCTIONS = (  # before "(" they are applied, unless they occur without brackets too
    CAPITALS
    | {"f", "g", r"\phi", r"\varphi", r"\psi", r"\zeta", r"\chi"}
    | {name for name in _LETTERS if re.match(r"\\[A-Z]", name)}
)
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[0-9]+(?:\.[0-9]+)?|\.[0-9]+|\s+|.", re.DOTALL)
_DIGITS = "0123456789"
_DIFFERENTIALS = {"x", "y", "z", "t", "u", "v", "s", "r", r"\theta", r"\phi", r"\varphi"}
_ONE_ARGUMENT = FUNCTIONS - APPLIED - {r"\log"}
_INVERSE = {r"\sin": r"\arcsin", r"\cos": r"\arccos", r"\tan": r"\arctan"}
_ACCENTS = {
    r"\overline", r"\bar", r"\hat", r"\tilde", r"\vec", r"\dot", r"\ddot", r"\overrightarrow",
    r"\overleftarrow", r"\mathbf", r"\mathcal", r"\mathfrak", r"\mathscr",
}  # fmt: skip
_VECTOR = re.compile(r"\\(?:vec|mathbf|overrightarrow)\{|\\hat\{\\?[ijk]")
_GROUPS = {r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "(": ")", "{": "}", "[": "]"}
_TWO_NUMBERS = re.compile(r"(?<![\d._^])\d+\s+\d")
_WORDS = re.compile(
    r"(?<![\\a-zA-Z{])(?:[A-Za-z]{4,}|(?:tr|Tr|Var|Cov|sgn|erf|arg|det|deg|sin|cos|tan|log|ln|exp)\s*\()"
)
_NAME = re.compile(
    r"(?P<base>\\[a-zA-Z]+(?:\{\\?[a-zA-Z]+\})?|[a-zA-Z])\s*(?P<index>_\s*(?:\{[^{}]*\}|\w))?"
    r"\s*(?P<primes>'*)\s*"
    r"(?P<argument>\((?:\s*(?:-?[\d.]+|-?[a-zA-Z]|-?\\[a-zA-Z]+)\s*\)|[^()]*,)?)?"
)


@dataclass(frozen=True)
class Tree:
    """An operation and its parts.

    Attributes:
        op: "number", "letter", "constant", "+", "*", "/", "^", "-" (of one part), "root" (of a
            degree), "binom", "!", "abs", "floor", "ceil", "degrees", "log" (of a base), a command
            of a function, or "apply": an unknown function, a sum, or a product of vectors.
        parts: The parts; none of leaves.
        text: What a leaf is: the number or the letter; of "apply" the function's name.
    """

    op: str
    parts: tuple[Tree, ...] = ()
    text: str = ""


class UnreadableError(Exception):
    """The text holds something that this reader does not understand."""


def applied_names(gold: str, answer: str = "") -> frozenset[str]:
    r"""Return the names that stand before brackets as functions; the gold decides what it names.

    A name that occurs without brackets too is a factor: n(n+1). Other names are functions if they
    look like one, f or \Phi, or if the brackets hold one letter or number, or a list: a(n).

    >>> sorted(applied_names("E(X^2)")), sorted(applied_names("n(n+1)+a(n)"))
    (['E'], ['a'])
    """
    ours, ours_bare = _names(gold)
    theirs, theirs_bare = _names(answer)
    return frozenset((ours - ours_bare) | (theirs - theirs_bare - ours - ours_bare))


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are applied, and the names that also occur by themselves."""
    applied, bare = set(), set()
    for found in _NAME.finditer(text):
        base, argument = found["base"].partition("{")[0], found["argument"]
        if base not in _LETTERS and base not in _ACCENTS and base != r"\pi":
            continue
        index = re.sub(r"[\s{}]", "", found["index"] or "")
        name = found["base"] + index + found["primes"]
        if argument is None:
            bare.add(name)
        elif len(argument) > 1 or base in _NAMES_OF_FUNCTIONS or found["primes"]:
            applied.add(name)
    return frozenset(applied), frozenset(bare)


def read(text: str, gold: str | None = None) -> Tree | None:
    r"""Read a normal form as an expression; return None if it may be something else.

    Args:
        text: The normal form.
        gold: The gold, whose names have the meaning that they have there; by default the text.

    >>> read("x^2+1").op, read(r"\frac{1}{2}").op, read("f(x)").op, read("2x+")
    ('+', '/', 'apply', None)
    """
    return _read(text, applied_names(text) if gold is None else applied_names(gold, text))


@lru_cache(maxsize=4096)
def _read(text: str, functions: frozenset[str]) -> Tree | None:
    if _TWO_NUMBERS.search(text) or _WORDS.search(text) or follows_number(text):
        return None
    found = [token for token in _TOKEN.findall(text) if not token.isspace()]
    reader = _Reader(found, functions)
    try:
        tree = reader.sum()
    except (UnreadableError, IndexError, RecursionError):
        return None
    return None if reader.at != len(found) or _too_deep(tree) else tree


def letters_of(tree: Tree) -> set[str]:
    """Return the letters of an expression, with their indices and primes."""
    if tree.op == "letter":
        return {tree.text}
    return set().union(*(letters_of(part) for part in tree.parts))


def renamed(tree: Tree, names: dict[str, str]) -> Tree:
    """Return the tree with other names of its letters."""
    if tree.op == "letter":
        return Tree("letter", text=names.get(tree.text, tree.text))
    return Tree(tree.op, tuple(renamed(part, names) for part in tree.parts), tree.text)


def may_be_matrices(tree: Tree) -> bool:
    """Whether capitals are multiplied, and nothing says that they are numbers: AB may not be BA.

    They are numbers in A + 1, in a denominator, and within functions.
    """
    return _multiplies_capitals(tree) and not _has_numbers(tree)


def _multiplies_capitals(tree: Tree) -> bool:
    factors = [letters_of(part) & CAPITALS for part in tree.parts] if tree.op == "*" else []
    found = sum(map(bool, factors)) > 1 and len(set().union(*factors)) > 1
    return found or any(map(_multiplies_capitals, tree.parts))


def _has_numbers(tree: Tree) -> bool:
    """Whether a capital must be a number at its place."""
    capital = [bool(letters_of(part) & CAPITALS) for part in tree.parts]
    if tree.op == "+" and any(capital) and not all(capital):
        return True
    if (tree.op == "/" and capital[1]) or (tree.op not in "+-*/^apply" and any(capital)):
        return True
    return any(map(_has_numbers, tree.parts))


def has(tree: Tree, ops: Set[str]) -> bool:
    """Whether one of the operations occurs in a tree."""
    return tree.op in ops or any(has(part, ops) for part in tree.parts)


def _too_deep(tree: Tree) -> bool:
    """Whether a tree is too deep to be walked by functions that call themselves."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in each.parts]
        if not level:
            return False
    return True


def _has_vector(tree: Tree) -> bool:
    """Whether a value may be a vector: products of vectors are not products of numbers."""
    if tree.op == "letter":
        return _VECTOR.match(tree.text) is not None
    return tree.op != "apply" and any(_has_vector(part) for part in tree.parts)


class _Reader:
    """A reader by recursive descent: a sum of products of powers.

    Attributes:
        functions: Names that are applied where a bracket follows.
    """

    def __init__(self, tokens: list[str], functions: frozenset[str]):
        self.tokens = tokens
        self.functions = functions
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.bound: dict[str, str] = {}

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def ahead(self, *expected: str | None) -> bool:
        """Whether these tokens follow; None is a whole number."""
        found = self.tokens[self.at : self.at + len(expected)]
        return len(found) == len(expected) and all(
            token.isdecimal() if wanted is None else token == wanted
            for token, wanted in zip(found, expected, strict=True)
        )

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
                tree = self.joined(tree, self.take())
            elif self.next in ("/", r"\div"):
                self.take()
                tree = Tree("/", (tree, self.signed()))
                if self._starts_factor():  # 1/2x: a half of x, or one by 2x?
                    raise UnreadableError
            elif self._starts_factor():
                tree = self.joined(tree, "")
            else:
                return tree

    def joined(self, tree: Tree, sign: str) -> Tree:
        """Read one more factor; two vectors have a product of their own."""
        if not sign and self.tokens[self.at - 1] == ")" and self.ahead("(", None, ")"):
            raise UnreadableError  # (12)(34) may be a permutation
        factor = self.signed() if sign else self.power()
        if _has_vector(tree) and _has_vector(factor):
            if not sign:
                raise UnreadableError
            return Tree("apply", (tree, factor), sign)
        return _times(tree, factor)

    def signed(self) -> Tree:
        if self.next == "-":
            self.take()
            return Tree("-", (self.power(),))
        return self.power()

    def _starts_factor(self) -> bool:
        """Whether a factor follows without a sign; a number never does: x2, 6 R 3."""
        token = self.next
        if token == "|":
            return self.bars == 0
        starts = ("(", "{", r"\frac", r"\sqrt", r"\binom", r"\pi", r"\log", r"\lfloor", r"\lceil")
        known = token in starts or token in _LETTERS or token in _ONE_ARGUMENT
        return known or token in _ACCENTS or token in APPLIED or token in self.bound

    def power(self) -> Tree:
        tree = self.postfix()
        if self.next == "^":
            self.take()
            tree = self.postfixed(Tree("^", (tree, self.argument())))
            if (
                tree.parts[0].op == "letter"
                and self.next == "("
                and tree.parts[0].text in ("f", "g")
            ):
                raise UnreadableError  # f^2(x) is f(f(x)), or f(x)²
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
            return self.inside("{")
        if self.next == "-":
            self.take()
            return Tree("-", (self.argument(),))
        if self.next[:1] in _DIGITS and self.next:
            return Tree("number", text=self.take())
        return self.atom()

    def inside(self, opening: str) -> Tree:
        self.take(opening)
        bars, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = bars
        self.take(_GROUPS[opening])
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
            return self.number(token)
        if token in ("(", "{", "["):
            self.at -= 1
            return self.inside(token)
        if token == "|":
            self.bars += 1
            tree = self.sum()
            self.bars -= 1
            self.take("|")
            return Tree("abs", (tree,))
        if token in _LETTERS or token in self.bound or token == r"\pi":
            return self.letter(token)
        if token in _ACCENTS:
            return self.letter(f"{token}{{{self.raw_group()}}}")
        return self.command(token)

    def number(self, token: str) -> Tree:
        r"""Read 12, 0.1\overline{6}, and 2\frac{1}{2}, which is a sum; 3\frac{4}{2} is unclear."""
        if self.next == "_" or (token == "0" and self.next in _LETTERS):  # in a base; 0xFF
            raise UnreadableError
        if self.next == "." or self.next == r"\overline":
            whole = token + (self.take() if self.next == "." else "") + self.take(r"\overline")
            found = read_number(f"{whole}{{{self.raw_group()}}}")
            if found is None:
                raise UnreadableError
            top, bottom = found.value.as_integer_ratio()
            return Tree("/", (Tree("number", text=str(top)), Tree("number", text=str(bottom))))
        number = Tree("number", text=token)
        if not (token.isdecimal() and self.ahead(r"\frac", "{", None, "}", "{", None, "}")):
            return number
        fraction = self.atom()
        top, bottom = (int(part.text[:9]) for part in fraction.parts)
        if top >= bottom:
            raise UnreadableError
        return Tree("+", (number, fraction))

    def letter(self, token: str) -> Tree:
        """Read a letter with its index and primes, a function with its arguments, or dx."""
        index, primes = "", ""
        if token == "d" and self.next in _DIFFERENTIALS:
            return Tree("letter", text=f"d {self.take()}")
        if self.next == "_":
            self.take()
            index = "_" + self.raw_group()
        while self.next == "'":
            primes += self.take()
        name = self.bound.get(token, token) + index + primes
        if self.next == "(" and (token + index + primes in self.functions or primes):
            return Tree("apply", self.arguments(), name)
        if token == r"\pi" and not index and not primes:
            return Tree("constant", text=token)
        if name in ("e", "i"):
            return Tree("constant", text=name)
        return Tree("letter", text=name)

    def arguments(self) -> tuple[Tree, ...]:
        """Read the arguments of a function; what is not an expression counts as written."""
        start = self.at
        try:
            self.take("(")
            found = [self.sum()]
            while self.next in (",", "|", ";"):
                found += [Tree("letter", text=self.take()), self.sum()]
            self.take(")")
        except UnreadableError:
            self.at = start
            return (Tree("letter", text=self.raw_group("(", ")")),)
        return tuple(found)

    def raw_group(self, opening: str = "{", closing: str = "}") -> str:
        if self.next != opening:
            token = self.take()
            return self.bound.get(token, token)
        start = self.at
        depth = 0
        while True:
            token = self.take()
            depth += (token == opening) - (token == closing)
            if depth == 0:
                inner = self.tokens[start + 1 : self.at - 1]
                return "".join(self.bound.get(token, token) for token in inner)

    def command(self, token: str) -> Tree:
        if token == r"\frac":
            return self.fraction()
        if token == r"\binom":
            return Tree("binom", (self.inside("{"), self.inside("{")))
        if token in (r"\lfloor", r"\lceil"):
            self.at -= 1
            return Tree({r"\lfloor": "floor", r"\lceil": "ceil"}[token], (self.inside(token),))
        if token == r"\sqrt":
            degree = self.inside("[") if self.next == "[" else Tree("number", text="2")
            return Tree("root", (self.inside("{"), degree))
        if token == r"\log" and self.next == "_":
            self.take()
            return Tree("log", (self.argument(), self.function_argument()))
        if token in _ONE_ARGUMENT or token == r"\log":
            return self.function(token)
        if token in APPLIED:
            return Tree("apply", self.arguments() if self.next == "(" else (self.atom(),), token)
        if token in (r"\sum", r"\prod"):
            return self.sum_over(token)
        raise UnreadableError

    def fraction(self) -> Tree:
        r"""Read a fraction; \frac{dy}{dx} is one name, not a quotient."""
        start = self.at
        parts = [self.raw_group(), self.raw_group()]
        if all(re.match(r"(?:d|\\partial|\\mathrm\{d\})(?![_'])", part) for part in parts):
            if not re.match(r"(?:d|\\partial)(?:\^\w)?[a-zA-Z]", parts[0]):
                raise UnreadableError  # d/dx of what follows
            return Tree("letter", text=r"\frac{{{}}}{{{}}}".format(*parts))
        self.at = start
        return Tree("/", (self.inside("{"), self.inside("{")))

    def sum_over(self, token: str) -> Tree:
        r"""Read \sum_{k=1}^{n} and what is summed, up to the next plus sign."""
        self.take("_")
        self.take("{")
        letter = self.take()
        if letter not in _LETTERS or letter in self.bound:
            raise UnreadableError
        self.take("=")
        lower = self.sum()
        self.take("}")
        self.take("^")
        upper = self.argument()
        self.bound[letter] = f"\\bound{len(self.bound)}"
        body = self.product()
        name = self.bound.pop(letter)
        return Tree("apply", (lower, upper, body, Tree("letter", text=name)), token)

    def function(self, name: str) -> Tree:
        r"""\sin x, \sin^2 x, \sin^{-1} x."""
        exponent = None
        if self.next == "^":
            self.take()
            exponent = self.argument()
        tree = Tree(name, (self.function_argument(),))
        if name == r"\log":  # of an unknown base: a constant times ln
            tree = Tree("*", (Tree("letter", text=name), Tree(r"\ln", tree.parts)))
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
            return self.inside(self.next)
        tree = self.power()
        while self._starts_factor() and self.next not in _ONE_ARGUMENT | {"(", r"\log"}:
            tree = _times(tree, self.power())
        if tree.op == "number" and self.next == "(":  # \sin 2(x+1)
            raise UnreadableError
        return tree


def _times(product: Tree, factor: Tree) -> Tree:
    """Add one more factor; a product of a thousand letters does not become a deep tree."""
    factors = product.parts if product.op == "*" else (product,)
    return Tree("*", (*factors, factor))
