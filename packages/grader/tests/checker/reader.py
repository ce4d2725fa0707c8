"""Tokens → an expression, by a reader that shares nothing with the reader of the grader."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from checker.text import OPENING, plain, squeezed, tokens
from checker.values import Tree, exact
from checker.verdicts import UnreadError

_LETTER = re.compile(r"[a-zA-Z]|\\(?:[aA]lpha|[bB]eta|[gG]amma|[dD]elta|(?:var)?epsilon|zeta|eta"
                     r"|(?:var)?[tT]heta|kappa|[lL]ambda|mu|nu|[xX]i|rho|[sS]igma|tau|(?:var)?[pP]hi"
                     r"|chi|[pP]si|[oO]mega)")  # fmt: skip
KNOWN = ("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
          "tanh", "ln", "exp")  # fmt: skip
NO_ALGEBRA = re.compile(  # words, dates, scores, sizes, cycles, 0xFF, IV, 3 pm
    r"(?<![\\a-zA-Z])(?!(?:sin|cos|tan|log|exp)\b)[a-zA-Z]{3,}|\A-?\d+(?:-\d+)+\Z|\d+/\d+/\d|\b0\d/"
    r"|\A\d+\\times *\d+\Z|\(\d+\)\(\d|\b0[a-zA-Z]|\A\(?[ivx]{2,}\)?\Z|\d\s+[a-zA-Z]{2}|\\text"
)


def read(text: str, gold: str | None = None) -> Tree:
    """Read a text as an expression; see `read_tokens`."""
    if NO_ALGEBRA.search(text) or NO_ALGEBRA.search(squeezed(text)):
        raise UnreadError
    return read_tokens(tokens(text), text if gold is None else gold)


def read_tokens(found: list[str], gold: str) -> Tree:
    """Read tokens as an expression; the gold decides which letters before brackets are factors.

    Raises:
        UnreadError: If this reader does not understand them.
    """
    return _Reader(found, gold).whole()


class _Reader:
    """A reader of expressions by recursive descent."""

    def __init__(self, tokens: list[str], gold: str):
        self.tokens = tokens
        self.at = 0
        self.factors = set(re.findall(r"([a-zA-Z])(?!\s*[\w({_'])", plain(gold)))
        self.bars = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        if not self.next or (expected and self.next != expected):
            raise UnreadError
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Tree:
        if not self.tokens:
            raise UnreadError
        tree = self.sum()
        if self.at < len(self.tokens):
            raise UnreadError
        return tree

    def sum(self) -> Tree:
        terms = [self.product()]
        while self.next and self.next in "+-":
            terms.append(self.product())
        return terms[0] if len(terms) == 1 else ("+", *terms)

    def product(self) -> Tree:
        negative = False
        while self.next and self.next in "+-":
            negative ^= self.take() == "-"
        factors = [self.power()]
        while True:
            if self.next in (r"\cdot", r"\times", "*"):
                self.take()
                factors.append(self.signed())
            elif self.next == "/":
                self.take()
                factors = [("/", ("*", *factors), self.signed())]
                if self.starts():
                    raise UnreadError
            elif self.starts():
                factors.append(self.power())
            else:
                break
        tree = factors[0] if len(factors) == 1 else ("*", *factors)
        return ("-", tree) if negative else tree

    def signed(self) -> Tree:
        if self.next == "-":
            self.take()
            return ("-", self.power())
        return self.power()

    def starts(self) -> bool:
        token = self.next
        if not token or token[0].isdigit() or token[0] == ".":
            return False
        if token == "|":
            return not self.bars
        known = token in ("(", "{", "|") or _LETTER.fullmatch(token) is not None
        return known or token[1:] in (
            *KNOWN,
            "frac",
            "sqrt",
            "pi",
            "binom",
            "log",
            "lfloor",
            "lceil",
        )

    def power(self) -> Tree:
        tree = self.atom()
        while self.next in ("!", "°", "^") and self.next:
            token = self.take()
            tree = ("^", tree, self.argument()) if token == "^" else (token, tree)
            if token == "!" and self.next == "!":
                raise UnreadError
        return tree

    def argument(self) -> Tree:
        """Read a group, or one digit or letter: 2^10 is 2¹⁰ as people write it."""
        if self.next == "-":
            self.take()
            return ("-", self.argument())
        return self.atom()

    def group(self) -> Tree:
        closing = OPENING[self.take()]
        bars, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = bars
        self.take(closing)
        return tree

    def short(self) -> Tree:
        r"""Read an argument of \frac or \sqrt: a group, or one digit."""
        if self.next[:1].isdigit() and len(self.next) > 1:
            first, rest = self.next[0], self.next[1:]
            if len(rest) > 1:
                raise UnreadError
            self.tokens[self.at : self.at + 1] = [first, rest]
        return self.atom()

    def atom(self) -> Tree:
        token = self.next
        if token in ("(", "{"):
            return self.group()
        self.take()
        if token[0].isdigit() or (token[0] == "." and len(token) > 1):
            return self.number(token)
        if token == "|":
            self.bars += 1
            tree = self.sum()
            self.bars -= 1
            self.take("|")
            return ("abs", tree)
        if _LETTER.fullmatch(token):
            return self.letter(token)
        return self.command(token[1:])

    def number(self, token: str) -> Tree:
        places = len(token.partition(".")[2])
        tree = ("num", Fraction(token.rstrip(".")), Fraction(1, 10**places) if "." in token else 0)
        repeats = self.next == r"\overline" or (token[-1] == "." and self.next == "(")
        if repeats or self.next == "_":
            raise UnreadError
        if self.next == r"\frac" and token.isdigit():
            fraction = self.atom()
            value = exact(fraction, {})
            if not 0 < value < 1:
                raise UnreadError
            return ("+", tree, fraction)
        return tree

    def letter(self, token: str) -> Tree:
        name = token
        if (
            token == "d"
            and self.next
            and self.next in (*"txyzuvrs", r"\theta", r"\phi", r"\varphi")
        ):
            raise UnreadError  # dx is not a product
        if self.next == "_":
            self.take()
            start = self.at
            self.atom()
            name += "_" + "".join(self.tokens[start : self.at]).strip("{}")
        while self.next == "'":
            name += self.take()
        alone = self.tokens[self.at + 2 : self.at + 3] == [")"]
        if (
            self.next == "("
            and token not in self.factors
            and (alone or name.isupper() or name in "fgh" or "'" in name or token[0] == "\\")
        ):
            bare = any(one == token and behind != "(" for one, behind in pairwise(self.tokens))
            if bare or (token[0] == "\\" and token[1].islower() and not alone):
                raise UnreadError  # a function, or a factor
            return ("call", name, *self.arguments())
        return ("constant", name) if name in ("e", "i") else ("letter", name)

    def arguments(self) -> list[Tree]:
        self.take("(")
        found = [self.sum()]
        while self.next == ",":
            self.take()
            found.append(self.sum())
        self.take(")")
        return found

    def command(self, name: str) -> Tree:
        if name == "pi":
            if self.next == "(" and self.tokens[self.at + 2 : self.at + 3] == [")"]:
                raise UnreadError  # π(10) counts primes
            return ("constant", name)
        if name == "frac" and self.tokens[self.at + 1 : self.at + 2] in (["d"], [r"\partial"]):
            raise UnreadError
        if name in ("frac", "binom"):
            return ("/" if name == "frac" else name, self.short(), self.short())
        if name == "sqrt":
            degree = self.group() if self.next == "[" else ("num", Fraction(2), 0)
            return ("root", self.short(), degree)
        if name in ("lfloor", "lceil"):
            tree = self.sum()
            self.take(r"\rfloor" if name == "lfloor" else r"\rceil")
            return (name, tree)
        if name in ("gcd", "lcm", "max", "min", "det", "Re", "Im"):
            return ("call", name, *self.arguments())
        if name == "log":
            return self.logarithm()
        if name in KNOWN:
            exponent = self.argument() if self.next == "^" and self.take() else None
            if exponent == ("-", ("num", Fraction(1), 0)):
                raise UnreadError
            tree = (name, self.argument_of())
            return tree if exponent is None else ("^", tree, exponent)
        raise UnreadError

    def logarithm(self) -> Tree:
        if self.next != "_":
            return ("*", ("letter", r"\log"), ("ln", self.argument_of()))
        self.take()
        base = self.argument()
        return ("/", ("ln", self.argument_of()), ("ln", base))

    def argument_of(self) -> Tree:
        """Read a bracket, or the factors up to the next function or sign."""
        if self.next in ("(", "{"):
            inner = self.group()
            if self.next == "°":  # sin{30}° is of an angle in degrees
                return (self.take(), inner)
            return inner
        factors = [self.power()]
        while self.starts() and self.next != "(" and self.next[1:] not in (*KNOWN, "log"):
            factors.append(self.power())
        return factors[0] if len(factors) == 1 else ("*", *factors)
