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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.domains.base import Problem, Reading, Split, Written
from setrl.domains.quadratic import author, problems, reader
from setrl.domains.quadratic.equation import parse

__all__ = ["Quadratic"]

# Numbers below 100 are one token each: with one token for each digit, a small model needs several
# times the training to learn the factors of a number.
VOCABULARY = (
    *("factor ", "formula D=", "square (x", "sum ", " product ", "try", " P(", ")="),
    *("group ", "divide x", "middle (", "-d)(", "+d)=", " d^2=", ")^2=", " x=", "none"),
    *("x^2", "x(", "(x", ")(", "+-", "+-r", ": ", *"x+-*/=,()"),
    *(str(number) for number in range(100)),
)


@dataclass(frozen=True)
class Quadratic:
    """Find both roots of a quadratic by a written method, every step of which is checked."""

    name = "quadratic"
    vocabulary = VOCABULARY
    max_new_tokens = 50

    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """`count` different problems: with integer roots, or in the shifted split with other roots.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` different problems.
        """
        return problems.problems_of(split, count, seed)

    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """One problem of any kind, in the shares `problems.CORPUS_KINDS`."""
        return problems.corpus_problem(rng)

    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """One sample in the shares and with the success rates of `author`."""
        return author.write(problem, rng)

    def read(self, prompt: str, text: str) -> Reading:
        """Verify every step and both roots in exact arithmetic, and name the method.

        Raises:
            ValueError: If the prompt is not a quadratic equation with two different real roots.
        """
        return reader.read(parse(prompt), text)
