"""Roots of quadratic equations: the strategy is the method that the written steps follow.

The task comes from a sketch in the tutorial on Poly-EPO (arXiv:2604.17654): many methods find the
roots of a quadratic, at different costs and with different success rates. Kinds, ranges, wording,
the list of methods, their shares and the author's slips are our reconstruction.

    prompt  x^2-5x+6=0:        sample  factor (x-2)(x-3)=0 x=2,3

| strategy | sample for x^2-5x+6=0 |
|---|---|
| `factoring` | factor (x-2)(x-3)=0 x=2,3 |
| `formula` | formula D=25-24=1 x=(5+-1)/2=2,3 |
| `sum_product` | sum 2+3=5 product 2*3=6 x=2,3 |
| `divisor_trial` | try P(1)=2 P(2)=0 P(3)=0 x=2,3 |
| `completing_square` | square (x-5/2)^2=25/4-6=1/4 x=5/2+-1/2=2,3 |
| `grouping` | group x^2-2x-3x+6=x(x-2)-3(x-2) x=2,3 |
| `midpoint` | middle (5/2-d)(5/2+d)=6 d^2=1/4 x=5/2+-1/2=2,3 |
| `division` | divide x-2: 1,-3,0 x=2,3 |

Irrational roots are written x=3+-r5 or x=(3+-r5)/2; the number under the root need not be
square-free. In the training split the roots are integers, and factoring is short, common and
reliable. In the shifted split they are rational or irrational: factoring often fails or cannot
succeed, while formula, completing the square and midpoint always can.

| kind | roots | example |
|---|---|---|
| integer | two integers, leading coefficient 1 | x^2-5x+6=0 |
| leading | two integers, leading coefficient 2 or 3 | 2x^2-10x+12=0 |
| rational | an integer and a half or third | 2x^2-7x+3=0 |
| irrational | surds | x^2-6x+4=0 |

The training and test splits hold the first two kinds, the shifted split the last two.

Every equation is written in one of four forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from math import gcd, isqrt

import numpy as np
from typing_extensions import override

from setrl.tasks.domains.base import (
    Domain,
    Problem,
    Reading,
    Split,
    Written,
    draw,
    draw_problems,
    draw_training_problem,
)
from setrl.tasks.domains.quadratic import author, reader
from setrl.tasks.domains.quadratic.equation import Equation, parse, polynomial

__all__ = ["Quadratic"]

# Numbers below 100 are one token each: with one token for each digit, a small model needs several
# times the training to learn the factors of a number.
VOCABULARY = (
    *("factor ", "formula D=", "square (x", "sum ", " product ", "try", " P(", ")="),
    *("group ", "divide x", "middle (", "-d)(", "+d)=", " d^2=", ")^2=", " x=", "none"),
    *("x^2", "x(", "(x", ")(", "+-", "+-r", ": ", *"x+-*/=,()"),
    *(str(number) for number in range(100)),
)

TRAINING_KINDS = {"integer": 0.75, "leading": 0.25}
SHIFTED_KINDS = {"rational": 0.4, "irrational": 0.6}
SHIFTED_SHARE = 0.24  # of the corpus
CORPUS_KINDS = {kind: (1 - SHIFTED_SHARE) * share for kind, share in TRAINING_KINDS.items()} | {
    kind: SHIFTED_SHARE * share for kind, share in SHIFTED_KINDS.items()
}


@dataclass(frozen=True)
class Quadratic(Domain):
    """Find both roots of a quadratic by a written method; every step is checked."""

    name = "quadratic"
    vocabulary = VOCABULARY
    max_new_tokens = 50

    @override
    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems: integer roots, or other roots in the shifted split.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` different problems.
        """
        kinds = SHIFTED_KINDS if split == "shifted" else TRAINING_KINDS
        prompts = {prompt for kind in kinds for prompt in _prompts(kind)}
        return draw_problems(
            lambda rng: _problem(rng, draw(rng, kinds)), prompts, split, count, seed
        )

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of any kind, in the shares `CORPUS_KINDS`."""
        return draw_training_problem(lambda rng: _problem(rng, draw(rng, CORPUS_KINDS)), rng)

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one sample, in the shares and with the success rates of `author`."""
        return author.write(parse(problem.prompt), problem.kind, rng)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Verify every step and both roots in exact arithmetic, and name the method.

        Raises:
            ValueError: If the prompt is not a quadratic equation with two different real roots.
        """
        return reader.read(parse(prompt), text)


def _problem(rng: np.random.Generator, kind: str) -> Problem:
    forms = _forms(_EQUATIONS[kind](rng))
    return Problem(forms[int(rng.integers(len(forms)))], kind)


def _forms(equation: Equation) -> list[str]:
    """Return the four prompts of an equation: all terms on the left, or some on the right."""
    a, b, c = equation
    sides = [
        (polynomial(a, b, c), "0"),
        (polynomial(a, b, 0), polynomial(0, 0, -c)),
        (polynomial(a, 0, 0), polynomial(0, -b, -c)),
        (polynomial(a, 0, c), polynomial(0, -b, 0)),
    ]
    return [f"{left}={right}: " for left, right in sides]


@cache
def _prompts(kind: str) -> frozenset[str]:
    """Return all prompts of a kind."""
    make, values = _ALL[kind]
    equations = (make(*numbers) for numbers in product(*values))
    return frozenset(prompt for one in equations if one is not None for prompt in _forms(one))


def _first(make: Callable[..., Equation | None], *draws: Callable[[], int]) -> Equation:
    """Draw numbers until they make an equation of the kind."""
    while True:
        if found := make(*(draw_number() for draw_number in draws)):
            return found


def _with_roots(a: int, first: int, second: int) -> Equation | None:
    """Return a(x − first)(x − second) = 0; None if that has only one root."""
    return None if first == second else Equation(a, -a * (first + second), a * first * second)


def _with_fraction(p: int, q: int, r: int) -> Equation | None:
    """Return (px − q)(x − r) = 0; None if q/p is not in lowest terms."""
    return Equation(p, -p * r - q, q * r) if gcd(p, q) == 1 else None


def _with_surds(b: int, c: int) -> Equation | None:
    """Return x² + bx + c = 0; None if its roots are rational, or not real."""
    equation = Equation(1, b, c)
    square = equation.discriminant
    return equation if square > 0 and isqrt(square) ** 2 != square else None


def _nonzero(rng: np.random.Generator, largest: int) -> int:
    return int(rng.integers(1, largest + 1)) * (1 if rng.random() < 0.5 else -1)


def _signed(largest: int) -> list[int]:
    """Return all values that `_nonzero` can draw."""
    return [sign * size for size in range(1, largest + 1) for sign in (1, -1)]


# The leading coefficient is drawn once, the other numbers until they fit.
_EQUATIONS: dict[str, Callable[[np.random.Generator], Equation]] = {
    "integer": lambda rng: _first(
        partial(_with_roots, 1), lambda: _nonzero(rng, 9), lambda: _nonzero(rng, 10)
    ),
    "leading": lambda rng: _first(
        partial(_with_roots, int(rng.integers(2, 4))), *2 * [lambda: _nonzero(rng, 6)]
    ),
    "rational": lambda rng: _first(
        partial(_with_fraction, int(rng.integers(2, 4))),
        lambda: _nonzero(rng, 7),
        lambda: _nonzero(rng, 6),
    ),
    "irrational": lambda rng: _first(
        _with_surds, lambda: int(rng.integers(-9, 10)), lambda: _nonzero(rng, 12)
    ),
}

# Kind → the function that makes an equation of this kind, and all values of its arguments.
_ALL: dict[str, tuple[Callable[..., Equation | None], tuple[Iterable[int], ...]]] = {
    "integer": (_with_roots, ([1], _signed(9), _signed(10))),
    "leading": (_with_roots, ([2, 3], _signed(6), _signed(6))),
    "rational": (_with_fraction, ([2, 3], _signed(7), _signed(6))),
    "irrational": (_with_surds, (range(-9, 10), _signed(12))),
}
