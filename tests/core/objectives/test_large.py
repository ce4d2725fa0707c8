"""4096 samples of a few kinds: closed forms against big integers, by enumerating compositions.

Samples of one kind are alike in every field, so that a set is known by how many of each kind it
holds. Its probability is a ratio of products of binomials, and its score is from the definition.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest

from setrl import Samples, objectives, set_advantages
from setrl.core.objectives.chances import chances, marked_chances
from tests.core.catalogue import EXACT, Case

WITHOUT_PAIRS = [entry for entry in EXACT if "pairs" not in entry.objective.reads]


@dataclass(frozen=True)
class Kind:
    """Samples that are alike: how many, and their fields."""

    size: int
    reward: float
    strategy: int
    answer: int
    proxy: float


MIXED = [
    Kind(1, 1, 0, 2, 3),
    Kind(7, 0, 1, 0, 2),
    Kind(300, 0.5, 2, 1, 2),
    Kind(2000, 1, 0, 2, 1),
    Kind(1788, 0, -1, 0, 0),
]
SOLVED = [
    Kind(3900, 1, 0, 3, 1),
    Kind(150, 1, 1, 3, 0),
    Kind(40, 0, 2, 1, 1),
    Kind(6, 0.25, -1, 2, 2),
]
HARD = [Kind(2, 1, 0, 1, 0), Kind(1, 1, 1, 1, 1), Kind(4093, 0, 2, 0, 1)]
ALIKE = [Kind(4000, 1, 0, 0, 1), Kind(96, 1, 0, 0, 1)]
CASES = {"mixed": (MIXED, 8), "solved": (SOLVED, 8), "hard": (HARD, 32), "alike": (ALIKE, 8)}


def case_of(kinds: list[Kind], most: int) -> tuple[Case, list[int]]:
    """The samples of all kinds, at most so many of each, and the place of the first of each."""
    counts = [min(kind.size, most) for kind in kinds]
    rows = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
    case = Case(
        [kind.reward for kind in rows],
        [kind.strategy for kind in rows],
        [kind.answer for kind in rows],
        [kind.proxy for kind in rows],
        pairs=[],
    )
    return case, [sum(counts[:g]) for g in range(len(kinds))]


def exact_means(entry, kinds: list[Kind], k: int) -> tuple[Fraction, list, list]:
    """U, and u and u − v of a sample of each kind."""
    case, first = case_of(kinds, k)
    score = entry.definition(case)
    n = sum(kind.size for kind in kinds)
    total, with_kind = Fraction(0), [Fraction(0) for _ in kinds]
    for held in product(*(range(min(kind.size, k) + 1) for kind in kinds)):
        if sum(held) == k:
            members = [
                at + t for at, number in zip(first, held, strict=True) for t in range(number)
            ]
            ways = prod(comb(kind.size, h) for kind, h in zip(kinds, held, strict=True))
            part = Fraction(score(tuple(members))) * ways
            total += part
            with_kind = [have + part * h for have, h in zip(with_kind, held, strict=True)]
    total /= comb(n, k)
    u = [x * n / (comb(n, k) * k * kind.size) for x, kind in zip(with_kind, kinds, strict=True)]
    return total, u, [(x - total) * n / (n - k) for x in u]


PAIRED = [(entry, name) for entry in WITHOUT_PAIRS for name in CASES]


@pytest.mark.parametrize(
    ("entry", "name"), PAIRED, ids=[f"{entry.name}-{name}" for entry, name in PAIRED]
)
def test_large_groups_against_big_integers(entry, name):
    """Within 1e-9 relative, and u − v of the right sign, from float32 rewards."""
    kinds, k = CASES[name]
    k = entry.objective.set_size or k
    whole, u, contrast = exact_means(entry, kinds, k)
    case, first = case_of(kinds, most=4096)
    found = set_advantages(
        np.array([case.rewards], dtype=np.float32),
        objective=entry.objective,
        set_size=k,
        correct=np.array([case.correct]),
        strategies=np.array([case.strategies]),
        answers=np.array([case.answers]),
        proxy=np.array([case.proxy]),
        families=np.array([case.families]),
        second=np.array([case.second]),
        baseline="leave_one_out",
    )
    assert found.estimator == "closed form"
    np.testing.assert_allclose(found.mean_B, float(whole), rtol=1e-9, atol=1e-15)
    u, want = np.array(u, dtype=float), np.array(contrast, dtype=float)
    for place, kind, with_i, expected in zip(first, kinds, u, want, strict=True):
        alike = slice(place, place + kind.size)
        np.testing.assert_allclose(found.with_BN[0, alike], with_i, rtol=1e-9, atol=1e-15)
        values = found.values_BN[0, alike]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-15 * np.abs(want).max())
        assert not expected or (np.sign(values) == np.sign(expected)).all()


def rank_ways(n: int, k: int, i: int, j: int, rank: int) -> tuple[int, int]:
    """In how many sets with i, and without i, the sample of place j is the `rank`-th smallest."""
    below, above = j, n - 1 - j
    if i == j:
        return comb(below, rank) * comb(above, k - 1 - rank), 0
    lower, upper = below - (i < j), above - (i > j)
    held_low = rank - (i < j)
    held_high = k - 1 - rank - (i > j)
    holding = comb(lower, held_low) * comb(upper, held_high) if min(held_low, held_high) >= 0 else 0
    lacking = comb(lower, rank) * comb(upper, k - 1 - rank)
    return holding, lacking


def test_distinct_rewards_against_big_integers():
    """An L-statistic of 4096 different rewards, for samples at both ends and in the middle."""
    n, weights = 4096, [2, -1, 0, 0, 0.5, 1]
    k = len(weights)
    rewards = np.random.default_rng(0).permutation(n).astype(np.float64)
    found = objectives.l_statistic(weights).set_means(Samples(rewards[None]), k)
    for i in (0, 3, 1700, n - 1):
        sums = [Fraction(0), Fraction(0)]
        for rank, weight in enumerate(weights):
            ways = zip(*(rank_ways(n, k, i, j, rank) for j in range(n)), strict=True)
            for side, (counts, sets) in enumerate(zip(ways, (k - 1, k), strict=True)):
                total = sum(j * count for j, count in enumerate(counts))
                sums[side] += Fraction(total, comb(n - 1, sets)) * Fraction(weight)
        at = int(np.flatnonzero(rewards == i)[0])
        assert found.with_BN[0, at] == pytest.approx(float(sums[0]), rel=1e-11)
        assert found.contrast_BN[0, at] == pytest.approx(float(sums[0] - sums[1]), rel=1e-9)


@pytest.mark.parametrize(("n", "k"), [(4096, 8), (4096, 2048), (4096, 4095), (7, 3), (5, 5)])
def test_chances_of_missing_against_big_integers(n, k):
    table = chances(n, k)
    for m in {0, 1, 2, n // 100, n // 3, n - k - 1, n - k, n - 1}:
        if 0 <= m < n:
            want = Fraction(comb(n - 1 - m, k - 1), comb(n - 1, k - 1))
            assert table.missed_with[m] == pytest.approx(float(want), rel=1e-12, abs=0)
            if k < n:
                want = Fraction(comb(n - 1 - m, k), comb(n - 1, k))
                assert table.missed_without[m] == pytest.approx(float(want), rel=1e-12, abs=0)


@pytest.mark.parametrize(("total", "drawn"), [(4095, 7), (2047, 511), (9, 4), (4, 4), (3, 0)])
def test_chances_of_marked_against_big_integers(total, drawn):
    table = marked_chances(total, drawn)
    for m in {0, 1, total // 50, total // 2, total - 1, total}:
        for t in {0, 1, drawn // 3, drawn - 1, drawn} & set(range(drawn + 1)):
            ways = comb(m, t) * comb(total - m, drawn - t)
            want = float(Fraction(ways, comb(total, drawn)))
            assert table[m, t] == pytest.approx(want, rel=1e-11, abs=1e-290)
