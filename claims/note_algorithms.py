"""Set RL note, §6: Poly-PPO and Poly-EPO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

import setrl
from claims import scores
from claims.claims import NOTE, Trials, Verdict, claim, remark, scaled, shown, stated
from claims.exact import (
    all_sets,
    deviation,
    from_sets,
    times,
)
from claims.formulas import Formula


@claim(
    "note-alg-2-mean",
    NOTE,
    "§6.1, Algorithm 2 with §2.3, Algorithm 1",
    Verdict.UP_TO_SCALE,
    compares=("sums over a sample's sets", "=", "means over them"),
    how="Sum over a sample's sets against mean over them, less the mean of all: every group "
    "of N = $N samples of three actions.",
    truth="⟦C(N−1, n−1)⟧, the number of sets that hold a sample.",
    counterexample="f=polychromic of (1, 0, 1), N=4, n=2, group=(0, 0, 0, 2), sums=(-1/4, -1/4, "
    "-1/4, 3/4), means=(-1/12, -1/12, -1/12, 1/4)",
    tried="366 of 405 stated, 405 scaled",
    cases=((4, 2), (4, 3), (5, 2)),
)
def sums_and_means(num: int, size: int) -> Trials:
    """The mean form of ⟦Algorithm 2⟧ gives the advantages of ⟦Algorithm 1⟧."""
    score = scores.named("polychromic", 1, 0, 1)
    for group in product(range(3), repeat=num):
        summed = from_sets(score, all_sets(num, size))(group)
        mean = deviation(score, size)(group)
        case = {"f": score, "N": num, "n": size, "group": group}
        yield stated(summed, mean, **case, sums=summed, means=mean)
        yield scaled(summed, times(comb(num - 1, size - 1), mean))


@claim(
    "note-diversity-range",
    NOTE,
    "§6.2",
    Verdict.HOLDS,
    compares=("d", "≤", 1),
    how="All sets of up to five members out of four strategies and the degenerate one.",
    truth="It is at least ⟦1/n⟧; zero only if every member is degenerate.",
    tried="3905 stated, 3905 remark",
    cases=product((1, 2, 3, 4, 5)),
)
def diversity_range(size: int) -> Trials:
    """d = (number of strategies in the set)/n ⟦is in [0, 1]⟧ ($q, and ⟦at least 0⟧)."""
    for labels in product((-1, 0, 1, 2, 3), repeat=size):
        found = scores.distinct_share(labels)(tuple(range(size)))
        least = Fraction(0) if set(labels) == {-1} else Fraction(1, size)
        yield stated(found, strategies=labels, d=found)
        yield remark(least <= found)


Cells = Counter[tuple[int, int]]  # how many samples have this (strategy, reward)


def fillings(cells: Cells, size: int) -> Iterator[tuple[int, Cells]]:
    """Yield every way to fill a set from the cells, and how many sets are filled this way."""
    if not cells:
        if size == 0:
            yield 1, Counter()
        return
    (cell, most), *rest = cells.items()
    for taken in range(min(most, size) + 1):
        for ways, filled in fillings(Counter(dict(rest)), size - taken):
            yield comb(most, taken) * ways, filled + Counter({cell: taken})


def polychromic_of(filled: Cells, size: int) -> Fraction:
    """Mean reward · strategies/n of a set with these numbers of members in the cells."""
    correct = sum(count for (_, reward), count in filled.items() if reward)
    strategies = {strategy for strategy, _ in filled} - {scores.DEGENERATE}
    return Fraction(correct, size) * Fraction(len(strategies), size)


def with_member(cells: Cells, cell: tuple[int, int], size: int) -> Fraction:
    """Return the mean score over all sets that hold one given sample of the cell."""
    own = Counter({cell: 1})
    listed = list(fillings(cells - own, size - 1))
    total = sum(ways * polychromic_of(filled + own, size) for ways, filled in listed)
    return Fraction(total) / sum(ways for ways, _ in listed)


@claim(
    "note-all-sets-feasible",
    NOTE,
    "§6.2",
    Verdict.HOLDS,
    compares=("sets that are counted", "=", Formula("C(N, n)")),
    how="Every set counted, in fractions: sets with equally many members of each strategy and"
    " reward score alike, so that $kinds kinds of sets stand for all $sets.most of N = "
    "$N.most, n = $n.most. Against u − U of the library to ⟦1e-14⟧, and for N = $N.least "
    "against enumeration exactly.",
    truth="Scoring them one by one is feasible for small N only; the closed form of the library "
    "costs O(N) operations.",
    tried="3 stated, 4 remark",
    cases=((6, 3), (12, 5), (32, 8)),
)
def all_sets_feasible(num: int, size: int) -> Trials:
    """All C(N, n) sets of a prompt can be used under the polychromic objective."""
    rng = np.random.default_rng(num)
    rewards, strategies = rng.integers(0, 2, num), rng.integers(-1, 2, num)
    sample_cells = list(zip(strategies.tolist(), rewards.tolist(), strict=True))
    cells = Counter(sample_cells)
    listed = list(fillings(cells, size))
    counted = sum(ways for ways, _ in listed)
    whole = sum(ways * polychromic_of(filled, size) for ways, filled in listed) / Fraction(counted)
    by_cell = {cell: with_member(cells, cell, size) - whole for cell in cells}
    exact = [by_cell[cell] for cell in sample_cells]
    found = setrl.methods.poly_epo(size).advantages(rewards[None], strategies=strategies[None])
    error = max(abs(a - float(b)) for a, b in zip(found.values_BN[0], exact, strict=True))
    yield stated(counted, N=num, n=size, sets=counted)
    yield remark(error < 1e-14)
    if num == 32:
        yield shown(kinds=len(listed))
    if num == 6:
        score = scores.polychromic(rewards.tolist(), strategies.tolist())
        yield remark(exact == deviation(score, size)(tuple(range(num))))
