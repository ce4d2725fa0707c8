"""Regression on drawn sets: unbiased for every design, and more precise than means."""

from itertools import product

import numpy as np
import pytest

from claims import exact, scores
from setrl import Samples, credit, objectives, set_advantages
from setrl.core.credit.estimators import all_sets, score_sets
from setrl.core.credit.regression import _fit_regression

POLY = objectives.polychromic()
POLICY = [0.2, 0.3, 0.5]
ACTION_REWARD, ACTION_STRATEGY = [1.0, 0.5, 0.0], [0, 0, 1]


def prompts(num_prompts, n, seed=0):
    """Eight strategies of unequal shares and success rates."""
    rng = np.random.default_rng(seed)
    share_C = 1 / np.arange(1, 9)
    strategies_BN = rng.choice(8, (num_prompts, n), p=share_C / share_C.sum())
    success_C = rng.beta(0.6, 0.9, 8)
    rewards_BN = (rng.random(strategies_BN.shape) < success_C[strategies_BN]) * 1.0
    return Samples(rewards_BN, strategies=strategies_BN)


@pytest.mark.parametrize("ridge", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_design_gives_the_gradient(ridge, seed):
    """E Σᵢ ∇log π(yᵢ)·Aᵢ = (N/K)·∇J for one fixed design, over every draw of N = 5."""
    n, k = 5, 3
    draws = np.array(list(product(range(3), repeat=n)))
    adv = set_advantages(
        np.array(ACTION_REWARD)[draws],
        objective=POLY,
        set_size=k,
        strategies=np.array(ACTION_STRATEGY)[draws],
        baseline="leave_one_out",
        estimator=credit.Regression(6, ridge),
        rng=np.random.default_rng(seed),
    )
    assert adv.estimator == "regression (6 of 10 sets)"
    chance_D = np.prod(np.array(POLICY)[draws], axis=1)
    one_hot_DNA = np.eye(3)[draws] - POLICY
    found = np.einsum("d,dn,dna->a", chance_D, adv.values_BN, one_hot_DNA)

    def score(draw):
        rewards, strategies = [ACTION_REWARD[a] for a in draw], [ACTION_STRATEGY[a] for a in draw]
        return float(scores.polychromic(rewards, strategies)(range(k)))

    want = n / k * np.array(exact.logit_gradient(score, POLICY, k), dtype=float)
    np.testing.assert_allclose(found, want, atol=1e-12)


def test_all_sets_without_ridge_are_exact():
    samples, n, k = prompts(4, 7), 7, 3
    sets_SK = all_sets(n, k)
    fit = _fit_regression(score_sets(POLY, samples, sets_SK), sets_SK, n, penalty=0.0)
    want = POLY.set_means(samples, k).contrast_BN
    np.testing.assert_allclose(fit.contrast_BN, want, atol=1e-12)


def found_and_exact(estimator, samples, k, rounds):
    """Estimates of u − v and their standard errors over rounds, and u − v."""
    rng = np.random.default_rng(7)
    credits = [estimator(POLY, samples, k, rng) for _ in range(rounds)]
    values = np.array([found.means.contrast_BN for found in credits])
    stderr = np.array([found.stderr_contrast_BN for found in credits])
    return values, stderr, POLY.set_means(samples, k).contrast_BN


@pytest.mark.parametrize(("n", "num_sets"), [(32, 100), (32, 500), (64, 500)])
def test_less_than_two_thirds_of_the_error_of_means(n, num_sets):
    samples = prompts(4, n)
    errors = {}
    for estimator in (credit.Regression(num_sets), credit.Sampled(num_sets)):
        values, _, exact = found_and_exact(estimator, samples, 8, rounds=12)
        errors[type(estimator).__name__] = np.sqrt(((values - exact) ** 2).mean())
    assert errors["Regression"] < 0.66 * errors["Sampled"]


@pytest.mark.parametrize(("n", "num_sets"), [(32, 60), (32, 500), (64, 200)])
def test_standard_errors_say_what_the_errors_are(n, num_sets):
    values, stderr, exact = found_and_exact(credit.Regression(num_sets), prompts(4, n), 8, 40)
    ratio = np.sqrt((stderr**2).mean() / ((values - exact) ** 2).mean())
    assert 0.95 < ratio < 1.2


def test_means_of_sets_with_a_sample_and_their_standard_errors():
    """u = mean score + (1 − K/N)·(u − v), and its error is the stated one."""
    samples, k, rng = prompts(4, 32), 8, np.random.default_rng(3)
    exact = POLY.set_means(samples, k).with_BN
    found = [credit.Regression(200)(POLY, samples, k, rng) for _ in range(40)]
    for one in found:
        lift = (1 - k / 32) * one.means.contrast_BN
        np.testing.assert_allclose(one.means.with_BN, one.means.mean_B[:, None] + lift)
    errors = np.array([one.means.with_BN - exact for one in found])
    stderr = np.array([one.stderr_with_BN for one in found])
    assert 0.9 < np.sqrt((stderr**2).mean() / (errors**2).mean()) < 1.2


def test_few_sets_are_all_scored_and_nonsense_is_refused():
    samples = prompts(2, 6)
    found = credit.Regression(1000)(POLY, samples, 3, None)
    assert found.used == "enumerated (20 sets)"
    with pytest.raises(ValueError, match="at least 2, got 1"):
        credit.Regression(1)
    with pytest.raises(ValueError, match=r"must be in \[0, ∞\), got -1"):
        credit.Regression(10, ridge=-1)
    with pytest.raises(ValueError, match="needs rng"):
        credit.Regression(10)(POLY, samples, 3, None)
