"""Long-run shares against enumeration: the claims' fractions, and the library's tables."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from claims import beyond_counts, beyond_set_size, beyond_water_filling
from setrl import methods, objectives, set_advantages
from setrl.theory import TabularObjective
from setrl.theory.dynamics import Success
from setrl.theory.survival import (
    counts_shares,
    critical_success,
    water_filling,
)
from studies.noise import (
    leave_two_out_edge,
    quietest_set_size,
    relative_variance,
)


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(1, 2), Fraction(1, 20)])
@pytest.mark.parametrize("tenths", [(9, 8, 7, 6, 5, 4), (4, 9, 9), (0, 3), (10, 10)])
def test_water_filling_is_that_of_the_claims(tenths, alpha):
    success = [Fraction(n, 10) for n in tenths]
    positive = [s for s in success if s]
    wanted = dict(zip(positive, beyond_water_filling.water_filling(positive, alpha), strict=True))
    found = water_filling([float(s) for s in success], float(alpha))
    np.testing.assert_allclose(found, [float(wanted.get(s, 0)) for s in success], atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_new_strategy_changes_sign_at_the_critical_success(size):
    shares, success = [0.5, 0.3, 0.2], [0.9, 0.5, 0.7]
    critical = critical_success(shares, success, size)

    def advantage(new):
        strategies = Success([*success, new])
        tabular = TabularObjective(objectives.polychromic(), strategies.table, size)
        right, wrong = np.split(tabular.advantages(strategies.outcomes([*shares, 0.0])), 2)
        return new * right[-1] + (1 - new) * wrong[-1]

    # The advantage is linear in the new strategy's success.
    np.testing.assert_allclose(advantage(0) / (advantage(0) - advantage(1)), critical, atol=1e-12)


def test_a_rare_strategy_grows_if_its_success_exceeds_right_strategies_per_sample():
    """Mean update of concave counts, α = 0, over every draw: dz = g − p·G, ≈ p·(s − G) if rare."""
    shares, success, count = np.array([0.7, 0.29, 0.01]), np.array([0.9, 0.5, 0.45]), 4
    chance = np.concatenate([shares * success, shares * (1 - success)])  # right, wrong by strategy
    draws = np.array(list(product(range(6), repeat=count)))
    rewards, strategies = (draws < 3) * 1.0, draws % 3
    credit = set_advantages(
        rewards, methods.concave_counts(alpha=0), strategies=strategies
    ).values_BN
    score = (strategies[..., None] == np.arange(3)) - shares
    moved = chance[draws].prod(axis=1) @ (credit[..., None] * score).mean(axis=1)
    per_sample = (1 - (1 - shares * success) ** count) / count
    np.testing.assert_allclose(moved, per_sample - shares * per_sample.sum(), atol=1e-12)
    assert moved[2] == pytest.approx(shares[2] * (success[2] - per_sample.sum()), rel=0.2)
    assert moved[2] > 0
    mean_success = shares @ success
    assert mean_success > success[2] > per_sample.sum()  # GRPO would let it fall


@pytest.mark.parametrize("tenths", [(9, 1), (9, 5), (10, 10)])
@pytest.mark.parametrize("num", [4, 16])
def test_counts_shares_are_the_best_of_a_grid(tenths, num):
    success = [Fraction(n, 10) for n in tenths]
    value = beyond_counts.value_of_counts
    grid = [Fraction(k, 60) for k in range(61)]
    best = max(grid, key=lambda q: value((1 - q, q), success, num))
    found = counts_shares([float(s) for s in success], num)
    assert abs(found[1] - float(best)) <= 1 / 60


def test_shares_of_many_samples_are_powers_of_success():
    """∝ s^(α/(1−α)): s for α = 1/2."""
    found = counts_shares([0.8, 0.4], 200, alpha=0.5)
    np.testing.assert_allclose(found, [2 / 3, 1 / 3], atol=0.02)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_noise_is_that_of_the_claims(size):
    wanted = float(beyond_set_size.relative_variance(16, size, Fraction(1, 5)))
    np.testing.assert_allclose(relative_variance(0.2, 16, size), wanted, rtol=1e-12)


def test_the_quietest_set_size_is_that_of_the_claims():
    for n in (2, 5, 8):
        assert quietest_set_size(1 / n, 16) == beyond_set_size.quietest(16, Fraction(1, n))
    assert quietest_set_size(0.9, 16) == 1


def test_leave_two_out_pays_on_one_side_of_the_edge():
    for num, size in ((8, 1), (8, 3), (9, 4), (16, 6)):
        edge = Fraction(leave_two_out_edge(num, size)).limit_denominator(10_000)
        assert beyond_set_size.pays(num, size, edge - Fraction(1, 1000))
        assert not beyond_set_size.pays(num, size, edge + Fraction(1, 1000))
    assert leave_two_out_edge(8, 4) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: water_filling([0.5, 1.5]), r"success_C must be \(C,\) numbers in \[0, 1\]"),
        (lambda: water_filling([0.0, 0.0]), "at least one strategy must have success above 0"),
        (lambda: water_filling([0.5], alpha=0), "alpha must be above 0 and at most 1, got 0"),
        (lambda: counts_shares([0.5], 8, alpha=1), r"alpha must be in \[0, 1\), got 1"),
        (lambda: relative_variance(1.0, 8, 2), r"success must be in \(0, 1\), got 1.0"),
        (lambda: relative_variance(0.5, 8, 8), "set_size"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
