"""Estimators against enumeration of all subsets in exact arithmetic, and laws."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from setrl.evaluation.estimators import (
    count_labels,
    distinct_at_k,
    effective_number,
    hit_probabilities,
    max_at_k,
    pass_at_k,
    pass_at_k_variance,
    top_share,
)


def mean_over_subsets(statistic, n, k):
    """The definition: the statistic of every k-subset of the indices, averaged exactly."""
    values = [Fraction(statistic(subset)) for subset in combinations(range(n), k)]
    return sum(values, Fraction(0)) / len(values)


SIZES = [(n, k) for n in range(1, 9) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_pass_at_k_is_the_mean_over_all_subsets(n, k):
    expected = [
        mean_over_subsets(lambda subset, c=c: any(i < c for i in subset), n, k)
        for c in range(n + 1)
    ]
    np.testing.assert_allclose(pass_at_k(range(n + 1), n, k), np.array(expected, float), rtol=1e-15)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_distinct_at_k_is_the_mean_over_all_subsets(n, k):
    rng = np.random.default_rng([n, k])
    labels = rng.integers(-1, 4, size=n)
    correct = rng.random(n) < 0.6
    counts = count_labels(labels[None], correct[None])
    for counted, usable in ((counts.all_PC, labels >= 0), (counts.correct_PC, correct)):
        kept = usable & (labels >= 0)
        expected = mean_over_subsets(
            lambda subset, kept=kept: len({labels[i] for i in subset if kept[i]}), n, k
        )
        assert distinct_at_k(counted, n, k)[0] == pytest.approx(float(expected), abs=1e-14)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_max_at_k_is_the_mean_over_all_subsets(n, k):
    rewards = np.random.default_rng([n, k]).integers(-3, 4, size=n)  # ties on purpose
    expected = mean_over_subsets(lambda subset: int(max(rewards[list(subset)])), n, k)
    assert max_at_k(rewards[None], k)[0] == pytest.approx(float(expected), abs=1e-14)


@pytest.mark.parametrize(("n", "k"), [(n, k) for n, k in SIZES if 2 * k <= n])
def test_variance_is_square_minus_disjoint_pairs(n, k):
    """U² − E[U²] estimated by the pairs of disjoint subsets, whose product is unbiased for θ²."""
    for c in range(n + 1):
        missed = {s: all(i >= c for i in s) for s in combinations(range(n), k)}
        disjoint = [missed[a] * missed[b] for a in missed for b in missed if not set(a) & set(b)]
        square = Fraction(sum(missed.values()), len(missed)) ** 2
        expected = square - Fraction(sum(disjoint), len(disjoint))
        assert pass_at_k_variance([c], n, k)[0] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_variance_is_unbiased_for_the_estimator_s_variance(p, k):
    n = 6
    chance = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    weights = np.array(chance, float)
    estimates = pass_at_k(range(n + 1), n, k)
    truth = weights @ estimates**2 - (weights @ estimates) ** 2
    assert weights @ pass_at_k_variance(range(n + 1), n, k) == pytest.approx(truth, rel=1e-12)


def test_variance_is_undefined_beyond_half_the_samples():
    assert np.isnan(pass_at_k_variance([0, 3], n=7, k=4)).all()


def test_pass_at_k_is_unbiased_for_the_success_probability():
    n, k, p = 12, 5, 0.3
    weights = np.array([comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    assert weights @ pass_at_k(range(n + 1), n, k) == pytest.approx(1 - (1 - p) ** k, rel=1e-13)


def test_pass_at_1_is_the_mean_and_pass_at_n_is_any():
    counts = np.array([0, 1, 500, 1000])
    np.testing.assert_allclose(pass_at_k(counts, 1000, 1), counts / 1000, rtol=1e-12)
    assert pass_at_k(counts, 1000, 1000).tolist() == [0, 1, 1, 1]


def test_small_probabilities_keep_their_relative_precision():
    n, k = 4096, 2
    expected = 1 - Fraction(comb(n - 1, k), comb(n, k))
    assert hit_probabilities(n, k)[1] == pytest.approx(float(expected), rel=1e-14)


def test_max_at_k_of_binary_rewards_is_pass_at_k():
    rewards = np.random.default_rng(0).integers(0, 2, size=(20, 16))
    for k in (1, 3, 16):
        np.testing.assert_allclose(max_at_k(rewards, k), pass_at_k(rewards.sum(1), 16, k))


def test_a_missing_reward_makes_its_problem_undefined():
    values = max_at_k([[0.0, np.nan, 1.0], [0.0, 0.5, 1.0]], k=2)
    assert np.isnan(values[0])
    assert values[1] == pytest.approx(5 / 6)


def test_all_estimators_grow_with_k():
    rng = np.random.default_rng(1)
    correct = rng.integers(0, 65, size=30)
    labels = rng.integers(-1, 12, size=(30, 64))
    strategies = count_labels(labels, labels > 5).all_PC
    rewards = rng.normal(size=(30, 64))
    for values in (
        [pass_at_k(correct, 64, k) for k in range(1, 65)],
        [distinct_at_k(strategies, 64, k) for k in range(1, 65)],
        [max_at_k(rewards, k) for k in range(1, 65)],
    ):
        assert (np.diff(np.array(values), axis=0) >= -1e-12).all()


def test_distinct_at_n_counts_the_strategies_and_at_1_the_readable_samples():
    labels = [[5, 5, 9, -1], [-1, -1, -1, -1]]
    counts = count_labels(labels, np.ones((2, 4))).all_PC
    assert distinct_at_k(counts, 4, 4).tolist() == [2, 0]
    np.testing.assert_allclose(distinct_at_k(counts, 4, 1), [0.75, 0.0])


def test_count_labels_keeps_columns_of_all_and_correct_aligned():
    counts = count_labels([[10**12, 3, 10**12, -1], [3, 4, 5, 3]], [[1, 0, 0, 1], [0, 1, 1, 1]])
    assert counts.all_PC.tolist() == [[1, 2, 0], [2, 1, 1]]
    assert counts.correct_PC.tolist() == [[0, 1, 0], [1, 1, 1]]


def test_count_labels_survives_no_labels_at_all():
    counts = count_labels(np.full((2, 3), -1), np.ones((2, 3)))
    assert counts.all_PC.sum() == 0
    assert len(counts.all_PC) == 2


def test_effective_number_and_top_share():
    counts = [[4, 4, 4, 4], [16, 0, 0, 0], [0, 0, 0, 0], [12, 4, 0, 0]]
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    np.testing.assert_allclose(effective_number(counts), [4, 1, np.nan, np.exp(entropy)])
    np.testing.assert_allclose(top_share(counts, 16), [0.25, 1, 0, 0.75])


@pytest.mark.parametrize("k", [0, -1, 9])
@pytest.mark.parametrize(
    "estimate",
    [
        lambda k: pass_at_k([1], 8, k),
        lambda k: pass_at_k_variance([1], 8, k),
        lambda k: max_at_k(np.zeros((1, 8)), k),
        lambda k: distinct_at_k([[1]], 8, k),
    ],
)
def test_k_beyond_the_samples_is_an_error(estimate, k):
    with pytest.raises(ValueError, match=rf"k must be in \[1, 8\].*got {k}"):
        estimate(k)


def test_impossible_counts_are_errors():
    with pytest.raises(ValueError, match=r"counts must be in \[0, 8\], got 9"):
        pass_at_k([9], 8, 1)
    with pytest.raises(ValueError, match="counts must be integers, got float64"):
        pass_at_k([0.5], 8, 1)
    with pytest.raises(ValueError, match="same shape"):
        count_labels([[1, 2]], [[1]])
