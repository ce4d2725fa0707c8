"""Sums of products of numbers with at most one level of parentheses: parsed, never evaluated.

Regular expressions with bounded repetition parse a sample in linear time, so a hostile sample
cannot slow the parser down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, combinations, product
from math import prod

NUMBER = "[1-9][0-9]{0,4}"
_FACTOR = rf"(?:{NUMBER}|\({NUMBER}(?:[+-]{NUMBER}){{1,2}}\))"
_PRODUCT = rf"{_FACTOR}(?:\*{_FACTOR}){{0,4}}"
_SUM = re.compile(rf"{_PRODUCT}(?:[+-]{_PRODUCT}){{0,8}}")
_TERM = re.compile(rf"([+-]?)({_PRODUCT})")
_PART = re.compile(rf"[+-]?{NUMBER}")

Factor = tuple[int, ...]  # 343 is (343,) and (300-2) is (300, -2)


@dataclass(frozen=True)
class Term:
    """A product with its sign."""

    sign: int
    factors: tuple[Factor, ...]

    @property
    def value(self) -> int:
        """The exact value."""
        return self.sign * prod(sum(factor) for factor in self.factors)


@dataclass(frozen=True)
class Expression:
    """A sum of terms, as written."""

    text: str
    terms: tuple[Term, ...]

    @property
    def value(self) -> int:
        """The exact value."""
        return sum(self.values)

    @property
    def values(self) -> list[int]:
        """The values of the terms, in ascending order."""
        return sorted(term.value for term in self.terms)

    @property
    def size(self) -> int:
        """The number of numbers in it."""
        return sum(len(factor) for term in self.terms for factor in term.factors)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors of an expression that is one product; () for a sum of several terms."""
        return self.terms[0].factors if len(self.terms) == 1 else ()

    @property
    def plain_factors(self) -> list[int]:
        """The factors, in ascending order, of a product of numbers; [] for anything else."""
        plain = all(len(factor) == 1 for factor in self.factors)
        return sorted(factor[0] for factor in self.factors) if plain else []

    @property
    def is_plain_sum(self) -> bool:
        """Whether no product is left to compute: 2380+21, or 2401."""
        return all(len(term.factors) == len(term.factors[0]) == 1 for term in self.terms)

    @property
    def is_number(self) -> bool:
        """Whether it is one number."""
        return self.size == 1


def parse(text: str) -> Expression | None:
    """Parse an expression; return None if the text is not one."""
    if not _SUM.fullmatch(text):
        return None
    return Expression(text, tuple(_term(sign, factors) for sign, factors in _TERM.findall(text)))


def parse_chain(text: str) -> list[Expression]:
    """Parse expressions that "=" joins; return [] if a part is not an expression."""
    chain = [expression for part in text.split("=") if (expression := parse(part))]
    return chain if len(chain) == text.count("=") + 1 else []


def follows(previous: Expression, current: Expression) -> bool:
    """Return whether one operation of written arithmetic leads from one expression to the next.

    Only the form is checked here; values are compared elsewhere. The operations: distribute a split
    factor; multiply two of three or more numbers; for two numbers, double one and halve the other,
    or multiply one by each digit of the other, or multiply them if one has a single digit; in a
    sum, add neighbours.
    """
    numbers = previous.plain_factors
    if len(numbers) > 2:
        return current.plain_factors in _merged(numbers)
    if len(numbers) == 2 and current.plain_factors in _halved(*numbers):
        return True
    if not current.is_plain_sum:
        return False
    if len(numbers) == 2:
        return current.values in _multiplied_out(*numbers)
    if previous.factors:
        return current.values == _distributed(previous.factors)
    return current.size < previous.size and _running(current) <= _running(previous)


def places(n: int) -> list[int]:
    """Return the digits of n times their powers of ten, without the zeros.

    >>> places(343), places(205)
    ([300, 40, 3], [200, 5])
    """
    digits = [int(digit) * 10**power for power, digit in enumerate(reversed(str(n)))]
    return [digit for digit in reversed(digits) if digit]


def _term(sign: str, text: str) -> Term:
    factors = tuple(tuple(map(int, _PART.findall(factor))) for factor in text.split("*"))
    return Term(-1 if sign == "-" else 1, factors)


def _running(expression: Expression) -> set[int]:
    """Return the running sums of the terms, such as 2100, 2380 and 2401 for 2100+280+21."""
    return set(accumulate(term.value for term in expression.terms))


def _distributed(factors: tuple[Factor, ...]) -> list[int]:
    """Return the products of one part of each factor, in ascending order."""
    return sorted(prod(parts) for parts in product(*factors))


def _merged(numbers: list[int]) -> list[list[int]]:
    """List every way to multiply two of the numbers."""
    ways = []
    for pair in combinations(range(len(numbers)), 2):
        others = [n for k, n in enumerate(numbers) if k not in pair]
        ways.append(sorted([*others, prod(numbers[k] for k in pair)]))
    return ways


def _halved(x: int, y: int) -> list[list[int]]:
    """Return twice one number with half of the other."""
    return [sorted([2 * p, q // 2]) for p, q in ((x, y), (y, x)) if q % 2 == 0]


def _multiplied_out(x: int, y: int) -> list[list[int]]:
    """Return the terms of x*y by the digits of either; or the product if one has a single digit."""
    by_places = [sorted(p * place for place in places(q)) for p, q in ((x, y), (y, x))]
    return [*by_places, [x * y]] if min(x, y) < 10 else by_places
