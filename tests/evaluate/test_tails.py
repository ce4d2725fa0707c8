"""Ends of intervals where few problems decide a mean: by their equation, by laws, by simulation."""

import numpy as np
import pytest

from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.intervals import (
    decided_by_few,
    ends,
    mean_over_problems,
    paired_difference,
    t_quantile,
)

T_29 = t_quantile(29, 0.95)
SHARE = (0, 1)


def failing(count, problems=30):
    """A share that is 0 on the first problems and 1 on the others."""
    return np.where(np.arange(problems) < count, 0.0, 1.0)


def test_no_failure_means_few_failures():
    estimate = mean_over_problems(failing(0), bounds=SHARE)
    wilson = T_29**2 / (30 + T_29**2)
    assert estimate.ends == pytest.approx((1 - wilson, 1))
    assert mean_over_problems(failing(30), bounds=SHARE).ends == pytest.approx((0, wilson))


def test_an_end_is_as_many_standard_errors_away_as_a_mean_there_would_have():
    """x² = t²·(SE² + w·x·(1 − x/R)/P); w = 1 below one failure of 30 (the rule of three)."""
    estimate = mean_over_problems(failing(1), bounds=SHARE)
    x = estimate.value - estimate.low
    assert x**2 == pytest.approx(T_29**2 * (estimate.stderr**2 + x * (1 - x) / 30))


def test_more_failures_say_more():
    """N is f·P/(P − f); more than three shrink w to 3/N, and skewness to (P − 2f)/P."""
    for count in (6, 12):
        estimate = mean_over_problems(failing(count), bounds=SHARE)
        w = max(3 * (30 - count) / count / 29, (30 - 2 * count) / 30)
        x = estimate.value - estimate.low
        assert x**2 == pytest.approx(T_29**2 * (estimate.stderr**2 + w * x * (1 - x) / 30))


@pytest.mark.parametrize(("count", "few"), [(0, True), (2, True), (5, False), (28, True)])
def test_few_problems_are_three_or_fewer(count, few):
    assert decided_by_few(failing(count)[None], SHARE).tolist() == [few]


def test_what_the_second_side_does_not_show_counts_the_other_way():
    """A always right, B usually not: B − A may be lower than it seems only where B may be."""
    right, mixed = failing(0), failing(15)
    forth, back = paired_difference(mixed, right, bounds=SHARE), paired_difference(
        right, mixed, bounds=SHARE)  # fmt: skip
    assert forth.ends == pytest.approx((-back.high, -back.low))
    assert forth.high - forth.value > forth.value - forth.low  # A may fail, so B − A may be more
    sides = [one[None] for one in (mixed, right)]
    low, high = ends(sides, np.array([T_29 * forth.stderr]), T_29, SHARE)
    assert (low[0], high[0]) == pytest.approx(forth.ends)


def test_values_far_from_both_ends_have_no_tail():
    half = np.random.default_rng(0).random((1, 25))
    values = np.hstack([half, 1 - half])
    low, high = ends([values], np.array([0.1]), 2.0, (-1e6, 1e6))
    assert (low[0], high[0]) == pytest.approx((0.4, 0.6), abs=1e-3)


@pytest.mark.parametrize(("problems", "sizes", "beta"), [(30, (64, 4), (10, 1)),
                                                         (200, (64, 8), (5, 1))])  # fmt: skip
def test_equal_models_with_different_n_are_seldom_different(problems, sizes, beta):
    """Percentiles of resampled problems were wrong in 85% to 96% of these at the largest k."""
    rng, wrong, k = np.random.default_rng(0), [], min(sizes)
    for _ in range(300):
        rates = rng.beta(*beta, problems)
        first, second = (pass_at_k(rng.binomial(n, rates), n, k) for n in sizes)
        wrong.append(paired_difference(second, first, bounds=SHARE).excludes_zero)
    assert np.mean(wrong) <= 0.07
