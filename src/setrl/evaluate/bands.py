"""Bands that hold for all k at once, and where one of two curves first falls below the other.

An interval at each k misses the truth at some k far more often than at one. A simultaneous (sup-t)
band widens all intervals by one common factor c:

    value_k ± c · SE_k        P(max_k |value_k − truth_k| / SE_k ≤ c) = level

c is a quantile of the largest of K values that vary together as the estimates do (Montiel Olea and
Plagborg-Møller, Journal of Applied Econometrics 34, 2019). For two curves of pass@k, and the first
budget at which one loses, see arXiv:2609.22547; its package passk-inference gives the same SE.

Axes: K places of the curve, R training runs (seeds), P problems, M independent terms of the
estimates' errors, D draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluate.estimators import Floats, pass_at_k
from setrl.evaluate.intervals import (
    ROUNDING,
    Bounds,
    IntervalConfig,
    ends,
    runs_that_differ,
    sum_of,
    t_quantile,
)
from setrl.evaluate.samples import Evaluation

EVERY_K = 512  # up to here a band is computed at every k, and beyond at some
BEYOND = 64  # at how many k beyond
STREAM = 99  # of the seed's generators


@dataclass(frozen=True)
class Band:
    """A curve, and a band that contains all of the true curve with a probability of `level`.

    Attributes:
        ks: Where the curve is computed.
        values: The curve.
        low, high: The band; NaN where it is unknown: of one problem, or where all problems have
            the same value and nobody said which values there are.
        critical: The factor c: how many standard errors the band reaches to both sides at least.
        level: The probability.
    """

    ks: tuple[int, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    critical: float
    level: float

    def at(self, k: int) -> tuple[float, float]:
        """Return the ends at one k; NaN if the band does not have it."""
        if k not in self.ks:
            return float("nan"), float("nan")
        place = self.ks.index(k)
        return self.low[place], self.high[place]

    def negated(self) -> Band:
        """Return the band of minus the curve; for a difference, swap the arms."""
        values, low, high = (tuple(-x for x in ends) for ends in (self.values, self.high, self.low))
        return replace(self, values=values, low=low, high=high)

    @property
    def is_known(self) -> bool:
        """Whether the band has ends at any k."""
        return not np.isnan(self.low).all()

    @property
    def above(self) -> tuple[int, ...]:
        """Where the curve is above 0, for all of them at once."""
        return tuple(k for k, low in zip(self.ks, self.low, strict=True) if low > 0)

    @property
    def below(self) -> tuple[int, ...]:
        """Where the curve is below 0, for all of them at once."""
        return tuple(k for k, high in zip(self.ks, self.high, strict=True) if high < 0)


@dataclass(frozen=True)
class FirstLoss:
    """Where the first k may lie at which a difference is below 0.

    Attributes:
        low: Not before this k; one more than the last k if the difference is above 0 at every k.
        high: Not after this k; None if it may be after the last k, or never.
    """

    low: int
    high: int | None


def every_k(n: int) -> list[int]:
    """1, 2, 3, … n; beyond 512 only some, ever further apart, and n.

    >>> every_k(5), len(every_k(512)), len(every_k(100_000)), every_k(100_000)[-1]
    ([1, 2, 3, 4, 5], 512, 576, 100000)
    """
    dense = list(range(1, min(n, EVERY_K) + 1))
    beyond = np.geomspace(EVERY_K, max(n, EVERY_K), BEYOND + 1)[1:].round()
    return list(dict.fromkeys([*dense, *map(int, beyond)])) if n > EVERY_K else dense


def pass_values(evaluations: Sequence[Evaluation], ks: Sequence[int]) -> Floats:
    """pass@k of each problem by each seed, (K, R, P)."""
    return np.array([[pass_at_k(e.correct_count_P, e.size_P, k) for e in evaluations] for k in ks])


def pass_band(
    first: Sequence[Evaluation], second: Sequence[Evaluation] | None, intervals: IntervalConfig
) -> Band:
    """Return the band of pass@k of one arm, or of its difference to another arm, at every k."""
    ks = every_k(min(e.n for e in (*first, *(second or ()))))
    subtracted = None if second is None else pass_values(second, ks)
    return simultaneous_band(ks, pass_values(first, ks), subtracted, intervals, (0.0, 1.0))


def simultaneous_band(
    ks: Sequence[int],
    first_KRP: ArrayLike,
    second_KRP: ArrayLike | None = None,
    config: IntervalConfig | None = None,
    bounds: Bounds | None = None,
) -> Band:
    """Return a band over a curve (a mean over problems and seeds) or a difference of two curves.

    With z_mK the terms of the error, one for each problem and, if there are several seeds, one for
    each seed, SE_K² = Σ_m z_mK² equals SE² in `mean_over_problems` and `paired_difference`. A draw
    is max_K |Σ_m e_m·z_mK| / SE_K with e_m standard normal, divided by √(χ²/(P−1)): SE is
    estimated from P problems. The terms of R seeds are also divided by √(χ²/(R−1)). The factor c is
    the level's quantile of the draws.

    The band reaches c standard errors, and farther where few problems decide a mean (pass@k near 1,
    k near n): its ends are those of `setrl.evaluate.intervals` with c for t;
    docs/results/evaluation has measured coverages.

    Args:
        ks: The places.
        first_KRP: Values by place, seed and problem.
        second_KRP: The curve that is subtracted, on the same problems; paired by seed where both
            have equally many.
        config: Level, number of draws and their seed.
        bounds: The smallest and the largest value that a curve can have, 0 and 1 for a share; by
            default the range of the values at each place.

    Raises:
        ValueError: If the arrays do not fit each other.
    """
    config = config or IntervalConfig()
    arms = [np.asarray(x, dtype=np.float64) for x in (first_KRP, second_KRP) if x is not None]
    if any(arm.ndim != 3 or len(arm) != len(ks) for arm in arms) or (
        len({arm.shape[2] for arm in arms}) > 1
    ):
        raise ValueError(f"values must be (places, seeds, problems) of {len(ks)} places and the "
                         f"same problems, got {[arm.shape for arm in arms]}")  # fmt: skip
    sides = [arm.mean(axis=1) for arm in arms]
    gap_KP = sum_of(sides)
    problems = gap_KP.shape[1]
    value_K = gap_KP.mean(axis=1) if problems else np.full(len(ks), np.nan)
    if problems < 2:
        unknown = np.full(len(ks), np.nan)
        return _band_from_arrays(ks, value_K, (unknown, unknown), float("nan"), config.level)
    by_seed = [arm.mean(axis=2).T for arm in arms]  # (R, K)
    runs = by_seed if len(arms) == 1 else runs_that_differ(*by_seed)
    spread = [gap_KP, *(values_RK.T for values_RK in runs if len(values_RK) > 1)]
    parts = [_error_terms(values_KX).T for values_KX in spread]
    stderr_K = np.sqrt((np.concatenate(parts) ** 2).sum(axis=0))
    known_K = stderr_K > ROUNDING
    critical = _critical_factor([part[:, known_K] / stderr_K[known_K] for part in parts], config)
    low_K, high_K = ends(sides, critical * stderr_K, critical, bounds)
    is_flat_K = high_K - low_K < ROUNDING
    shown = (np.where(is_flat_K, np.nan, end_K) for end_K in (low_K, high_K))
    return _band_from_arrays(ks, value_K, tuple(shown), critical, config.level)


def first_loss(band: Band) -> FirstLoss:
    """Where the first k may lie at which the difference is below 0, at the band's level.

        low = the first k that the band does not show to be ≥ 0
        high = the first k that the band shows to be < 0

    Both are right whenever the band contains the curve, so the interval contains the first loss
    with at least the band's probability. A place between two of the band's k is not known: where
    the ks have gaps, `low` stays before the first gap.

    >>> first_loss(Band((1, 2, 3), (1, 0, -1), (0.5, -0.5, -1.5), (1.5, 0.5, -0.5), 2, 0.95))
    FirstLoss(low=2, high=3)
    """
    low = 1
    for k, end in zip(band.ks, band.low, strict=True):
        if k != low or not end >= 0:
            break
        low = k + 1
    return FirstLoss(low, next(iter(band.below), None))


def _error_terms(values_KX: Floats) -> Floats:
    """Terms of the error of a mean over X: their squares add up to its squared standard error."""
    count = values_KX.shape[1]
    centred = values_KX - values_KX.mean(axis=1, keepdims=True)
    return centred / np.sqrt(count * (count - 1))


def _critical_factor(parts: list[Floats], config: IntervalConfig) -> float:
    """Return the quantile of the largest |t| of K that vary together; of one if K is 0.

    Args:
        parts: Terms of the error over SE, (M, K) each: of problems, and of seeds.
        config: Level, number of draws and their seed.
    """
    if not parts[0].shape[1]:
        return t_quantile(len(parts[0]) - 1, config.level)
    rng = np.random.default_rng([config.seed, STREAM])
    of_seeds = np.random.default_rng([config.seed, STREAM, 1])
    largest_D, terms_MK = np.empty(config.draws), np.concatenate(parts)
    for start in range(0, config.draws, 256):  # in parts: (D, K) may be large
        stop = min(start + 256, config.draws)
        normals = [rng.standard_normal((stop - start, len(parts[0])))]
        for part in parts[1:]:
            normal_DR = of_seeds.standard_normal((stop - start, len(part)))
            normals.append(
                normal_DR / _draw_relative_deviations(of_seeds, part, stop - start)[:, None]
            )
        drawn_DK = np.hstack(normals) @ terms_MK
        largest_D[start:stop] = np.abs(drawn_DK).max(axis=1)
    return float(
        np.quantile(
            largest_D / _draw_relative_deviations(rng, parts[0], config.draws), config.level
        )
    )


def _draw_relative_deviations(rng: np.random.Generator, part_MK: Floats, draws: int) -> Floats:
    """Draw the standard deviation that is estimated from these terms, over the true one: (D,)."""
    degrees = len(part_MK) - 1
    return np.sqrt(rng.chisquare(degrees, draws) / degrees)


def _band_from_arrays(
    ks: Sequence[int], value_K: Floats, ends_K: Sequence[Floats], critical: float, level: float
) -> Band:
    value, low, high = (tuple(map(float, x)) for x in (value_K, *ends_K))
    return Band(tuple(ks), value, low, high, critical, level)
