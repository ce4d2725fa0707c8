"""Power against simulation and against its own inverse."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from setrl.evaluate.intervals import (
    detectable_difference,
    paired_difference,
    problems_needed,
)


def power_of(difference, stderr, level):
    """The probability that a two-sided test detects a true difference: both tails."""
    normal = NormalDist()
    z, shift = normal.inv_cdf(1 - level / 2), difference / stderr
    return normal.cdf(shift - z) + normal.cdf(-shift - z)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_the_detectable_difference_is_found_with_its_power(power, level):
    found = detectable_difference(0.03, power, level)
    assert power_of(found, 0.03, level) == pytest.approx(power, abs=1e-4)
    assert power_of(-found, 0.03, level) == pytest.approx(power, abs=1e-4)


def test_eighty_per_cent_of_paired_comparisons_find_it():
    """Intervals of simulated comparisons exclude 0 as often as their reach says."""
    rng, problems, spread = np.random.default_rng(0), 60, 0.3
    stderr = spread / math.sqrt(problems)

    def compared(difference):
        drawn = rng.normal(difference, spread, problems)
        return paired_difference(drawn, np.zeros(problems))

    reach = np.mean([np.subtract(*compared(0).ends[::-1]) / 2 for _ in range(200)])
    difference = detectable_difference(stderr, reach=float(reach))
    found = [compared(difference).excludes_zero for _ in range(2000)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)


def test_problems_needed_inverts_it():
    pilot, stderr = 30, 0.05
    for difference in (0.14, 0.05, -0.02):
        needed = problems_needed(difference, stderr, pilot)
        at_needed = stderr * math.sqrt(pilot / needed)
        assert detectable_difference(at_needed) <= abs(difference) * (1 + 1e-12)
        one_fewer = stderr * math.sqrt(pilot / (needed - 1))
        assert detectable_difference(one_fewer) > abs(difference)


def test_half_the_difference_needs_four_times_the_problems():
    assert problems_needed(0.01, 0.1, 100) / problems_needed(0.02, 0.1, 100) == pytest.approx(
        4, 1e-3
    )


def test_undefined_is_nan_or_an_error():
    assert math.isnan(detectable_difference(float("nan")))
    with pytest.raises(ValueError, match="stderr must be a number"):
        problems_needed(0.1, float("nan"), 1)
    with pytest.raises(ValueError, match="difference must not be 0"):
        problems_needed(0.0, 0.1, 30)
    with pytest.raises(ValueError, match=r"power must be in .*got 1"):
        detectable_difference(0.1, power=1.0)
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 5"):
        detectable_difference(0.1, level=5)
