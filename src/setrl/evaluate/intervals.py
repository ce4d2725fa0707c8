"""Intervals for means over problems and for paired differences, and what a comparison can detect.

Axes: R training runs of an arm (its seeds), P problems, K places of a curve.

Problems are a draw from all possible problems, and seeds from all possible training runs. With one
seed, the interval says how far another draw of problems would move the mean (Miller,
arXiv:2411.00640), and nothing about another training run. With several seeds it covers both draws:

    value ± √(t²_{P−1}·V_P + t²_{R−1}·V_R)
    V_P = Var_P(mean over seeds)/P      V_R = Var_R(mean over problems)/R      SE² = V_P + V_R

t_ν is the quantile of Student's t: three seeds show little of how seeds differ, so t_2 = 4.30. For
independent normal parts, such an interval contains the truth at least as often as its level says
(Banerjee, Sankhyā 22, 1960). The noise of drawing n samples of a problem is in V_P and in V_R,
which makes it wider still (Owen, Annals of Applied Statistics 1, 2007).
`studies.interval_coverage` measures how often it contains the truth.

Such an interval rests on the spread that was seen. Where few problems differ from the others, as
for pass@k near 0% or 100%, the next problem may differ more than all of these, and the spread grows
with it. The ends of an interval are therefore where the distance x from the mean is t standard
errors of a mean that far away:

    x² = t²·(SE² + w·x·(1 − x/R)/P)

R is the range of a value or of a difference, and w says how the variance of a problem grows with
the mean. For w = 0 this is Student's t. If no problem of P fails, w = 1 gives Wilson's interval of
a share (JASA 22, 1927), t²/(P + t²). To each side, w is the larger one of

    Σ(d − d̄)³ / Σ(d − d̄)²          the skewness of what was seen (to one side only)
    r·min(1, 3/N)                  what was not seen: values r away, at the end of a side's range

N = (distance of a side's mean from the end of the range / its SE)² is how many problems of a kind
would give this distance its relative error: if f problems of P fail and the others never do, N is
f·P/(P − f). It is P² if all P are equal, as one problem more may move the mean by its distance/P.
Three failures or fewer say no more than "few" (the rule of three). The bounds of both sides count
for a difference, and all is symmetric in them.
`studies.comparison_coverage` measures how often such intervals contain the truth.

What can be detected follows from the paired variance over problems, by the normal approximation:
with σ the standard deviation of the paired differences and P problems, the standard error is σ/√P,
and a true difference δ is detected at level α with probability

    power = Φ(|δ|/SE − z) + Φ(−|δ|/SE − z)          z = Φ⁻¹(1 − α/2)

The noise from drawing n samples of a problem is in σ; more samples shrink that part, more problems
shrink all of it (Miller, arXiv:2411.00640, Section 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluate.estimators import Floats

ROUNDING = 1e-9  # closer values are equal: they come from sums of many terms
FEW = 3  # problems that differ from the others: what they do not show may be as large as possible

Bounds = tuple[float, float]  # the smallest and the largest value that a metric can have


NORMAL = NormalDist()
Part = tuple[float, int]  # a part of a squared standard error, and its degrees of freedom
MANY = 1_000_000  # degrees of freedom from which t is normal, to six digits
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)  # of the integral in `t_quantile`


@dataclass(frozen=True)
class IntervalConfig:
    """How intervals are made.

    Attributes:
        level: Coverage, in (0, 1).
        draws: Draws for the factor of a band that holds for all k at once.
        seed: The seed of these draws.
    """

    level: float = 0.95
    draws: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must be in (0, 1), got {self.level}")
        if self.draws < 1:
            raise ValueError(f"draws must be at least 1, got {self.draws}")

    def in_words(self, seeds: int) -> str:
        """Say what intervals are over.

        Args:
            seeds: Training runs of an arm; 0 or 1 if the interval is over only problems.

        >>> IntervalConfig().in_words(1), IntervalConfig().in_words(3)
        ('95% intervals over problems', '95% intervals over problems and seeds')
        """
        over = "problems and seeds" if seeds > 1 else "problems"
        return f"{100 * self.level:g}% intervals over {over}"


@dataclass(frozen=True)
class WithInterval:
    """A value and the ends of its interval, which are NaN if unknown."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high


@dataclass(frozen=True)
class Estimate(WithInterval):
    """A mean over seeds and problems; an interval needs two problems.

    Attributes:
        stderr: Standard error over problems (and seeds, when there are several).
        per_seed: Mean over problems of each seed.
        problems: Problems in the mean.
        missing: Problems left out because a seed has no value (NaN) there.
    """

    stderr: float
    per_seed: tuple[float, ...]
    problems: int
    missing: int


@dataclass(frozen=True)
class Difference(WithInterval):
    """The mean of one arm minus the mean of another arm on the same problems.

    Attributes:
        stderr, problems, missing: As in `Estimate`, of the difference.
        improvement: The share of problems on which the first arm is above the second, ties counting
            half (the probability of improvement of arXiv:2108.13264, with problems as tasks).
        first, second: The means of both arms on these problems, where either lacks none.
    """

    stderr: float
    improvement: float
    problems: int
    missing: int
    first: float = math.nan
    second: float = math.nan

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0

    @property
    def shown(self) -> Literal["above", "below", "unclear"]:
        """Where the interval shows the first arm to be: above the second, below it, or neither."""
        if not self.excludes_zero:
            return "unclear"
        return "above" if self.value > 0 else "below"

    def negated(self) -> Difference:
        """Return the difference with the arms swapped."""
        return replace(
            self,
            value=-self.value,
            low=-self.high,
            high=-self.low,
            improvement=1 - self.improvement,
            first=self.second,
            second=self.first,
        )


def mean_over_problems(
    values_RP: ArrayLike, config: IntervalConfig | None = None, bounds: Bounds | None = None
) -> Estimate:
    """Mean over problems with an interval over problems, and over seeds when there are several.

    The module has the formula, also for few problems that differ.

    Args:
        values_RP: One row for each seed, or (P,) for one seed. NaN leaves a problem out.
        config: The level.
        bounds: The smallest and the largest value that the metric can have, 0 and 1 for a share:
            100% on all problems then does not mean 100% on all others. By default the range of the
            values. Both ends are within it.

    >>> estimate = mean_over_problems([0.0, 1.0, 1.0, 1.0], bounds=(0, 1))
    >>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.75, 0.0, 1.0)
    """
    values = _as_seeds_by_problems(values_RP)
    kept = values[:, ~np.isnan(values).any(axis=0)]
    stderr, (low, high) = _interval_of_mean([kept], [kept], config or IntervalConfig(), bounds)
    return Estimate(
        value=_mean_or_nan(kept),
        low=low,
        high=high,
        stderr=stderr,
        per_seed=tuple(_mean_or_nan(row) for row in kept),
        problems=kept.shape[1],
        missing=values.shape[1] - kept.shape[1],
    )


def paired_difference(
    first_RP: ArrayLike,
    second_RP: ArrayLike,
    config: IntervalConfig | None = None,
    bounds: Bounds | None = None,
) -> Difference:
    """Mean of the first arm minus the second on the same problems; columns are paired.

    Arms with equally many seeds are also paired by seed: V_R is computed from the differences of
    their rows, so identical arms differ by exactly 0. Otherwise each arm of several seeds has its
    own V_R. See `mean_over_problems`.

    Args:
        first_RP: One row for each seed, or (P,); the arms may differ in their number of seeds.
        second_RP: Values on the same problems in the same order. Give the rows of both arms in one
            order of seeds.
        config: The level.
        bounds: The smallest and the largest value that an arm can have; by default the range of
            the values of both.

    >>> paired_difference([1.0, 0.5, 1.0, 0.7], [0.0, 0.5, 1.0, 0.5]).improvement
    0.75
    """
    first, second = _as_seeds_by_problems(first_RP), _as_seeds_by_problems(second_RP)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"both arms must have the same problems, got {first.shape[1]} and {second.shape[1]}"
        )
    usable = ~(np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0))
    first, second = first[:, usable], second[:, usable]
    gap_P = first.mean(axis=0) - second.mean(axis=0)
    runs = runs_that_differ(first, second)
    stderr, (low, high) = _interval_of_mean(
        [first, second], runs, config or IntervalConfig(), bounds
    )
    return Difference(
        value=_mean_or_nan(gap_P),
        low=low,
        high=high,
        stderr=stderr,
        improvement=_mean_or_nan(
            0.5 + 0.5 * np.sign(np.where(np.abs(gap_P) < ROUNDING, 0.0, gap_P))
        ),
        problems=len(gap_P),
        missing=int((~usable).sum()),
        first=_mean_or_nan(first),
        second=_mean_or_nan(second),
    )


def detectable_difference(
    stderr: float, power: float = 0.8, level: float = 0.05, reach: float | None = None
) -> float:
    """Return the smallest true difference that is detected with this power.

        δ = reach + z_power · SE          2.80 · SE for 80% power at the 5% level

    The chance of the other tail is left out; it is below level/2 · 0.001 there.

    Args:
        stderr: Standard error of the paired difference, as in `Difference.stderr`.
        power: Probability that the test detects it, above level/2 and below 1.
        level: The level of the two-sided test.
        reach: Half of the interval, which is wider with few seeds; by default z_{1−α/2} · SE.

    Returns:
        A difference in the metric's unit; NaN where the standard error is.

    >>> round(detectable_difference(0.05), 4)
    0.1401
    """
    needed = _reach_for_power(power, level)
    return needed * stderr if reach is None else reach + NORMAL.inv_cdf(power) * stderr


def problems_needed(
    difference: float, stderr: float, problems: int, power: float = 0.8, level: float = 0.05
) -> int:
    """How many problems a comparison needs to detect a difference, given a pilot.

        P = ⌈((z_{1−α/2} + z_power) · σ/δ)²⌉          σ = SE · √problems of the pilot

    Args:
        difference: The true difference to detect, not 0.
        stderr: Standard error of the paired difference in the pilot, over only problems: more
            problems do not shrink the differences between training runs.
        problems: Problems of the pilot.
        power: Probability that the test detects it.
        level: The level of the two-sided test.

    >>> problems_needed(0.05, stderr=0.05, problems=30)
    236
    """
    if difference == 0 or problems < 1:
        raise ValueError(f"difference must not be 0 and problems at least 1, got {difference} "
                         f"and {problems}")  # fmt: skip
    if math.isnan(stderr):
        raise ValueError("stderr must be a number, got NaN: a pilot needs at least two problems")
    spread = stderr * math.sqrt(problems)
    return max(1, math.ceil((_reach_for_power(power, level) * spread / difference) ** 2))


def _as_seeds_by_problems(values: ArrayLike) -> Floats:
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if array.ndim != 2:
        raise ValueError(f"values must be (seeds, problems) or (problems,), got {array.shape}")
    return array


def _mean_or_nan(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def runs_that_differ(first_RX: Floats, second_RX: Floats) -> list[Floats]:
    """Return the values whose spread over seeds counts: paired by row, or of each arm."""
    same = len(first_RX) == len(second_RX)
    return [first_RX - second_RX] if same else [first_RX, second_RX]


def _interval_of_mean(
    arms: list[Floats], runs: list[Floats], config: IntervalConfig, bounds: Bounds | None
) -> tuple[float, tuple[float, float]]:
    """Return the standard error and the ends of the interval of a mean over problems.

    Args:
        arms: The values of one arm, or of the two whose difference it is; (R, P) each.
        runs: (R, P) values whose spread over seeds counts; one row adds nothing.
        config: The level.
        bounds: What values an arm can have; by default the range of those that it has.
    """
    problems = arms[0].shape[1]
    if problems < 2:
        return math.nan, (math.nan, math.nan)
    sides = [arm.mean(axis=0, keepdims=True) for arm in arms]
    parts = [
        _variance_and_degrees(sum_of(sides)[0]),
        *(
            _variance_and_degrees(values_RX.mean(axis=1))
            for values_RX in runs
            if len(values_RX) > 1
        ),
    ]
    reach = math.hypot(*(t_quantile(nu, config.level) * math.sqrt(v) for v, nu in parts))
    within = bounds or (min(arm.min() for arm in arms), max(arm.max() for arm in arms))
    low, high = ends(sides, np.array([reach]), t_quantile(problems - 1, config.level), within)
    return math.sqrt(sum(variance for variance, _ in parts)), (float(low[0]), float(high[0]))


def _variance_and_degrees(values: Floats) -> Part:
    """Return the squared standard error of a mean, and its degrees of freedom."""
    return float(values.var(ddof=1)) / len(values), len(values) - 1


@lru_cache(maxsize=256)
def t_quantile(degrees: int, level: float) -> float:
    """Return how far an interval of Student's t reaches: P(|t| ≤ reach) = level.

    With t = √ν·tan θ, P(|t| ≤ reach) = 2c·∫₀^θ cos^(ν−1), c = Γ((ν+1)/2) / (√π·Γ(ν/2)). The
    integral is concave in θ, so Newton's steps from 0 come to the root from one side.

    >>> round(t_quantile(2, 0.95), 4), round(t_quantile(10**9, 0.95), 4)
    (4.3027, 1.96)
    """
    if degrees > MANY:
        return NORMAL.inv_cdf((1 + level) / 2)
    log_c = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi) / 2
    twice_c, power = 2 * math.exp(log_c), degrees - 1
    angle, step = 0.0, 1.0
    while step > ROUNDING * angle:
        area = float(WEIGHTS @ np.cos(angle * (NODES + 1) / 2) ** power) * angle / 2
        density = max(twice_c * math.cos(angle) ** power, 1e-300)
        step = min((level - twice_c * area) / density, (math.pi / 2 - angle) / 2)
        angle += step
    return math.sqrt(degrees) * math.tan(angle)


def _reach_for_power(power: float, level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not level / 2 < power < 1:
        raise ValueError(f"power must be in (level/2, 1) = ({level / 2:g}, 1), got {power}")
    return NORMAL.inv_cdf(1 - level / 2) + NORMAL.inv_cdf(power)


def ends(
    sides: Sequence[Floats], reach_K: Floats, factor: float, bounds: Bounds | None = None
) -> tuple[Floats, Floats]:
    """Return both ends of intervals for the mean of one side, or of the first minus the second.

    Args:
        sides: One or two arrays (K, P), the values of each problem.
        reach_K: t·SE, or the factor of a band times SE.
        factor: t, or the factor of a band.
        bounds: What values a side can have, as 0 and 1 for a share; by default the range of those
            that it has.

    Returns:
        Lower and upper ends, (K,) each, within what the bounds allow.
    """
    low_K, high_K = _range_of_values(sides, bounds)
    seen, unseen = _variance_growth_seen(sides), _variance_growth_unseen(sides, low_K, high_K)
    below, above = (np.maximum(*each) for each in zip(seen, unseen, strict=True))
    problems = sides[0].shape[1]
    value_K = sum_of(sides).mean(axis=1)
    least_K, most_K = (low_K, high_K) if len(sides) == 1 else (low_K - high_K, high_K - low_K)
    scale = factor**2 / problems
    lower_K = value_K - _distance_to_end(below * scale, most_K - least_K, reach_K)
    upper_K = value_K + _distance_to_end(above * scale, most_K - least_K, reach_K)
    return np.maximum(lower_K, least_K), np.minimum(upper_K, most_K)


def sum_of(sides: Sequence[Floats]) -> Floats:
    """Return the values of one side, or the first side's minus the second's."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def decided_by_few(value_KP: Floats, bounds: Bounds) -> np.ndarray:
    """Return whether no more than three problems decide how far a mean is from a bound, (K,)."""
    return np.minimum(*(_problems_behind_distance(np.abs(value_KP - end)) for end in bounds)) <= FEW


def _range_of_values(sides: Sequence[Floats], bounds: Bounds | None) -> tuple[Floats, Floats]:
    if bounds is not None:
        return tuple(np.full(len(sides[0]), float(end)) for end in bounds)  # type: ignore[return-value]
    every_KX = np.hstack(sides)
    return every_KX.min(axis=1), every_KX.max(axis=1)


def _variance_growth_seen(sides: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the w of the skewness, below and above."""
    values_KP = sum_of(sides)
    off_KP = values_KP - values_KP.mean(axis=1, keepdims=True)
    squares_K, cubes_K = (off_KP**2).sum(axis=1), (off_KP**3).sum(axis=1)
    known_K = squares_K > ROUNDING**2
    skew_K = np.divide(cubes_K, squares_K, out=np.zeros_like(cubes_K), where=known_K)
    return np.maximum(-skew_K, 0), np.maximum(skew_K, 0)


def _variance_growth_unseen(
    sides: Sequence[Floats], low_K: Floats, high_K: Floats
) -> tuple[Floats, Floats]:
    """Return the w of what was not seen, below and above: the second side counts the other way."""
    growths: list[tuple[Floats, Floats]] = []
    for side_KP in sides:
        down_K = FEW / np.maximum(_problems_behind_distance(high_K[:, None] - side_KP), FEW)
        up_K = FEW / np.maximum(_problems_behind_distance(side_KP - low_K[:, None]), FEW)
        growths.append((down_K, up_K) if not growths else (up_K, down_K))
    below, above = (np.max(each, axis=0) for each in zip(*growths, strict=True))
    return (high_K - low_K) * below, (high_K - low_K) * above


def _problems_behind_distance(distance_KP: Floats) -> Floats:
    """Return N, (mean/SE)², of the distances from a bound: 0 if all are 0, P² if all are equal."""
    mean_K, problems = distance_KP.mean(axis=1), distance_KP.shape[1]
    stderr_K = np.sqrt(distance_KP.var(axis=1, ddof=1) / problems)
    stderr_K = np.where(stderr_K > ROUNDING, stderr_K, mean_K / problems)
    ratio_K = np.divide(mean_K, stderr_K, out=np.zeros_like(mean_K), where=mean_K > ROUNDING)
    return ratio_K**2


def _distance_to_end(w_K: Floats, range_K: Floats, reach_K: Floats) -> Floats:
    """Return the larger x with x² = reach² + w·x·(1 − x/R)."""
    more_K = 1 + np.divide(w_K, range_K, out=np.zeros_like(w_K), where=range_K > 0)
    return (w_K / 2 + np.sqrt(w_K**2 / 4 + more_K * reach_K**2)) / more_K
