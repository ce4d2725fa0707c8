"""Problems by kind: the kind of roots of an equation, which is written in one of four forms.

| kind | roots | example |
|---|---|---|
| integer | two integers, leading coefficient 1 | x^2-5x+6=0 |
| leading | two integers, leading coefficient 2 or 3 | 2x^2-10x+12=0 |
| rational | an integer and a half or third | 2x^2-7x+3=0 |
| irrational | surds | x^2-6x+4=0 |

The training and test splits hold the first two kinds, the shifted split the last two.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, isqrt

import numpy as np

from setrl.domains.base import Problem, Split
from setrl.domains.quadratic.equation import Equation, polynomial
from setrl.domains.splits import draw, draw_problems, draw_training_problem

TRAINING_KINDS = {"integer": 0.75, "leading": 0.25}
SHIFTED_KINDS = {"rational": 0.4, "irrational": 0.6}
SHIFTED_SHARE = 0.24  # of the corpus
CORPUS_KINDS = {kind: (1 - SHIFTED_SHARE) * share for kind, share in TRAINING_KINDS.items()} | {
    kind: SHIFTED_SHARE * share for kind, share in SHIFTED_KINDS.items()
}


def problems_of(split: Split, count: int, seed: int) -> list[Problem]:
    """`count` different problems of a split."""
    kinds = SHIFTED_KINDS if split == "shifted" else TRAINING_KINDS
    return draw_problems(lambda rng: _problem(rng, draw(rng, kinds)), split, count, seed)


def corpus_problem(rng: np.random.Generator) -> Problem:
    """One problem of any kind, in the shares `CORPUS_KINDS`."""
    return draw_training_problem(lambda rng: _problem(rng, draw(rng, CORPUS_KINDS)), rng)


def _problem(rng: np.random.Generator, kind: str) -> Problem:
    a, b, c = _EQUATIONS[kind](rng)
    # The four forms: all terms on the left, or one or more of them moved to the right.
    forms = [
        (polynomial(a, b, c), "0"),
        (polynomial(a, b, 0), polynomial(0, 0, -c)),
        (polynomial(a, 0, 0), polynomial(0, -b, -c)),
        (polynomial(a, 0, c), polynomial(0, -b, 0)),
    ]
    left, right = forms[int(rng.integers(4))]
    return Problem(f"{left}={right}: ", kind)


def _integer_equation(rng: np.random.Generator) -> Equation:
    while True:
        first, second = _nonzero(rng, 9), _nonzero(rng, 10)
        if first != second:
            return Equation(1, -first - second, first * second)


def _leading_equation(rng: np.random.Generator) -> Equation:
    a = int(rng.integers(2, 4))
    while True:
        first, second = _nonzero(rng, 6), _nonzero(rng, 6)
        if first != second:
            return Equation(a, -a * (first + second), a * first * second)


def _rational_equation(rng: np.random.Generator) -> Equation:
    """(px − q)(x − r) = 0 with p ∈ {2, 3} and q/p in lowest terms."""
    p = int(rng.integers(2, 4))
    while True:
        q, r = _nonzero(rng, 7), _nonzero(rng, 6)
        if gcd(p, q) == 1:
            return Equation(p, -p * r - q, q * r)


def _irrational_equation(rng: np.random.Generator) -> Equation:
    while True:
        equation = Equation(1, int(rng.integers(-9, 10)), _nonzero(rng, 12))
        discriminant = equation.discriminant
        if discriminant > 0 and isqrt(discriminant) ** 2 != discriminant:
            return equation


def _nonzero(rng: np.random.Generator, largest: int) -> int:
    return int(rng.integers(1, largest + 1)) * (1 if rng.random() < 0.5 else -1)


_EQUATIONS: dict[str, Callable[[np.random.Generator], Equation]] = {
    "integer": _integer_equation,
    "leading": _leading_equation,
    "rational": _rational_equation,
    "irrational": _irrational_equation,
}
