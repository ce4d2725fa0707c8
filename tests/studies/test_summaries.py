from __future__ import annotations

import numpy as np
import pytest

from studies.summaries import geometric_interval, mean_interval, moving_average


def test_intervals_hold_their_mean_and_shrink_with_seeds():
    rng = np.random.default_rng(0)
    few, many = (mean_interval(rng.normal(3, 1, size=(n, 2))) for n in (10, 1000))
    assert ((few.low < few.mean) & (few.mean < few.high)).all()
    assert (many.high - many.low < (few.high - few.low) / 3).all()
    assert ((many.low < 3) & (many.high > 3)).all()


def test_geometric_means_are_those_of_logs():
    found = geometric_interval([[1.0, 8.0], [4.0, 2.0]])
    np.testing.assert_allclose(found.mean, [2.0, 4.0])
    reach = 12.706205 * np.std(np.log([1.0, 4.0]), ddof=1) / np.sqrt(2)
    np.testing.assert_allclose(found.high / found.mean, np.exp(reach), rtol=1e-5)
    np.testing.assert_allclose(found.mean / found.low, np.exp(reach), rtol=1e-5)


def test_intervals_cover_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = mean_interval(rng.normal(size=(40, 500)))
    covered = ((found.low < 0) & (found.high > 0)).mean()
    assert 0.9 < covered < 0.98


def test_one_seed_has_no_interval():
    with pytest.raises(ValueError, match="at least 2 runs, got 1"):
        mean_interval([[1.0, 2.0]])


@pytest.mark.parametrize("window", [1, 3, 10])
def test_moving_average_is_the_mean_of_the_last_values(window):
    values = np.random.default_rng(0).normal(size=(2, 8))
    slow = [[row[max(0, t - window + 1) : t + 1].mean() for t in range(8)] for row in values]
    np.testing.assert_allclose(moving_average(values, window), slow)


def test_plain_data_has_four_digits():
    assert mean_interval([[1.23456], [1.23456]]).as_lists()["mean"] == [1.235]
