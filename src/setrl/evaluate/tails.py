"""The ends of an interval for a mean over problems, also where few problems decide the mean.

Axes: K places of a curve, P problems.

A mean ± t·SE rests on the spread that was seen. Where few problems differ from the others, as for
pass@k near 0% or 100%, the next problem may differ more than all of these, and the spread grows
with it. The ends of an interval are therefore where the distance x from the mean is t standard
errors of a mean that far away:

    x² = t²·(SE² + w·x·(1 − x/R)/P)

R is the range of a value, and w says how the variance of a problem grows with the mean. For w = 0
this is Student's t. If no problem of P fails, w = 1 gives Wilson's interval of a share (JASA 22,
1927), t²/(P + t²). To each side, w is the larger one of

    Σ(d − d̄)³ / Σ(d − d̄)²          the skewness of what was seen (to one side only)
    R·min(1, 3/N)                  what was not seen: values R away, at the end of the range

N = (distance of a side's mean from the end of the range / its SE)² is how many problems of a kind
would give this distance its relative error: if f problems of P fail and the others never do, N is
f·P/(P − f). Three failures or fewer say no more than "few" (the rule of three). The bounds of both
sides count for a difference, and all is symmetric in them.
`studies.comparison_coverage` measures how often such intervals contain the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setrl.evaluate.estimators import Floats

ROUNDING = 1e-9  # closer values are equal: they come from sums of many terms
FEW = 3  # problems that differ from the others: what they do not show may be as large as possible

Bounds = tuple[float, float]  # the smallest and the largest value that a metric can have


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
    low_K, high_K = _range(sides, bounds)
    below, above = (np.maximum(*each) for each in zip(_skewed(sides), _unseen(sides, low_K, high_K),
                                                      strict=True))  # fmt: skip
    problems = sides[0].shape[1]
    value_K = sum_of(sides).mean(axis=1)
    least_K, most_K = (low_K, high_K) if len(sides) == 1 else (low_K - high_K, high_K - low_K)
    scale = factor**2 / problems
    lower_K = value_K - _tail(below * scale, high_K - low_K, reach_K)
    upper_K = value_K + _tail(above * scale, high_K - low_K, reach_K)
    return np.maximum(lower_K, least_K), np.minimum(upper_K, most_K)


def sum_of(sides: Sequence[Floats]) -> Floats:
    """Return the values of one side, or the first side's minus the second's."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def decided_by_few(value_KP: Floats, bounds: Bounds) -> np.ndarray:
    """Return whether no more than three problems decide how far a mean is from a bound, (K,)."""
    return np.minimum(*(_problems(np.abs(value_KP - end)) for end in bounds)) <= FEW


def _range(sides: Sequence[Floats], bounds: Bounds | None) -> tuple[Floats, Floats]:
    if bounds is not None:
        return tuple(np.full(len(sides[0]), float(end)) for end in bounds)  # type: ignore[return-value]
    every_KX = np.hstack(sides)
    return every_KX.min(axis=1), every_KX.max(axis=1)


def _skewed(sides: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the w of the skewness, below and above."""
    values_KP = sum_of(sides)
    off_KP = values_KP - values_KP.mean(axis=1, keepdims=True)
    squares_K, cubes_K = (off_KP**2).sum(axis=1), (off_KP**3).sum(axis=1)
    known_K = squares_K > ROUNDING**2
    skew_K = np.divide(cubes_K, squares_K, out=np.zeros_like(cubes_K), where=known_K)
    return np.maximum(-skew_K, 0), np.maximum(skew_K, 0)


def _unseen(sides: Sequence[Floats], low_K: Floats, high_K: Floats) -> tuple[Floats, Floats]:
    """Return the w of what was not seen, below and above: the second side counts the other way."""
    found: list[tuple[Floats, Floats]] = []
    for side_KP in sides:
        down_K = FEW / np.maximum(_problems(high_K[:, None] - side_KP), FEW)
        up_K = FEW / np.maximum(_problems(side_KP - low_K[:, None]), FEW)
        found.append((down_K, up_K) if not found else (up_K, down_K))
    below, above = (np.max(each, axis=0) for each in zip(*found, strict=True))
    return (high_K - low_K) * below, (high_K - low_K) * above


def _problems(distance_KP: Floats) -> Floats:
    """Return N, (mean/SE)², of the distances from a bound: 0 if all are 0."""
    mean_K, problems = distance_KP.mean(axis=1), distance_KP.shape[1]
    variance_K = np.maximum(distance_KP.var(axis=1, ddof=1) / problems, ROUNDING**2)
    return np.where(mean_K > ROUNDING, mean_K**2 / variance_K, 0.0)


def _tail(w_K: Floats, range_K: Floats, reach_K: Floats) -> Floats:
    """Return the larger x with x² = reach² + w·x·(1 − x/R)."""
    more_K = 1 + np.divide(w_K, range_K, out=np.zeros_like(w_K), where=range_K > 0)
    return (w_K / 2 + np.sqrt(w_K**2 / 4 + more_K * reach_K**2)) / more_K
