"""Sampling by shares, and sampling the different problems of a split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from setrl.domains.base import SPLITS, Problem, Split, is_held_out

Value = TypeVar("Value")

# How many tries for one new problem are allowed for each problem found so far. One prompt in eight
# is held out; the rest is a margin for repeats and rare problems.
TRIES_PER_PROBLEM = 200


def draw(rng: np.random.Generator, shares: Mapping[Value, float]) -> Value:
    """One of the keys, with probability in proportion to its share (the sum need not be 1)."""
    point = rng.random() * sum(shares.values())
    for value, share in shares.items():
        point -= share
        if point < 0:
            return value
    return value  # the point equals the sum, up to rounding


def draw_problems(
    draw_problem: Callable[[np.random.Generator], Problem], split: Split, count: int, seed: int
) -> list[Problem]:
    """`count` different problems of a split, held out or not as the split needs.

    A longer list with the same seed starts with the shorter one.

    Raises:
        ValueError: If the split is unknown, or has fewer than `count` different problems.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    rng = np.random.default_rng((seed, SPLITS.index(split)))
    problems: dict[str, Problem] = {}
    failures = 0
    while len(problems) < count:
        problem = draw_problem(rng)
        is_new = problem.prompt not in problems
        if is_new and is_held_out(problem.prompt) == (split != "train"):
            problems[problem.prompt] = problem
            failures = 0
        elif (failures := failures + 1) > TRIES_PER_PROBLEM * (len(problems) + 1):
            raise ValueError(
                f"count must be at most about {len(problems)} for the {split} split, got {count}"
            )
    return list(problems.values())


def draw_training_problem(
    draw_problem: Callable[[np.random.Generator], Problem], rng: np.random.Generator
) -> Problem:
    """One problem that is not held out."""
    while True:
        problem = draw_problem(rng)
        if not is_held_out(problem.prompt):
            return problem
