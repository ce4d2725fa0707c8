"""Best of k under a proxy against enumeration, and laws."""

import numpy as np
import pytest

from setrl.evaluation.estimators import max_at_k
from setrl.evaluation.selection import best_of_k
from tests.subsets import SIZES, best_by_proxy, mean_over_subsets


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_best_of_k_is_the_mean_over_all_subsets(n, k):
    rng = np.random.default_rng([n, k])
    rewards, proxy = rng.integers(-2, 4, (3, n)), rng.integers(0, 3, (3, n))  # ties on purpose
    expected = [
        float(mean_over_subsets(best_by_proxy(r, p), n, k))
        for r, p in zip(rewards, proxy, strict=True)
    ]
    np.testing.assert_allclose(best_of_k(rewards, proxy, k), expected, atol=1e-14)


def test_the_reward_as_its_own_proxy_is_max_at_k_and_its_negative_is_the_worst():
    rewards = np.random.default_rng(0).integers(0, 5, (10, 12)).astype(float)
    for k in (1, 3, 12):
        np.testing.assert_allclose(best_of_k(rewards, rewards, k), max_at_k(rewards, k))
        np.testing.assert_allclose(best_of_k(rewards, -rewards, k), -max_at_k(-rewards, k))


def test_a_proxy_that_knows_nothing_gains_nothing():
    rewards = np.random.default_rng(1).normal(size=(5, 9))
    for k in range(1, 10):
        np.testing.assert_allclose(
            best_of_k(rewards, np.zeros((5, 9)), k), rewards.mean(axis=1), rtol=1e-12
        )


def test_order_of_samples_and_scale_of_the_proxy_change_nothing():
    rng = np.random.default_rng(2)
    rewards, proxy, order = rng.normal(size=(4, 8)), rng.integers(0, 4, (4, 8)), rng.permutation(8)
    plain = best_of_k(rewards, proxy, 3)
    np.testing.assert_allclose(best_of_k(rewards[:, order], proxy[:, order], 3), plain)
    np.testing.assert_allclose(best_of_k(rewards, 2.0**proxy, 3), plain)


def test_a_missing_score_makes_its_problem_undefined():
    values = best_of_k([[1.0, 0.0], [1.0, np.nan], [1.0, 0.0]], [[1, np.nan], [1, 0], [1, 0]], 2)
    assert np.isnan(values[:2]).all()
    assert values[2] == 1


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="one shape"):
        best_of_k([[1.0, 2.0]], [[1.0]], 1)
    with pytest.raises(ValueError, match=r"k must be in \[1, 2\].*got 3"):
        best_of_k([[1.0, 2.0]], [[1.0, 2.0]], 3)
