"""Intervals for means over problems and for paired differences, and what a comparison can detect.

Axes: R training runs of an arm (its seeds), P problems, D bootstrap draws.

Problems are the sampling unit: they are a draw from all possible problems, so an interval says how
far another draw of problems would move the mean (Miller, arXiv:2411.00640). It includes the noise
from drawing only n samples of a problem. With several seeds an arm's value on a problem is its mean
over seeds, and the interval also covers another draw of seeds.

Two seeds show little of how seeds differ: read the values of each seed together with the interval.

What can be detected follows from the paired variance over problems, by the normal approximation:
with σ the standard deviation of the paired differences and P problems, the standard error is σ/√P,
and a true difference δ is detected at level α with probability

    power = Φ(|δ|/SE − z) + Φ(−|δ|/SE − z)          z = Φ⁻¹(1 − α/2)

The noise from drawing n samples of a problem is in σ; more samples shrink that part, more problems
shrink all of it (Miller, arXiv:2411.00640, Section 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluation.estimators import Floats

NORMAL = NormalDist()
ROUNDING = 1e-9  # closer values are equal: they come from sums of many terms

IntervalMethod = Literal["bootstrap", "analytic"]


@dataclass(frozen=True)
class IntervalConfig:
    """How intervals are made.

    Attributes:
        method: "bootstrap" (percentiles of resampled means) or "analytic" (normal, from the
            standard error).
        level: Coverage, in (0, 1).
        resamples: Bootstrap draws.
        seed: Of the bootstrap's own generator; every metric draws the same problems, so that curves
            over k are coherent.
    """

    method: IntervalMethod = "bootstrap"
    level: float = 0.95
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in ("bootstrap", "analytic"):
            raise ValueError(f"method must be 'bootstrap' or 'analytic', got {self.method!r}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must be in (0, 1), got {self.level}")
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1, got {self.resamples}")


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
    """A mean over seeds and problems; its interval needs two problems.

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
        improvement: Probability of improvement: the share of problems on which the first arm is
            above the second, ties counting half (Agarwal et al., arXiv:2108.13264, with
            problems as tasks).
    """

    stderr: float
    improvement: float
    problems: int
    missing: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0

    def negated(self) -> Difference:
        """Return the difference with the arms swapped."""
        return replace(
            self,
            value=-self.value,
            low=-self.high,
            high=-self.low,
            improvement=1 - self.improvement,
        )


def mean_over_problems(values_RP: ArrayLike, config: IntervalConfig | None = None) -> Estimate:
    """Mean over problems with an interval over problems, and over seeds when there are several.

        SE² = Var_P(mean over seeds)/P + Var_R(mean over problems)/R        (second term: R ≥ 2)

    The bootstrap resamples problems and, independently, seeds. Its weights are spread by
    √(R/(R−1)) (and by √(P/(P−1)) for problems), without which a resample of R values has only
    (R−1)/R of their variance, one half for two seeds (Rao and Wu, JASA 83, 1988); its ends stay
    within the range of the values, as a plain resample does. Both methods count the noise
    within a problem once for problems and once more for seeds: with several seeds the interval is
    rather too wide than too narrow (Owen, Annals of Applied Statistics 1, 2007).

    Args:
        values_RP: One row for each seed, or (P,) for one seed. NaN leaves a problem out.
        config: How the interval is made.

    >>> estimate = mean_over_problems([0.0, 1.0, 1.0, 1.0], IntervalConfig(method="analytic"))
    >>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.75, 0.26, 1.24)
    """
    config = config or IntervalConfig()
    values = _seeds_by_problems(values_RP)
    kept = values[:, ~np.isnan(values).any(axis=0)]
    stderr = _stderr([kept])
    low, high = _interval([kept], [1.0], stderr, config)
    if config.method == "bootstrap" and kept.size:
        low, high = np.clip([low, high], kept.min(), kept.max()).tolist()
    return Estimate(
        value=_mean(kept),
        low=low,
        high=high,
        stderr=stderr,
        per_seed=tuple(_mean(row) for row in kept),
        problems=kept.shape[1],
        missing=values.shape[1] - kept.shape[1],
    )


def paired_difference(
    first_RP: ArrayLike, second_RP: ArrayLike, config: IntervalConfig | None = None
) -> Difference:
    """Mean of the first arm minus the second on the same problems; columns are paired.

    Problems are resampled for both arms at once, seeds for each arm on its own. See
    `mean_over_problems`.

    Args:
        first_RP: One row for each seed, or (P,); the arms may differ in their number of seeds.
        second_RP: Values on the same problems in the same order.
        config: How the interval is made.

    >>> paired_difference([1.0, 0.5, 1.0, 0.7], [0.0, 0.5, 1.0, 0.5]).improvement
    0.75
    """
    config = config or IntervalConfig()
    first, second = _seeds_by_problems(first_RP), _seeds_by_problems(second_RP)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"both arms must have the same problems, got {first.shape[1]} and {second.shape[1]}"
        )
    usable = ~(np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0))
    arms = [first[:, usable], second[:, usable]]
    gap_P = arms[0].mean(axis=0) - arms[1].mean(axis=0)
    stderr = _stderr(arms)
    low, high = _interval(arms, [1.0, -1.0], stderr, config)
    return Difference(
        value=_mean(gap_P),
        low=low,
        high=high,
        stderr=stderr,
        improvement=_mean(0.5 + 0.5 * np.sign(np.where(np.abs(gap_P) < ROUNDING, 0.0, gap_P))),
        problems=len(gap_P),
        missing=int((~usable).sum()),
    )


def detectable_difference(stderr: float, power: float = 0.8, level: float = 0.05) -> float:
    """Return the smallest true difference that is detected with this power.

        δ = (z_{1−α/2} + z_power) · SE          2.80 · SE for 80% power at the 5% level

    The chance of the other tail is left out; it is below level/2 · 0.001 there.

    Args:
        stderr: Standard error of the paired difference, as in `Difference.stderr`.
        power: Probability that the test detects it, above level/2 and below 1.
        level: Of the two-sided test.

    Returns:
        A difference in the metric's unit; NaN where the standard error is.

    >>> round(detectable_difference(0.05), 4)
    0.1401
    """
    return _reach(power, level) * stderr


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
        level: Of the two-sided test.

    >>> problems_needed(0.05, stderr=0.05, problems=30)
    236
    """
    if difference == 0 or problems < 1:
        raise ValueError(f"difference must not be 0 and problems at least 1, got {difference} "
                         f"and {problems}")  # fmt: skip
    if math.isnan(stderr):
        raise ValueError("stderr must be a number, got NaN: a pilot needs at least two problems")
    spread = stderr * math.sqrt(problems)
    return max(1, math.ceil((_reach(power, level) * spread / difference) ** 2))


def _seeds_by_problems(values: ArrayLike) -> Floats:
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if array.ndim != 2:
        raise ValueError(f"values must be (seeds, problems) or (problems,), got {array.shape}")
    return array


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def _stderr(arms: list[Floats]) -> float:
    """Return the standard error of one arm's mean, or of the difference of two."""
    if arms[0].shape[1] < 2:
        return float("nan")
    means_P = [arm.mean(axis=0) for arm in arms]
    over_problems = means_P[0] if len(arms) == 1 else means_P[0] - means_P[1]
    variance = over_problems.var(ddof=1) / len(over_problems)
    for arm in arms:
        if len(arm) > 1:
            variance += arm.mean(axis=1).var(ddof=1) / len(arm)
    return float(np.sqrt(variance))


def _interval(
    arms: list[Floats], signs: list[float], stderr: float, config: IntervalConfig
) -> tuple[float, float]:
    """Return the ends of the interval of the signed sum of the arms' means."""
    if np.isnan(stderr):
        return float("nan"), float("nan")
    center = sum(sign * _mean(arm) for sign, arm in zip(signs, arms, strict=True))
    tail = (1 - config.level) / 2
    if config.method == "analytic":
        reach = NORMAL.inv_cdf(1 - tail) * stderr
        return center - reach, center + reach
    draws_D = np.zeros(config.resamples)
    problem_weights = resampling_weights(arms[0].shape[1], config.resamples, config.seed, 0)
    for stream, (arm, sign) in enumerate(zip(arms, signs, strict=True), start=1):
        seed_weights = resampling_weights(len(arm), config.resamples, config.seed, stream)
        draws_D += sign * ((problem_weights @ arm.T) * seed_weights).sum(axis=1)
    low, high = np.quantile(draws_D, [tail, 1 - tail])
    return float(low), float(high)


@lru_cache(maxsize=64)
def resampling_weights(count: int, resamples: int, seed: int, stream: int) -> Floats:
    """Weights of `count` items in each bootstrap draw, (D, count); each row sums to 1.

    1/count + √(count/(count−1)) · (times drawn / count − 1/count), so that a weighted mean varies
    as much as the mean does. A single item always has weight 1.
    """
    if count == 1:
        return np.ones((resamples, 1))
    rng = np.random.default_rng([seed, stream])
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=resamples) / count
    weights = 1 / count + np.sqrt(count / (count - 1)) * (drawn - 1 / count)
    weights.flags.writeable = False  # shared by every caller through the cache
    return weights


def _reach(power: float, level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not level / 2 < power < 1:
        raise ValueError(f"power must be in (level/2, 1) = ({level / 2:g}, 1), got {power}")
    return NORMAL.inv_cdf(1 - level / 2) + NORMAL.inv_cdf(power)
