"""Multiplication by a decomposition: the strategy is the decomposition that is written.

The task follows Poly-EPO (arXiv:2604.17654, section 6.2b): multiply two numbers through a
decomposition, such as 343×67=(340+3)×(70−3), and count factorisation, partial products and so on as
different strategies. The paper gives no ranges, no prompts and no generator; our problems multiply
three digits by one, so that a model of half a million parameters learns the task from scratch. The
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

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
from typing_extensions import override

from setrl.tasks.domains.base import (
    SPLITS,
    Domain,
    Problem,
    Reading,
    Split,
    Written,
    draw,
    is_held_out,
)
from setrl.tasks.domains.multiplication import author, reader
from setrl.tasks.domains.multiplication.author import below_hundred

NUMBERS = tuple(a for a in range(101, 1000) if a % 10)  # multiples of ten are too easy
DIGITS = tuple(range(3, 10))
PROMPT = re.compile(r"([1-9][0-9]{2})\*([2-9])=")

# Shares of the kinds of problem. On the shifted kinds the number is far from every hundred.
TRAIN = {"just_below": 0.6, "below": 0.34, "above": 0.06}
SHIFTED = {"between_even": 0.45, "between_odd": 0.55}
SPLIT_SHARES: dict[Split, dict[str, float]] = {"train": TRAIN, "test": TRAIN, "shifted": SHIFTED}
CORPUS_SHARES = {
    "just_below": 0.40, "below": 0.26, "above": 0.10, "between_even": 0.11, "between_odd": 0.13,
}  # fmt: skip


@dataclass(frozen=True)
class Multiplication(Domain):
    """Multiply three digits by one through a decomposition, every step of which is checked."""

    name = "multiplication"
    vocabulary = (*"0123456789", "*", "=", "+", "-", "(", ")", ",", ":")
    max_new_tokens = 40

    @override
    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems: near a hundred, or far from one in the shifted split.

        The kinds come in their shares until one kind has no problem left. A longer list with the
        same seed
        starts with the shorter one.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` problems.
        """
        if split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
        shares = SPLIT_SHARES[split]
        pools = {kind: _pool(kind, held_out=split != "train") for kind in shares}
        problems = [problem for pool in pools.values() for problem in pool]
        if not 0 <= count <= len(problems):
            size = len(problems)
            raise ValueError(f"count must be in [0, {size}] for the {split} split, got {count}")
        # Weighted sampling without replacement: give each problem an exponential waiting time whose
        # rate is its weight, and take the problems in order of arrival.
        rates = np.array([shares[problem.kind] / len(pools[problem.kind]) for problem in problems])
        rng = np.random.default_rng((seed, SPLITS.index(split)))
        arrivals = rng.exponential(size=len(problems)) / rates
        return [problems[i] for i in np.argsort(arrivals)[:count]]

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of any kind, in the shares `CORPUS_SHARES`; never a held-out one."""
        pool = _pool(draw(rng, CORPUS_SHARES), held_out=False)
        return pool[int(rng.integers(len(pool)))]

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one sample of the author, usually by a strategy that suits the problem."""
        return author.write(*factors_of(problem.prompt), rng)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Check by exact integer arithmetic that every step holds and leads to the product.

        An arithmetic error does not change the strategy. Text in none of the forms has no strategy.

        Raises:
            ValueError: If the prompt is not from this domain.
        """
        return reader.read(factors_of(prompt), text)


def factors_of(prompt: str) -> tuple[int, int]:
    """Return the two factors of a prompt.

    >>> factors_of("343*7=")
    (343, 7)

    Raises:
        ValueError: If the prompt is not from this domain.
    """
    match = PROMPT.fullmatch(prompt)
    if match is None:
        raise ValueError(f"prompt must look like '343*7=', got {prompt!r}")
    return int(match[1]), int(match[2])


def kind_of(a: int, b: int) -> str:
    """Name the kind of a·b: how far a is from a hundred, or between hundreds whether b is even.

    >>> [kind_of(a, 7) for a in (298, 283, 305, 343)]
    ['just_below', 'below', 'above', 'between_odd']
    """
    if below_hundred(a) < 10:
        return "just_below"
    if below_hundred(a) < 20:
        return "below"
    if a % 100 < 20:
        return "above"
    return "between_odd" if b % 2 else "between_even"


@cache
def _pool(kind: str, held_out: bool) -> tuple[Problem, ...]:
    """Return all problems of one kind that are held out, or all that are not."""
    pairs = [(a, b) for a in NUMBERS for b in DIGITS if kind_of(a, b) == kind]
    problems = [Problem(f"{a}*{b}=", kind) for a, b in pairs]
    return tuple(problem for problem in problems if is_held_out(problem.prompt) == held_out)
