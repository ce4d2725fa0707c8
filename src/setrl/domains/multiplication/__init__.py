"""Multiplication by a decomposition: the strategy is the decomposition that is written.

The task is that of Poly-EPO (arXiv:2604.17654, section 6.2b): multiply two numbers through a
decomposition, such as 343×67=(340+3)×(70−3), and count factorisation, partial products and so on
as different strategies. The paper gives neither ranges nor prompts nor a generator; ours multiply
three digits by one, so that a model of half a million parameters learns it from scratch. The
ranges, the wording, the list of strategies, their shares and the author's errors are our
reconstruction.

    prompt  298*7=        sample  (300-2)*7=2100-14=2086

| strategy | sample |
|---|---|
| `near_round` | 298*7: (300-2)*7=2100-14=2086 |
| `partial_products` | 343*7: (300+40+3)*7=2100+280+21=2380+21=2401 |
| `near_ten` | 343*9: 343*(10-1)=3430-343=3087 |
| `factorisation` | 343*6: 343*2*3=686*3=1800+240+18=2040+18=2058 |
| `doubling_halving` | 343*6: 686*3=1800+240+18=2040+18=2058 |
| `long_multiplication` | 343*7: 3*7=21,4*7+2=30,3*7+3=24:2401 |
| `repeated_addition` | 343*3: 343+343+343=686+343=1029 |
| `egyptian` | 343*5: 343,686,1372:1372+343=1715 |
| `direct` | 343*7: 2401 |

In the training split the number is just below a multiple of a hundred, and near-round splitting
is the easiest and most frequent strategy. In the shifted split it is far from a multiple of a
hundred, and the product to subtract is hard to compute. The author of the corpus nearly always
forgets to compute it, while the other strategies succeed about as often as before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setrl.domains.base import Problem, Reading, Split, Written
from setrl.domains.multiplication import author, reader
from setrl.domains.multiplication.problems import (
    different_problems,
    draw_corpus_problem,
    factors_of,
)

__all__ = ["Multiplication"]


@dataclass(frozen=True)
class Multiplication:
    """Multiply three digits by one through a decomposition, every step of which is checked."""

    name = "multiplication"
    vocabulary = (*"0123456789", "*", "=", "+", "-", "(", ")", ",", ":")
    max_new_tokens = 40

    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """`count` different problems: near a hundred, or far from one if shifted.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` problems.
        """
        return different_problems(split, count, seed)

    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """One problem of any kind, not held out."""
        return draw_corpus_problem(rng)

    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """One sample of the author, usually by a strategy that suits the problem."""
        return author.write(problem, rng)

    def read(self, prompt: str, text: str) -> Reading:
        """Whether every step holds and leads to the product, by exact integer arithmetic.

        An arithmetic error does not change the strategy. Text in none of the forms has none.

        Raises:
            ValueError: If the prompt is not one of this domain.
        """
        return reader.read(factors_of(prompt), text)
