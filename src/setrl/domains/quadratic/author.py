"""The author of the corpus: which method is chosen for which kind, and how often it succeeds."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import sqrt

import numpy as np

from setrl.domains.base import Problem, Written
from setrl.domains.quadratic.equation import Equation, parse
from setrl.domains.quadratic.strategies import STRATEGIES, Draft, Pair, Pen, trial
from setrl.domains.splits import draw

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

MISSES = {0: 0.4, 1: 0.4, 2: 0.2}  # how many values are tried before the roots are found
LARGEST_TRIED = 9


def write(problem: Problem, rng: np.random.Generator) -> Written:
    """One sample: a method by its share, with an error at the rate of the kind and method."""
    equation = parse(problem.prompt)
    strategy = draw(rng, SHARES[problem.kind])
    pair = equation.roots.pair()
    found = pair or _nearby(equation, rng)
    found = found if rng.random() < 0.5 else found[::-1]
    method = _with_misses(equation, rng) if strategy == "divisor_trial" else STRATEGIES[strategy]
    correct = rng.random() < SUCCESS[problem.kind][strategy]
    hopeless = SUCCESS[problem.kind][strategy] == 0  # wrong even without an error
    if correct or hopeless:
        text = method(equation, found, Pen(rng))
    else:
        text = _with_slip(method, equation, found, rng)
    return Written(text, strategy, correct)


def _with_slip(method: Draft, equation: Equation, pair: Pair, rng: np.random.Generator) -> str:
    """The method with one wrong number: a first pass counts the numbers, a second writes them."""
    count = Pen(rng)
    method(equation, pair, count)
    return method(equation, pair, Pen(rng, slip_at=int(rng.integers(count.steps))))


def _with_misses(equation: Equation, rng: np.random.Generator) -> Draft:
    """Trial of divisors that first tries a few values that are not roots."""
    largest = min(abs(equation.c), LARGEST_TRIED)
    values = [Fraction(side * x) for x in range(1, largest + 1) for side in (1, -1)]
    misses = [x for x in values if equation.c % x == 0 and equation.at(x) != 0]
    order = rng.permutation(len(misses))[: draw(rng, MISSES)]
    return partial(trial, misses=tuple(misses[at] for at in order))


def _nearby(equation: Equation, rng: np.random.Generator) -> Pair:
    """Integers that come near irrational roots: both rounded, or two whose product is right."""
    centre, spread = float(equation.roots.centre), sqrt(equation.roots.radicand)
    if rng.random() < 0.5:
        first, second = (round(centre + side * spread) or 1 for side in (-1, 1))
        return Fraction(first), Fraction(second)
    divisors = [side * d for d in range(1, abs(equation.c) + 1) for side in (1, -1)]
    pairs = [(d, equation.c // d) for d in divisors if equation.c % d == 0]
    first, second = min(pairs, key=lambda pair: abs(sum(pair) + equation.b))
    return Fraction(first), Fraction(second)
