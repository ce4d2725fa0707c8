"""Objectives of pairs in larger groups, against sums over pairs and triples in fractions."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from setrl import Samples, objectives

MEAN = objectives.mean()
RATED = objectives.polychromic(objectives.pairwise_distance())


def chance_in_set(n: int, k: int, members: int, others: int) -> Fraction:
    """P(`others` given samples are in a set of K that holds `members` given ones)."""
    if members + others > k:
        return Fraction(0)
    return Fraction(
        comb(n - members - others, k - members - others), comb(n - members, k - members)
    )


def exact_contrast(rewards, distances, k, i):
    """u − v of sample i for mean reward × mean pairwise distance, term by term."""
    n = len(rewards)
    with_i = without_i = Fraction(0)
    for a, b in combinations(range(n), 2):
        for j in range(n):
            term = Fraction(rewards[j]) * Fraction(distances[a][b])
            group = {a, b, j}
            with_i += term * chance_in_set(n, k, 1, len(group - {i}))
            if i not in group:  # the sets without i are sets of n − 1 samples
                without_i += term * chance_in_set(n - 1, k, 0, len(group))
    return (with_i - without_i) / (k * comb(k, 2))


@pytest.mark.parametrize("k", [2, 3, 17])
def test_mean_reward_times_distance_against_sums_over_triples(k):
    rng = np.random.default_rng(0)
    n = 24
    rewards = rng.integers(0, 5, n) / 4
    half = rng.integers(0, 5, (n, n)) / 8
    found = RATED.set_means(Samples(rewards[None], pairs=(half + half.T)[None]), k)
    for i in (0, 11):
        want = exact_contrast(rewards, half + half.T, k, i)
        assert found.contrast_BN[0, i] == pytest.approx(float(want), rel=1e-9)


@pytest.mark.parametrize(
    ("objective", "pairs"),
    [
        (objectives.pairwise_distance(), np.full((300, 300), 0.7, dtype=np.float32)),
        (RATED, np.full((300, 300), 0.7, dtype=np.float32)),
    ],
)
def test_where_all_sets_score_alike_there_is_no_credit(objective, pairs):
    rewards = np.full((1, 300), np.float32(0.3), dtype=np.float64)
    means = objective.set_means(Samples(rewards, pairs=pairs[None].astype(np.float64)), 8)
    assert means.mean_B[0] > 0
    np.testing.assert_array_equal(means.contrast_BN, 0.0)
