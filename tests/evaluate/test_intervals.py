"""Intervals against their formulas, by coverage, and by laws."""

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
import pytest

from setrl.evaluate.estimators import pass_at_k
from setrl.evaluate.intervals import (
    IntervalConfig,
    decided_by_few,
    ends,
    mean_over_problems,
    paired_difference,
    t_quantile,
)
from studies.interval_coverage import (
    coverage,
    draw_arms,
    normal_effects,
    ours,
    percentiles,
    resampling_weights,
)

T_29 = t_quantile(29, 0.95)
SHARE = (0, 1)
FAR = (-1e6, 1e6)  # no value is near an end
T_49, T_99 = 2.009575, 1.984217


def test_the_interval_of_values_without_skewness_is_the_textbook_one():
    """Far from both ends of what is possible, and as far above the mean as below."""
    half = np.random.default_rng(0).normal(size=25)
    values = np.concatenate([half, -half])
    estimate = mean_over_problems(values, bounds=(-1e6, 1e6))
    stderr = values.std(ddof=1) / np.sqrt(50)
    assert estimate.value == pytest.approx(0)
    assert estimate.stderr == pytest.approx(stderr)
    assert estimate.ends == pytest.approx((-T_49 * stderr, T_49 * stderr), rel=1e-3)


@pytest.mark.parametrize(
    ("degrees", "level", "reach"),
    [(1, 0.95, 12.7062), (2, 0.95, 4.30265), (2, 0.9, 2.91999), (4, 0.99, 4.60409),
     (9, 0.95, 2.26216), (99, 0.95, T_99), (30, 0.5, 0.682756), (5_000_000, 0.95, 1.959964)],
)  # fmt: skip
def test_quantiles_of_t_are_those_of_printed_tables(degrees, level, reach):
    assert t_quantile(degrees, level) == pytest.approx(reach, rel=2e-6)


def test_several_seeds_add_the_squares_of_two_t_intervals():
    """Worked by hand: rows 0 and 1 differ by (1, 1, 4), whose mean is 2, and by (−1, 1, 0)."""
    second = np.array([[0.0, 1.0, 2.0], [2.0, 3.0, 7.0]])
    first = second + np.array([[1, 1, 4], [-1, 1, 0]])
    of_problems = np.var([0.0, 1.0, 2.0], ddof=1) / 3
    of_seeds = np.var([2.0, 0.0], ddof=1) / 2
    difference = paired_difference(first, second, IntervalConfig(level=0.5), bounds=FAR)
    assert difference.value == 1
    assert difference.stderr == pytest.approx(np.sqrt(of_problems + of_seeds))
    reach = np.sqrt(0.816497**2 * of_problems + 1.0**2 * of_seeds)  # t of 2 and of 1
    assert difference.ends == pytest.approx((1 - reach, 1 + reach), abs=1e-5)


def test_an_arm_with_one_seed_adds_no_spread_of_seeds():
    rng = np.random.default_rng(9)
    arm, base = rng.random((3, 40)), rng.random(40)
    gap = arm.mean(axis=0) - base
    reach = np.hypot(
        t_quantile(39, 0.95) * gap.std(ddof=1) / np.sqrt(40),
        t_quantile(2, 0.95) * arm.mean(axis=1).std(ddof=1) / np.sqrt(3),
    )
    ends = paired_difference(arm, base, bounds=FAR).ends
    assert ends == pytest.approx((gap.mean() - reach, gap.mean() + reach), abs=2e-3)  # skewness


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("share", [0.0, 0.95])
def test_intervals_of_few_seeds_cover_the_truth(seeds, share):
    """The study's simulation; percentiles of resampled seeds covered 89% at three seeds."""
    rng = np.random.default_rng(seeds)
    trials = [draw_arms(rng, seeds, 50, share, normal_effects) for _ in range(600)]
    inside, _ = coverage(trials, ours)
    assert inside >= 0.93  # 0.95 less two standard errors
    if seeds == 3 and share:
        assert coverage(trials, percentiles)[0] < 0.92


def test_standard_error_of_several_seeds_adds_problems_and_seeds():
    values = np.array([[0.0, 1.0, 2.0], [2.0, 3.0, 7.0]])
    problem_means, seed_means = [1.0, 2.0, 4.5], [1.0, 4.0]
    expected = np.sqrt(np.var(problem_means, ddof=1) / 3 + np.var(seed_means, ddof=1) / 2)
    estimate = mean_over_problems(values)
    assert estimate.stderr == pytest.approx(expected)
    assert estimate.per_seed == (1.0, 4.0)
    assert estimate.value == 2.5


@pytest.mark.parametrize("count", [2, 3, 40])
def test_resampled_means_vary_as_much_as_the_mean_does(count):
    values = np.random.default_rng(1).normal(size=count)
    draws = resampling_weights(count, 50_000, 0, 0) @ values
    assert draws.mean() == pytest.approx(values.mean(), abs=0.01)
    assert draws.var() == pytest.approx(values.var(ddof=1) / count, rel=0.02)


@pytest.mark.parametrize("seeds", [1, 4])
def test_intervals_cover_the_truth_about_as_often_as_they_say(seeds):
    """Problems, seeds and noise are drawn anew in each trial; the truth is 0."""
    rng = np.random.default_rng(2)
    config = IntervalConfig(level=0.9)
    covered = []
    for _ in range(300):
        values = rng.normal(size=40) + rng.normal(size=(seeds, 1)) * (seeds > 1) * 0.1
        estimate = mean_over_problems(values + 0.3 * rng.normal(size=(seeds, 40)), config)
        covered.append(estimate.low <= 0 <= estimate.high)
    assert 0.85 <= np.mean(covered) <= 0.96


def test_seeds_that_differ_widen_the_interval():
    problems = np.random.default_rng(3).normal(size=60)
    together = mean_over_problems(np.stack([problems, problems]))
    apart = mean_over_problems(np.stack([problems - 1, problems + 1]))
    assert apart.value == pytest.approx(together.value)
    assert apart.high - apart.low > 2 * (together.high - together.low)


def test_pairing_removes_what_the_problems_have_in_common():
    rng = np.random.default_rng(4)
    difficulty = rng.normal(size=80)
    better = difficulty + 0.1 + 0.01 * rng.normal(size=80)
    difference = paired_difference(better, difficulty)
    assert difference.value == pytest.approx(0.1, abs=0.01)
    assert difference.excludes_zero
    assert difference.improvement > 0.99
    unpaired = paired_difference(rng.permutation(better), difficulty)
    assert unpaired.value == pytest.approx(difference.value)
    assert not unpaired.excludes_zero


def test_swapping_the_arms_swaps_the_signs():
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=30), rng.normal(size=30)
    forth, back = paired_difference(first, second), paired_difference(second, first)
    assert forth.value == pytest.approx(-back.value)
    assert forth.low == pytest.approx(-back.high)
    assert forth.improvement == pytest.approx(1 - back.improvement)


@pytest.mark.parametrize("shape", [20, (3, 20)])
def test_an_arm_against_itself_is_no_difference(shape):
    values = np.random.default_rng(6).normal(size=shape)
    difference = paired_difference(values, values.copy())
    assert (difference.value, difference.stderr, difference.improvement) == (0, 0, 0.5)
    assert difference.low == pytest.approx(-difference.high)
    assert not difference.excludes_zero


def test_differences_of_shares_end_at_one():
    """Two seeds that differ much: t₁ = 12.7 would reach beyond what shares allow."""
    first, second = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    assert paired_difference(first, second[::-1]).ends == (-1, 1)


def test_seeds_are_paired_by_row():
    """What the seeds of both arms share is no difference between them."""
    values = np.random.default_rng(10).normal(size=(3, 30))
    of_seeds = np.array([[-1.0], [0.0], [2.0]])
    paired = paired_difference(values + of_seeds + 0.1, values + of_seeds, bounds=FAR)
    assert paired.stderr == pytest.approx(0)
    apart = paired_difference(values + of_seeds + 0.1, values + of_seeds[::-1])
    assert apart.high - apart.low > 1


def test_what_rounding_makes_is_no_improvement():
    values = np.random.default_rng(8).random(20)
    assert paired_difference(values + 1e-13, values).improvement == 0.5
    assert paired_difference(values + 1e-6, values).improvement == 1


def test_arms_may_differ_in_seeds_but_not_in_problems():
    base, arm = np.zeros(10), np.ones((3, 10))
    assert paired_difference(arm, base).value == 1
    with pytest.raises(ValueError, match="same problems, got 10 and 9"):
        paired_difference(arm, base[:9])


def test_missing_values_leave_their_problem_out_and_are_counted():
    values = [[1.0, np.nan, 3.0, 8.0], [1.0, 5.0, 3.0, np.nan]]
    estimate = mean_over_problems(values)
    assert (estimate.value, estimate.problems, estimate.missing) == (2.0, 2, 2)
    difference = paired_difference(values, [0.0, 0.0, np.nan, 0.0])
    assert (difference.value, difference.problems, difference.missing) == (1.0, 1, 3)


def test_too_few_problems_have_no_interval():
    one, none = mean_over_problems([0.5]), mean_over_problems([np.nan])
    assert one.value == 0.5
    assert np.isnan([one.low, one.high, one.stderr]).all()
    assert np.isnan([none.value, none.low]).all()
    assert none.problems == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, r"level must be in \(0, 1\), got 95"),
        ({"draws": 0}, "draws must be at least 1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        IntervalConfig(**options)


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


@pytest.mark.parametrize(("problems", "n"), [(2, 1), (2, 3), (5, 1)])
def test_a_few_problems_by_every_draw(problems, n):
    """Two equal models with success rates of 1/2: how often each is wrong, by enumeration."""
    chance = np.array([comb(n, c) for c in range(n + 1)]) / 2**n
    different = covered = total = 0.0
    for drawn in combinations_with_replacement(range((n + 1) ** 2), problems):
        first, second = np.divmod(drawn, n + 1)
        orders = factorial(problems) / prod(map(factorial, Counter(drawn).values()))
        weight = orders * (chance[first] * chance[second]).prod()
        total += weight
        different += weight * paired_difference(second / n, first / n, bounds=SHARE).excludes_zero
        one = mean_over_problems(first / n, bounds=SHARE)
        covered += weight * (one.low <= 0.5 <= one.high)
    assert total == pytest.approx(1)
    assert different <= 0.005  # was 0.125 of two problems with one sample
    assert covered >= 0.99  # was 0.72 of two problems with three samples


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
