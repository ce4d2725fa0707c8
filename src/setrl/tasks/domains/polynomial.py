"""Points on a polynomial: infinitely many answers are correct; the strategy is the chosen point.

The task follows Poly-EPO (arXiv:2604.17654, section 6.2a): given a relation such as y = x² + 3x +
7, name a point on it, such as (1, 11). The paper prints one relation and one point; the generator,
the ranges, the wording of the prompt, the exclusion clause and the shares of the corpus are our
reconstruction.

    prompt  y=x^2+3x+7, x!=4:         sample  (2, 17)

Every prompt forbids one to three values of x. In the training split these are values that are
rarely chosen. In the shifted split they are the favourites, so a policy that has collapsed on a
favourite fails there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from typing_extensions import override

from setrl.samples.values import DEGENERATE
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
from setrl.tasks.domains.quadratic.equation import coefficients, polynomial

# How often the author of the corpus chooses each x.
X_SHARES: dict[int, float] = {
    0: 0.22, 1: 0.19, 2: 0.11, -1: 0.10, 3: 0.07, -2: 0.06, 10: 0.04, -3: 0.04, 4: 0.03, 5: 0.03,
    -4: 0.02, -5: 0.02, 6: 0.01, 7: 0.01, 8: 0.01, 9: 0.01, -6: 0.008, -7: 0.006, -8: 0.004,
    -9: 0.002,
}  # fmt: skip
FAR_X = (*range(-20, -9), *range(11, 21))
ALL_X_SHARES = X_SHARES | dict.fromkeys(FAR_X, 0.01 / len(FAR_X))
RARE_X = tuple(x for x, share in X_SHARES.items() if share <= 0.02)
FAVOURITES: dict[tuple[int, ...], float] = {
    (0, 1): 0.3, (0, 1, 2): 0.25, (-1, 0, 1): 0.2, (0, 2): 0.15, (-1, 0): 0.1,
}  # fmt: skip

KINDS = {"line": 0.25, "quadratic": 0.75}
CURVES = {"line": (0, range(1, 10)), "quadratic": (1, range(6))}  # kind → a, and the values of b
CONSTANTS = range(12)  # the values of c
Clause = Literal["rare", "favourites"]
MOST_EXCLUDED = 2  # values of x that a prompt forbids, unless they are favourites
CLAUSES = {"rare": 0.7, "favourites": 0.2, "any": 0.1}  # what the corpus forbids
CARELESS = 0.1  # probability that the author ignores the exclusion clause

SLIPS = {
    "off by one": 0.3, "off by ten": 0.2, "sign of y": 0.1, "sign of x": 0.2, "forgotten term": 0.2,
}  # fmt: skip

# One token for each term and one for each common choice of x: with one token for each letter, a
# small model needs many times the training for the same accuracy. The last row covers all else.
VOCABULARY = (
    *(f"{factor}x" for factor in ("", *range(2, 10))),
    *(f"+{factor}x" for factor in ("", *range(2, 6))),
    *(f"{sign}{digit}" for sign in ("", "+", "-") for digit in range(1, 10)),
    *(f"({x}, " for x in X_SHARES),
    *("x^2", "0", "(", ", ", ")", "y=", ", x!=", ",", ": "),
)

# Integers in their one normal form, |x| < 100 and |y| < 100,000; anything else is degenerate.
POINT = re.compile(r"\((0|-?[1-9][0-9]?), (0|-?[1-9][0-9]{0,4})\)")
PROMPT = re.compile(
    r"y=((?:[+-]?[0-9]*x\^2)?(?:[+-]?[0-9]*x)?(?:[+-]?[0-9]+)?), x!=(-?[0-9]+(?:,-?[0-9]+)*): "
)


@dataclass(frozen=True)
class Relation:
    """y = ax² + bx + c, and the values of x that may not be used."""

    a: int
    b: int
    c: int
    excluded: tuple[int, ...]

    def y(self, x: int) -> int:
        """Return the y of the point at x."""
        return self.a * x * x + self.b * x + self.c


@dataclass(frozen=True)
class Polynomial(Domain):
    """Give one integer point (x, y) on a line or parabola, avoiding the excluded values of x.

    On a curve, x determines y, so a wrong y is an arithmetic error on the way to the same point. By
    default the strategy is "x=2": the paper's judge sees no new strategy in such an error.

    Attributes:
        strategy: What identifies a strategy: "x", or "point" for the pair "(2, 21)", as the paper's
            text has it, which makes each arithmetic error a new strategy.
    """

    strategy: Literal["x", "point"] = "x"

    name = "polynomial"
    vocabulary = VOCABULARY
    max_new_tokens = 12

    def __post_init__(self) -> None:
        if self.strategy not in ("x", "point"):
            raise ValueError(f"strategy must be 'x' or 'point', got {self.strategy!r}")

    @override
    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems; they exclude rare x, or favourites if shifted.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` problems.
        """
        clause: Clause = "favourites" if split == "shifted" else "rare"
        return draw_problems(
            lambda rng: _problem(rng, clause), _prompts(clause), split, count, seed
        )

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem with any kind of exclusion clause, in the shares `CLAUSES`."""
        return draw_training_problem(lambda rng: _problem(rng, draw(rng, CLAUSES)), rng)

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one point: favourite values of x are the most frequent; errors grow with |x|."""
        relation = _parse(problem.prompt)
        allowed = ALL_X_SHARES
        if rng.random() >= CARELESS:
            allowed = {x: s for x, s in ALL_X_SHARES.items() if x not in relation.excluded}
        x = draw(rng, allowed)
        slips = rng.random() < slip_chance(x)
        y = _slip(relation, x, rng) if slips else relation.y(x)
        return Written(f"({x}, {y})", self._label(x, y), not slips and x not in relation.excluded)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Check that `text` is a point on the curve at an allowed x; exact for every integer point.

        Raises:
            ValueError: If the prompt is not from this domain.
        """
        relation = _parse(prompt)
        match = POINT.fullmatch(text)
        if match is None:
            return Reading(False, DEGENERATE, reason="not a point such as (2, 21)")
        x, y = int(match[1]), int(match[2])
        if x in relation.excluded:
            reason = f"x={x} is excluded"
        elif y != relation.y(x):
            reason = f"at x={x} the curve has y={relation.y(x)}, not {y}"
        else:
            reason = ""
        return Reading(not reason, self._label(x, y), answer=text, reason=reason)

    def _label(self, x: int, y: int) -> str:
        return f"x={x}" if self.strategy == "x" else f"({x}, {y})"


def slip_chance(x: int) -> float:
    """Return the probability that the author gets y wrong: 0.06 + 0.02·|x|, at most 0.4."""
    return min(0.06 + 0.02 * abs(x), 0.4)


def _problem(rng: np.random.Generator, clause: str) -> Problem:
    kind = draw(rng, KINDS)
    a, bs = CURVES[kind]
    b = int(rng.integers(bs.start, bs.stop))
    c = int(rng.integers(CONSTANTS.stop))
    return Problem(_prompt(a, b, c, _excluded(rng, clause)), kind)


def _prompt(a: int, b: int, c: int, excluded: tuple[int, ...]) -> str:
    return f"y={polynomial(a, b, c)}, x!={','.join(map(str, excluded))}: "


@cache
def _prompts(clause: Clause) -> frozenset[str]:
    """Return all prompts with this kind of exclusion clause."""
    sizes = range(1, MOST_EXCLUDED + 1)
    rare = [subset for size in sizes for subset in combinations(sorted(RARE_X), size)]
    curves = [(a, b, c) for a, bs in CURVES.values() for b in bs for c in CONSTANTS]
    excluded = FAVOURITES if clause == "favourites" else rare
    return frozenset(_prompt(*curve, values) for curve in curves for values in excluded)


def _excluded(rng: np.random.Generator, clause: str) -> tuple[int, ...]:
    if clause == "favourites":
        return draw(rng, FAVOURITES)
    values = RARE_X if clause == "rare" else tuple(X_SHARES)
    chosen = rng.choice(values, size=int(rng.integers(1, MOST_EXCLUDED + 1)), replace=False)
    return tuple(sorted(int(x) for x in chosen))


@lru_cache(maxsize=65536)
def _parse(prompt: str) -> Relation:
    match = PROMPT.fullmatch(prompt)
    if match is None:
        raise ValueError(f"prompt must look like 'y=2x^2+3x+7, x!=4: ', got {prompt!r}")
    return Relation(*coefficients(match[1]), excluded=tuple(map(int, match[2].split(","))))


def _slip(relation: Relation, x: int, rng: np.random.Generator) -> int:
    """Return a wrong y of a kind that people write; never the correct one."""
    y = relation.y(x)
    terms = [relation.a * x * x, relation.b * x, relation.c]
    side = 1 if rng.random() < 0.5 else -1
    wrong = {
        "off by one": y + side,
        "off by ten": y + 10 * side,
        "sign of y": -y,
        "sign of x": relation.y(-x),
        "forgotten term": y - terms[int(rng.integers(3))],
    }[draw(rng, SLIPS)]
    return wrong if wrong != y else y + side
