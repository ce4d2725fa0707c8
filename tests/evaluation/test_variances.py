"""Variances within a problem: by the pairs of disjoint subsets, and unbiased for a known model."""

from itertools import product

import numpy as np
import pytest

from setrl.evaluation.estimators import count_labels, distinct_at_k, pass_at_k_variance
from setrl.evaluation.reliability import g_pass_at_k, needed_of
from setrl.evaluation.variances import (
    best_of_k_variance,
    distinct_at_k_variance,
    g_pass_at_k_variance,
    max_at_k_variance,
)
from tests.subsets import SIZES, best_by_proxy, variance

HALVES = [(n, k) for n, k in SIZES if 2 * k <= n]


@pytest.mark.parametrize(("n", "k"), HALVES)
@pytest.mark.parametrize("tau", [0.1, 0.5, 1.0])
def test_g_pass_at_k(n, k, tau):
    needed = needed_of(k, tau)
    expected = [
        float(variance(lambda s, c=c: sum(i < c for i in s) >= needed, n, k)) for c in range(n + 1)
    ]
    np.testing.assert_allclose(g_pass_at_k_variance(range(n + 1), n, k, tau), expected, atol=1e-14)


@pytest.mark.parametrize(("n", "k"), HALVES)
def test_max_and_best_of_k(n, k):
    rng = np.random.default_rng([n, k])
    rewards, proxy = rng.integers(-2, 4, (4, n)), rng.integers(0, 3, (4, n))
    best = [float(variance(best_by_proxy(r, p), n, k)) for r, p in zip(rewards, proxy, strict=True)]
    top = [float(variance(lambda s, r=r: int(max(r[list(s)])), n, k)) for r in rewards]
    np.testing.assert_allclose(best_of_k_variance(rewards, proxy, k), best, atol=1e-13)
    np.testing.assert_allclose(max_at_k_variance(rewards, k), top, atol=1e-13)


@pytest.mark.parametrize(("n", "k"), HALVES)
def test_distinct_at_k(n, k):
    rng = np.random.default_rng([n, k, 1])
    labels, correct = rng.integers(-1, 3, (4, n)), rng.random((4, n)) < 0.6
    counts = count_labels(labels, correct)
    for counted, usable in ((counts.all_PC, labels >= 0), (counts.correct_PC, correct)):
        expected = [
            float(variance(lambda s, r=r, u=u: len({r[i] for i in s if u[i] and r[i] >= 0}), n, k))
            for r, u in zip(labels, usable, strict=True)
        ]
        np.testing.assert_allclose(distinct_at_k_variance(counted, n, k), expected, atol=1e-13)


@pytest.mark.parametrize("k", [1, 3, 16])
def test_of_binary_rewards_all_are_that_of_pass_at_k(k):
    rewards = np.random.default_rng(0).random((6, 40)) < np.linspace(0, 1, 6)[:, None]
    c = rewards.sum(axis=1)
    expected = pass_at_k_variance(c, 40, k)
    np.testing.assert_allclose(g_pass_at_k_variance(c, 40, k, 1 / k), expected, atol=1e-12)
    np.testing.assert_allclose(max_at_k_variance(rewards, k), expected, atol=1e-12)
    np.testing.assert_allclose(distinct_at_k_variance(c[:, None], 40, k), expected, atol=1e-12)


def test_unbiased_for_the_estimator_s_own_variance():
    """Over all outcomes of n samples, weighted by their chance under a known model."""
    n, k, law = 6, 2, [0.5, 0.3, 0.2]
    outcomes = [np.array(o) for o in product(range(3), repeat=n)]
    chance = np.array([np.prod([law[s] for s in o]) for o in outcomes])
    counts = np.array([np.bincount(o, minlength=3) for o in outcomes])
    for values, variances in (
        (distinct_at_k(counts, n, k), distinct_at_k_variance(counts, n, k)),
        (
            g_pass_at_k(counts[:, 0], n, k, 1.0),
            g_pass_at_k_variance(counts[:, 0], n, k, 1.0),
        ),
    ):
        truth = chance @ values**2 - (chance @ values) ** 2
        assert chance @ variances == pytest.approx(truth, rel=1e-11)


def test_undefined_beyond_half_the_samples_and_with_missing_rewards():
    assert np.isnan(g_pass_at_k_variance([0, 3], 7, 4, 0.5)).all()
    assert np.isnan(distinct_at_k_variance([[3, 4]], 7, 4)).all()
    assert np.isnan(max_at_k_variance(np.zeros((2, 7)), 4)).all()
    assert np.isnan(max_at_k_variance([[0.0, np.nan, 1.0]], 1)).all()
