"""Estimators from counts against enumeration of all subsets in exact arithmetic, and laws."""

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, comb

import numpy as np
import pytest

from setrl import mean_set_scores, objectives
from setrl.evaluate.estimators import (
    cover_at,
    g_pass_at_k,
    mean_g_pass_at_k,
    mean_shared_prefix,
    needed_of,
    pass_at_k,
)
from tests.subsets import mean_over_subsets

SIZES = [(n, k) for n in range(1, 9) for k in range(1, n + 1)]


def test_pass_at_k_is_the_mean_over_all_subsets():
    for n, k in SIZES:
        expected = [
            mean_over_subsets(lambda subset, c=c: any(i < c for i in subset), n, k)
            for c in range(n + 1)
        ]
        got = pass_at_k(range(n + 1), n, k)
        np.testing.assert_allclose(got, np.array(expected, float), rtol=1e-15, err_msg=f"{n}, {k}")


@pytest.mark.parametrize("k", [1, 3, 16])
def test_pass_at_k_is_the_mean_set_score_of_any_correct(k):
    correct = np.random.default_rng(0).random((20, 16)) < 0.3
    expected = mean_set_scores(correct, objectives.any_correct(), [k])[0]
    np.testing.assert_array_equal(pass_at_k(correct.sum(axis=1), 16, k), expected)


def test_pass_at_k_is_unbiased_for_the_success_probability():
    n, k, p = 12, 5, 0.3
    weights = np.array([comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    assert weights @ pass_at_k(range(n + 1), n, k) == pytest.approx(1 - (1 - p) ** k, rel=1e-13)


def test_pass_at_1_is_the_mean_and_pass_at_n_is_any():
    counts = np.array([0, 1, 500, 1000])
    np.testing.assert_allclose(pass_at_k(counts, 1000, 1), counts / 1000, rtol=1e-12)
    assert pass_at_k(counts, 1000, 1000).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("k", [0, -1, 9])
@pytest.mark.parametrize(
    "estimate",
    [
        lambda k: pass_at_k([1], 8, k),
        lambda k: g_pass_at_k([1], 8, k, 0.5),
        lambda k: mean_g_pass_at_k([1], 8, k),
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


SHARES = [Fraction(1, 100), Fraction(1, 4), Fraction(1, 2), Fraction(7, 10), Fraction(1)]


@cache
def by_enumeration(c, n, k, tau):
    enough = [sum(i < c for i in s) >= ceil(tau * k) for s in combinations(range(n), k)]
    return Fraction(sum(enough), len(enough))


@pytest.mark.parametrize("tau", SHARES)
def test_g_pass_at_k_is_the_mean_over_all_subsets(tau):
    for n, k in SIZES:
        expected = [float(by_enumeration(c, n, k, tau)) for c in range(n + 1)]
        got = g_pass_at_k(range(n + 1), n, k, float(tau))
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-15, err_msg=f"{n}, {k}")


def test_mean_g_pass_at_k_is_the_sum_of_the_paper():
    for n, k in SIZES:
        if k > 1:
            shares = [Fraction(i, k) for i in range(ceil(Fraction(k, 2)) + 1, k + 1)]
            expected = [
                float(Fraction(2, k) * sum(by_enumeration(c, n, k, tau) for tau in shares))
                for c in range(n + 1)
            ]
            got = mean_g_pass_at_k(range(n + 1), n, k)
            np.testing.assert_allclose(got, expected, atol=1e-14, err_msg=f"{n}, {k}")


def test_mean_g_pass_of_one_sample_is_undefined():
    assert np.isnan(mean_g_pass_at_k([0, 3], 8, 1)).all()


@pytest.mark.parametrize("k", [1, 2, 7, 64, 512])
def test_a_small_share_is_pass_at_k_and_the_whole_is_all_correct(k):
    n, counts = 1000, np.array([0, 1, 30, 500, 999, 1000])
    np.testing.assert_allclose(
        g_pass_at_k(counts, n, k, 1 / k), pass_at_k(counts, n, k), rtol=1e-10
    )
    everyone = [float(Fraction(comb(int(c), k), comb(n, k))) for c in counts]
    np.testing.assert_allclose(g_pass_at_k(counts, n, k, 1.0), everyone, rtol=1e-10, atol=1e-300)


def test_g_pass_at_k_is_unbiased():
    n, k, p = 12, 4, 0.35
    law = np.array([comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    truth = sum(comb(k, j) * p**j * (1 - p) ** (k - j) for j in (2, 3, 4))
    assert law @ g_pass_at_k(range(n + 1), n, k, 0.5) == pytest.approx(truth, rel=1e-12)


def test_it_falls_with_the_share_and_grows_with_the_count():
    counts = np.arange(33)
    values = np.array([g_pass_at_k(counts, 32, 8, tau) for tau in np.linspace(0.05, 1, 20)])
    assert (np.diff(values, axis=0) <= 1e-12).all()
    assert (np.diff(values, axis=1) >= -1e-12).all()


def test_cover_is_g_pass_of_all_samples():
    counts = np.arange(11)
    for tau in (0.01, 0.1, 0.3, 0.7, 0.95, 1.0):
        np.testing.assert_allclose(cover_at(counts, 10, tau), g_pass_at_k(counts, 10, 10, tau))


def test_pass_at_k_is_the_beta_weighted_mean_of_cover():
    """∫ k(1−τ)^(k−1)·[p ≥ τ] dτ = 1 − (1−p)^k, over many problems, with the rates known."""
    n, k = 50, 6
    counts = np.random.default_rng(0).integers(0, n + 1, size=200)
    middle = (np.arange(n) + 0.5) / n  # Cover is constant between multiples of 1/n
    weight = (1 - np.arange(n) / n) ** k - (1 - np.arange(1, n + 1) / n) ** k
    cover = np.array([cover_at(counts, n, tau).mean() for tau in middle])
    assert weight @ cover == pytest.approx((1 - (1 - counts / n) ** k).mean(), rel=1e-12)


def test_shares_are_not_moved_by_rounding():
    assert [needed_of(10, tau) for tau in (0.7, 0.71, 0.1, 1.0, 1e-6)] == [7, 8, 1, 10, 1]
    assert 0.07 * 100 > 7
    assert needed_of(100, 0.07) == 7
    for tau in (0.0, -0.1, 1.01):
        with pytest.raises(ValueError, match=r"tau must be in \(0, 1\], got"):
            g_pass_at_k([1], 4, 2, tau)


def texts(seed, n=6, letters="ab", longest=5):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, longest + 1))) for _ in range(n)]


def shared(first, second):
    return max(t for t in range(len(first) + 1) if second.startswith(first[:t]))


@pytest.mark.parametrize(("seed", "n"), [(0, 2), (1, 3), (2, 3), (3, 7), (4, 7), (5, 20)])
def test_it_is_the_mean_over_pairs(seed, n):
    samples = texts(seed, n)
    pairs = [shared(*pair) for pair in combinations(samples, 2)]
    assert mean_shared_prefix(samples) == pytest.approx(np.mean(pairs))
    assert mean_shared_prefix(samples[::-1]) == mean_shared_prefix(samples)
    tokens = [[ord(letter) for letter in text] for text in samples]
    assert mean_shared_prefix(tokens) == mean_shared_prefix(samples)


def test_ends():
    assert np.isnan(mean_shared_prefix([]))
    assert np.isnan(mean_shared_prefix(["abc"]))
    assert mean_shared_prefix(["abc", "abc", "abc"]) == 3
    assert mean_shared_prefix(["", ""]) == 0


def test_many_long_samples_take_no_pairs():
    """A hundred thousand pairs of ten thousand tokens; the comparisons are of neighbours only."""
    rng = np.random.default_rng(0)
    stem = rng.integers(0, 9, 10_000).tolist()
    samples = [[*stem[:cut], 10 + i] for i, cut in enumerate(rng.integers(0, 10_000, 500))]
    cuts = np.sort([len(sample) - 1 for sample in samples])
    expected = sum(cut * (499 - i) for i, cut in enumerate(cuts)) / (500 * 499 / 2)
    assert mean_shared_prefix(samples) == pytest.approx(expected)
