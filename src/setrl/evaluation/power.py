"""What a comparison can detect: the smallest difference, and the problems that are needed for it.

All from the paired variance over problems, by the normal approximation: with σ the standard
deviation of the paired differences and P problems, the standard error is σ/√P, and a true
difference δ is detected at level α with probability

    power = Φ(|δ|/SE − z) + Φ(−|δ|/SE − z)          z = Φ⁻¹(1 − α/2)

The noise from drawing n samples of a problem is in σ; more samples shrink that part, more problems
shrink all of it (Miller, arXiv:2411.00640, Section 5).
"""

from __future__ import annotations

import math
from statistics import NormalDist

NORMAL = NormalDist()


def detectable_difference(stderr: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest true difference that is detected with this power.

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
        stderr: Standard error of the paired difference in the pilot, over problems alone: more
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


def _reach(power: float, level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not level / 2 < power < 1:
        raise ValueError(f"power must be in (level/2, 1) = ({level / 2:g}, 1), got {power}")
    return NORMAL.inv_cdf(1 - level / 2) + NORMAL.inv_cdf(power)
