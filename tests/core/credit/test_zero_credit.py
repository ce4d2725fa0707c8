"""Poly-EPO gives exactly nothing where all samples are right and distinct."""

import numpy as np
import pytest

from setrl import methods


@pytest.mark.parametrize(
    ("num_samples", "set_size"), [(5, 2), (8, 2), (7, 3), (8, 4), (16, 4), (32, 8), (64, 5)]
)
def test_credit_is_exactly_zero_where_all_are_right_and_distinct(num_samples, set_size):
    rewards_BN, strategies_BN = np.ones((1, num_samples)), np.arange(num_samples)[None]
    found = methods.poly_epo(set_size).advantages(rewards_BN, strategies=strategies_BN)
    np.testing.assert_array_equal(found.values_BN, np.zeros((1, num_samples)))
