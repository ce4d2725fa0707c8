r"""An expression as a sum of products of powers, which shows what its written form leaves to do.

    √12 + √27 → 2·3^{1/2} + 3·3^{1/2},    (x + 1)² → x² + 2x + 1,    ln 6 → ln 2 + ln 3,
    2^{n+1} → 2·2ⁿ

Bases are primes, whose powers are below 1, the letters, the constants, and i, whose square is −1.
What is not expanded is a base, too: x + 1 below a line, or sin x.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import reduce
from math import isqrt

from setrl_grader.budget import spend
from setrl_grader.numbers import literal
from setrl_grader.trees import Tree, exact_value

Base = object
Powers = frozenset[tuple[Base, Fraction]]  # a product
Terms = dict[Powers, Fraction]  # each product with its coefficient

MAX_TERMS = 100
MAX_POWER = 12  # of a sum
MAX_BITS = 4_000  # of a power of a number
LARGEST_PRIME = 5_000  # that is looked for
NOTHING: Powers = frozenset()  # the product of a number


def expanded(tree: Tree) -> Terms:
    r"""Return an expression as a sum of products.

    >>> from setrl_grader.grammar import read
    >>> [str(*expanded(read(text)).values()) for text in (r"\sqrt{12}", "(1+i)^2")]
    ['2', '2']
    """
    number = literal(tree)
    if number is not None:
        return {NOTHING: number.value} if number.value else {}
    if tree.op in ("letter", "constant"):
        return _power_of(tree.text)
    if tree.op == "+":
        return _sum(map(expanded, tree.parts))
    if tree.op == "-":
        return _product(expanded(tree.parts[0]), {NOTHING: Fraction(-1)})
    if tree.op == "*":
        return reduce(_product, map(expanded, tree.parts))
    if tree.op == "/":
        top, bottom = map(expanded, tree.parts)
        return _product(top, _power(bottom, Fraction(-1)))
    if tree.op == "degrees":
        return _product(expanded(tree.parts[0]), _power_of("°"))
    if tree.op in ("^", "root") and (exponent := exact_value(tree.parts[1], {})):
        return _power(expanded(tree.parts[0]), exponent if tree.op == "^" else 1 / exponent)
    if tree.op == "^" and (number := literal(tree.parts[0])) and number.value > 0:
        return _power_of_number(number.value, expanded(tree.parts[1]))
    if tree.op == r"\exp" and (number := literal(tree.parts[0])):
        return {frozenset([("e", number.value)] if number.value else []): Fraction(1)}
    if tree.op in (r"\ln", "log") and (number := literal(tree.parts[-1])) and number.value > 0:
        kind = (tree.op, *map(key_of, tree.parts[:-1]))
        return {
            powers: exponent * factor
            for prime, exponent in primes_of(number.value)
            for powers, factor in _power_of((*kind, prime)).items()
        }
    return _power_of(key_of(tree))


def _power_of_number(number: Fraction, exponent: Terms) -> Terms:
    """Return a power whose exponent has letters: 2^{n+1} is 2 · 2ⁿ, and 4ⁿ is 2^{2n}."""
    found = {NOTHING: Fraction(1)}
    for powers, factor in exponent.items():
        primes = [(("^", prime, powers), factor * times) for prime, times in primes_of(number)]
        raised = _joined(primes, Fraction(1)) if powers else _power({NOTHING: number}, factor)
        found = _product(found, raised)
    return found


def key_of(tree: Tree) -> Base:
    """Return a key of an expression, which is the same for terms and factors in any order."""
    keys = tuple(map(key_of, tree.parts))
    return tree.op, tree.text, frozenset(Counter(keys).items()) if tree.op in ("+", "*") else keys


def _power_of(base: Base, exponent: Fraction = Fraction(1)) -> Terms:
    return {frozenset({(base, exponent)}): Fraction(1)}


def frozen(terms: Terms) -> Base:
    """Return a sum as a base."""
    return frozenset(terms.items())


def _sum(parts: Iterable[Terms]) -> Terms:
    total: defaultdict[Powers, Fraction] = defaultdict(Fraction)
    for terms in parts:
        for powers, factor in terms.items():
            total[powers] += factor
    return {powers: factor for powers, factor in total.items() if factor}


def _product(one: Terms, other: Terms) -> Terms:
    if len(one) * len(other) > MAX_TERMS:
        one, other = (_power_of(frozen(each)) if len(each) > 1 else each for each in (one, other))
    spend(5 * len(one) * len(other))
    return _sum(_joined([*a, *b], x * y) for a, x in one.items() for b, y in other.items())


def _joined(powers: Iterable[tuple[Base, Fraction]], factor: Fraction) -> Terms:
    """Return a product of powers, in which each base stands once."""
    exponents: defaultdict[Base, Fraction] = defaultdict(Fraction)
    for base, exponent in powers:
        exponents[base] += exponent
    for base, exponent in exponents.items():
        if isinstance(base, int) or base == "i":
            period, value = (2, -1) if base == "i" else (1, base)
            times, exponents[base] = divmod(exponent, period)
            factor *= Fraction(value) ** (times % 2 if base == "i" else times)
    return {frozenset(each for each in exponents.items() if each[1]): factor}


def _power(terms: Terms, exponent: Fraction) -> Terms:
    whole = exponent.denominator == 1
    if len(terms) > 1:
        if whole and 1 < exponent <= MAX_POWER:
            return reduce(_product, [terms] * int(exponent))
        return _power_of(frozen(terms), exponent)
    for powers, factor in terms.items():
        raised = [(base, each * exponent) for base, each in powers]
        if abs(exponent) * (factor.numerator * factor.denominator).bit_length() > MAX_BITS:
            return _joined([*raised, (("number", factor), exponent)], Fraction(1))
        if whole:
            return _joined(raised, factor ** int(exponent))
        sign = [("i", 2 * exponent)] * (factor < 0)
        primes = [(prime, each * exponent) for prime, each in primes_of(abs(factor))]
        return _joined([*raised, *sign, *primes], Fraction(1))
    return {}


def primes_of(number: Fraction) -> Iterator[tuple[int, int]]:
    """Yield the primes of a number with their exponents; what is left of a long one is a base."""
    for sign, rest in zip((1, -1), number.as_integer_ratio(), strict=True):
        prime = 2
        while prime**2 <= rest and prime < LARGEST_PRIME:
            found = 0
            while rest % prime == 0:
                rest, found = rest // prime, found + 1
            if found:
                yield prime, sign * found
            prime += 1
        spend(prime / 5)
        square = isqrt(rest) ** 2 == rest
        if rest > 1:
            yield (isqrt(rest), 2 * sign) if square else (rest, sign)
