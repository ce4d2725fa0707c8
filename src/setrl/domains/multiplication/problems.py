"""The problems: a number of three digits times a digit, in kinds by what makes them easy."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from setrl.domains.base import SPLITS, Problem, Split, is_held_out
from setrl.domains.splits import draw

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


def factors_of(prompt: str) -> tuple[int, int]:
    """The two factors of a prompt.

    >>> factors_of("343*7=")
    (343, 7)

    Raises:
        ValueError: If it is not a prompt of this domain.
    """
    match = PROMPT.fullmatch(prompt)
    if match is None:
        raise ValueError(f"prompt must look like '343*7=', got {prompt!r}")
    return int(match[1]), int(match[2])


def kind_of(a: int, b: int) -> str:
    """What makes a·b easy: how far a is from the hundred above or below, or else whether b is even.

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


def below_hundred(a: int) -> int:
    """How far a is below the next multiple of a hundred, from 1 to 100."""
    return 100 - a % 100


def different_problems(split: Split, count: int, seed: int) -> list[Problem]:
    """`count` different problems of a split, its kinds in their shares until a kind runs out.

    A longer list with the same seed starts with the shorter one.

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


def draw_corpus_problem(rng: np.random.Generator) -> Problem:
    """A problem of any kind, in the shares `CORPUS_SHARES`; never a held-out one."""
    pool = _pool(draw(rng, CORPUS_SHARES), held_out=False)
    return pool[int(rng.integers(len(pool)))]


@cache
def _pool(kind: str, held_out: bool) -> tuple[Problem, ...]:
    """All problems of one kind that are held out, or all that are not."""
    pairs = [(a, b) for a in NUMBERS for b in DIGITS if kind_of(a, b) == kind]
    problems = [Problem(f"{a}*{b}=", kind) for a, b in pairs]
    return tuple(problem for problem in problems if is_held_out(problem.prompt) == held_out)
