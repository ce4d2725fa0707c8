"""The author of the corpus: how each of eight methods is written, and how often it succeeds.

A method writes every number through a `Pen`, and continues with the number that the pen wrote. One
error of the pen therefore gives a sample such as people write: one wrong number, used correctly in
all later steps.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import sqrt

import numpy as np

from setrl.tasks.domains.base import Hand, Written, draw, with_a_slip
from setrl.tasks.domains.quadratic.equation import (
    Equation,
    Roots,
    polynomial,
    signed,
    square_root,
    term,
)

RootPair = tuple[Fraction, Fraction]

# The kinds look alike, so the author tries factoring far more often than it can work.
SHARES: dict[str, dict[str, float]] = {
    "integer": {
        "factoring": 0.42, "formula": 0.19, "sum_product": 0.15, "divisor_trial": 0.10,
        "completing_square": 0.07, "grouping": 0.05, "midpoint": 0.012, "division": 0.008,
    },
    "irrational": {
        "factoring": 0.28, "formula": 0.35, "sum_product": 0.09, "divisor_trial": 0.06,
        "completing_square": 0.16, "grouping": 0.03, "midpoint": 0.024, "division": 0.006,
    },
}  # fmt: skip
SHARES["leading"] = SHARES["rational"] = SHARES["integer"]

# How often the author makes no error. If the roots are irrational, methods that search among the
# rationals cannot succeed.
SUCCESS: dict[str, dict[str, float]] = {
    "integer": {
        "factoring": 0.82, "formula": 0.62, "sum_product": 0.76, "divisor_trial": 0.72,
        "completing_square": 0.52, "grouping": 0.68, "midpoint": 0.60, "division": 0.70,
    },
    "leading": {
        "factoring": 0.74, "formula": 0.50, "sum_product": 0.62, "divisor_trial": 0.62,
        "completing_square": 0.46, "grouping": 0.60, "midpoint": 0.52, "division": 0.60,
    },
    "rational": {
        "factoring": 0.35, "formula": 0.66, "sum_product": 0.25, "divisor_trial": 0.25,
        "completing_square": 0.50, "grouping": 0.50, "midpoint": 0.55, "division": 0.40,
    },
    "irrational": {
        "factoring": 0.0, "formula": 0.74, "sum_product": 0.0, "divisor_trial": 0.0,
        "completing_square": 0.72, "grouping": 0.0, "midpoint": 0.75, "division": 0.0,
    },
}  # fmt: skip

MISSES = {0: 0.4, 1: 0.4, 2: 0.2}  # how many wrong values the author tries first → its probability
LARGEST_TRIED = 9
NUMBER_SLIPS = {"by one": 0.5, "by two": 0.2, "by ten": 0.1, "sign": 0.2}
PAIR_SLIPS = {"signs": 0.3, "one sign": 0.3, "by one": 0.4}


class Pen(Hand):
    """Writes numbers; a wrong one at the step `slip_at`."""

    def number(self, right: Fraction | int) -> Fraction:
        """Write a computed number."""
        return _wrong_number(self.rng, Fraction(right)) if self.slips() else Fraction(right)

    def guess(self, pair: RootPair) -> RootPair:
        """Write two numbers that were found by inspection, as in factoring."""
        return wrong_pair(self.rng, pair) if self.slips() else pair

    def answer(self, right: Roots) -> Roots:
        """Write the final roots."""
        if not self.slips():
            return right
        pair = right.pair()
        if pair is not None:
            return Roots.of_pair(*wrong_pair(self.rng, pair))
        return Roots(_wrong_number(self.rng, right.centre), right.radicand)


def wrong_pair(rng: np.random.Generator, pair: RootPair) -> RootPair:
    """Return two numbers that are not the pair: signs confused, or one number off by one."""
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    side = 1 if rng.random() < 0.5 else -1
    near = (first + side or first - side, second)  # never 0, which no method writes
    slips = {"signs": (-first, -second), "one sign": (-first, second), "by one": near}
    wrong = slips[draw(rng, PAIR_SLIPS)]
    return wrong if set(wrong) != set(pair) else near


def _wrong_number(rng: np.random.Generator, right: Fraction) -> Fraction:
    side = 1 if rng.random() < 0.5 else -1
    slip = draw(rng, NUMBER_SLIPS)
    if slip == "sign" and right != 0:
        return -right
    return right + side * {"by one": 1, "by two": 2, "by ten": 10, "sign": 1}[slip]


def factoring(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `factor (x-2)(x-3)=0 x=2,3`."""
    first, second = pen.guess(pair)
    outer = equation.a // (first.denominator * second.denominator)
    brackets = "".join(f"({_linear(root)})" for root in (first, second))
    return f"factor {outer if outer > 1 else ''}{brackets}=0{_read_off(first, second, pen)}"


def formula(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `formula D=25-24=1 x=(5+-1)/2=2,3`."""
    a, b, c = equation
    square, rest = pen.number(b * b), pen.number(-4 * a * c)
    discriminant = pen.number(square + rest)
    start = f"formula D={square}{signed(rest)}={discriminant}"
    if discriminant < 0:
        return f"{start} x=none"
    minus_b = pen.number(-b)
    roots = Roots(minus_b / (2 * a), discriminant / (4 * a * a))
    expression = f"({minus_b}+-{_root(discriminant)})/{2 * a}"
    answer = pen.answer(roots).text()
    return f"{start} x={expression}" + ("" if answer == expression else f"={answer}")


def square(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `square (x-5/2)^2=25/4-6=1/4 x=5/2+-1/2=2,3`."""
    a, b, c = equation
    half = pen.number(Fraction(b, 2 * a))
    squared, rest = pen.number(half * half), pen.number(Fraction(-c, a))
    value = pen.number(squared + rest)
    start = f"square (x{signed(half)})^2={squared}{signed(rest)}={value}"
    return start + _extract_root(-half, value, pen)


def sum_product(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `sum 2+3=5 product 2*3=6 x=2,3`."""
    first, second = pen.guess(pair)
    total, product = pen.number(first + second), pen.number(first * second)
    start = f"sum {first}{signed(second)}={total} product {first}*{second}={product}"
    return start + _read_off(first, second, pen)


def trial(equation: Equation, pair: RootPair, pen: Pen, misses: tuple[Fraction, ...] = ()) -> str:
    """Write `try P(1)=2 P(2)=0 P(3)=0 x=2,3`."""
    tried = (*misses, *pen.guess(pair))
    values = {x: pen.number(equation.at(x)) for x in tried}
    found = [x for x, value in values.items() if value == 0]
    start = "try" + "".join(f" P({x})={value}" for x, value in values.items())
    return start + (_read_off(found[0], found[1], pen) if len(found) > 1 else " x=none")


def grouping(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `group x^2-2x-3x+6=x(x-2)-3(x-2) x=2,3`."""
    first, second = pen.guess(pair)
    # a(x - first)(x - second) = (px - q)(x·a/p - second·a/p), with q/p = first.
    p = first.denominator
    outer, inner = Fraction(equation.a, p), -second * equation.a / p
    last = pen.number(-first * p * inner)
    terms = term(equation.a, "x^2") + term(-first * equation.a, "x") + term(inner * p, "x")
    split = f"{terms}{signed(last)}".removeprefix("+")
    bracket = f"({_linear(first)})"
    grouped = (term(outer, f"x{bracket}") + term(inner, bracket)).removeprefix("+")
    return f"group {split}={grouped}{_read_off(first, second, pen)}"


def division(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `divide x-2: 1,-3,0 x=2,3`: Horner's row for one root, which the author has guessed."""
    a, b, c = equation
    root, _ = pen.guess(pair)
    middle = pen.number(b + root * a)
    rest = pen.number(c + root * middle)
    start = f"divide x{signed(-root)}: {a},{middle},{rest}"
    return start + _read_off(root, -middle / a, pen)


def midpoint(equation: Equation, pair: RootPair, pen: Pen) -> str:
    """Write `middle (5/2-d)(5/2+d)=6 d^2=1/4 x=5/2+-1/2=2,3`."""
    a, b, c = equation
    middle, product = pen.number(Fraction(-b, 2 * a)), pen.number(Fraction(c, a))
    value = pen.number(middle * middle - product)
    start = f"middle ({middle}-d)({middle}+d)={product} d^2={value}"
    return start + _extract_root(middle, value, pen)


def _read_off(first: Fraction, second: Fraction, pen: Pen) -> str:
    return f" x={pen.answer(Roots.of_pair(first, second)).text()}"


def _extract_root(centre: Fraction, radicand: Fraction, pen: Pen) -> str:
    if radicand < 0:
        return " x=none"
    roots = Roots(centre, radicand)
    answer = pen.answer(roots).text()
    root = square_root(radicand)
    return f" x={answer}" if root is None else f" x={centre}+-{root}={answer}"


def _root(radicand: Fraction) -> str:
    root = square_root(radicand)
    return f"r{radicand}" if root is None else str(root)


def _linear(root: Fraction) -> str:
    """Write px-q, whose root is q/p."""
    return polynomial(0, root.denominator, -root.numerator)


Draft = Callable[[Equation, RootPair, Pen], str]

STRATEGIES: dict[str, Draft] = {
    "factoring": factoring,
    "formula": formula,
    "completing_square": square,
    "sum_product": sum_product,
    "divisor_trial": trial,
    "grouping": grouping,
    "division": division,
    "midpoint": midpoint,
}


def write(equation: Equation, kind: str, rng: np.random.Generator) -> Written:
    """Write one sample: a method by its share, with an error at the rate of the kind and method."""
    strategy = draw(rng, SHARES[kind])
    pair = equation.roots.pair()
    found = pair or _nearby(equation, rng)
    found = found if rng.random() < 0.5 else found[::-1]
    method = _with_misses(equation, rng) if strategy == "divisor_trial" else STRATEGIES[strategy]
    correct = rng.random() < SUCCESS[kind][strategy]
    hopeless = SUCCESS[kind][strategy] == 0  # wrong even without an error
    text = (
        method(equation, found, Pen(rng))
        if correct or hopeless
        else with_a_slip(partial(method, equation, found), Pen, rng)
    )
    return Written(text, strategy, correct)


def _with_misses(equation: Equation, rng: np.random.Generator) -> Draft:
    """Make trial of divisors that first tries a few values that are not roots."""
    largest = min(abs(equation.c), LARGEST_TRIED)
    values = [Fraction(side * x) for x in range(1, largest + 1) for side in (1, -1)]
    misses = [x for x in values if equation.c % x == 0 and equation.at(x) != 0]
    order = rng.permutation(len(misses))[: draw(rng, MISSES)]
    return partial(trial, misses=tuple(misses[at] for at in order))


def _nearby(equation: Equation, rng: np.random.Generator) -> RootPair:
    """Return integers near irrational roots: both rounded, or two whose product is right."""
    centre, spread = float(equation.roots.centre), sqrt(equation.roots.radicand)
    if rng.random() < 0.5:
        first, second = (round(centre + side * spread) or 1 for side in (-1, 1))
        return Fraction(first), Fraction(second)
    divisors = [side * d for d in range(1, abs(equation.c) + 1) for side in (1, -1)]
    pairs = [(d, equation.c // d) for d in divisors if equation.c % d == 0]
    first, second = min(pairs, key=lambda pair: abs(sum(pair) + equation.b))
    return Fraction(first), Fraction(second)
