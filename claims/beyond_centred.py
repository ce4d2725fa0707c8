"""Beyond the sources: u − v is the only centred credit of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

from claims.claims import BEYOND, Trials, Verdict, claim, kind, remark, stated
from claims.exact import Actions, Score, group_means
from claims.scores import OBJECTIVES

Row = list[Fraction]


@claim(
    "beyond-centred",
    BEYOND,
    "One step: the only centred credit",
    Verdict.READING,
    compares=("⟦another bᵢ whose advantages sum to 0⟧", "never"),
    how="Σᵢ b(y₋ᵢ) = Σᵢ uᵢ for every batch, solved for b as linear equations by elimination: "
    "four objectives on three actions, N ≤ $N.most, all K < N. Strictly: b may depend on "
    "i.",
    kindly="If one b, blind to the order of the others, serves all samples, v is the only "
    "solution.",
    truth="u − ⟦U = (1 − K/N)(u − v)⟧ is centred too; its baseline contains yᵢ.",
    counterexample="N=3, K=1, b=(v₁ + r₃, v₂ − r₃, v₃), centred=True",
    tried="1 of 1 stated, 20 kind, 60 remark",
)
def only_centred() -> Trials:
    """Among the advantages uᵢ − bᵢ(y₋ᵢ), only u − v sums ⟦to 0⟧ in every batch."""
    centred = is_centred(of_two_samples)
    yield stated(centred, N=3, K=1, b="(v₁ + r₃, v₂ − r₃, v₃)", centred=centred)
    for score, (num, size) in product(OBJECTIVES, ((3, 1), (3, 2), (4, 2), (4, 3), (5, 2))):
        found = solve(*centring(score, 3, num, size))
        truth = [_v(score, rest, size) for rest in _multisets(3, num - 1)]
        yield kind(found == truth, f=score, N=num, K=size)
    for score, group in product(OBJECTIVES, _multisets(3, 4)):
        means = group_means(score, group, 2)
        both = zip(means.u, means.v, strict=True)
        yield remark([u - means.U for u in means.u] == [(u - v) / 2 for u, v in both])


def of_two_samples(i: int, rewards: Actions) -> Fraction:
    """v of the mean reward (K = 1, N = 3), with r₃ added to b₁ and subtracted from b₂."""
    v = Fraction(sum(rewards) - rewards[i], 2)
    return v + (rewards[2], -rewards[2], 0)[i]


def is_centred(baseline: Callable[[int, Actions], Fraction]) -> bool:
    """Return whether Σ rᵢ − bᵢ is 0 for all rewards of three samples."""
    return all(
        sum(r) == sum(baseline(i, r) for i in range(3)) for r in product((2, 1, 0), repeat=3)
    )


def centring(
    score: Score, num_actions: int, num: int, size: int
) -> tuple[list[Row], Sequence[Fraction]]:
    """Σᵢ b(y₋ᵢ) = Σᵢ uᵢ: a row for every batch, an unknown for every multiset of N − 1."""
    rests = _multisets(num_actions, num - 1)
    rows, totals = [], []
    for group in _multisets(num_actions, num):
        row = [Fraction(0)] * len(rests)
        for i in range(num):
            row[rests.index(group[:i] + group[i + 1 :])] += 1
        rows.append(row)
        totals.append(sum(group_means(score, group, size).u, Fraction(0)))
    return rows, totals


def solve(rows: list[Row], totals: Sequence[Fraction]) -> Row | None:
    """Solve linear equations; return None if there is no solution, or more than one."""
    left = [[*row, total] for row, total in zip(rows, totals, strict=True)]
    unknowns = len(rows[0])
    for column in range(unknowns):
        pivot = next((row for row in left[column:] if row[column]), None)
        if pivot is None:
            return None
        left.remove(pivot)
        pivot = [x / pivot[column] for x in pivot]
        left = [_without(row, pivot, column) for row in left]
        left.insert(column, pivot)
    if any(row[-1] for row in left[unknowns:]):
        return None
    return [row[-1] for row in left[:unknowns]]


def _without(row: Row, pivot: Row, column: int) -> Row:
    factor = row[column]
    return [x - factor * y for x, y in zip(row, pivot, strict=True)] if factor else row


def _multisets(num_actions: int, num: int) -> list[Actions]:
    return list(combinations_with_replacement(range(num_actions), num))


def _v(score: Callable, rest: Actions, size: int) -> Fraction:
    """Return the mean score of the K-sets of the other samples."""
    return group_means(score, rest, size).U
