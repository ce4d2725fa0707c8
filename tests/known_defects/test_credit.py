"""The doors of the core: what a user's objective, labels and groups may be."""

import warnings

import numpy as np
import pytest

from setrl import Method, grouped_advantages, set_advantages
from setrl.core import methods, objectives


def hollow(rewards):
    """An objective with a hole: undefined for every set without a reward."""
    return np.where(rewards.max(-1) > 0, rewards.mean(-1), np.nan)


REWARDS = np.array([1.0, 0, 0, 1, 0])
OBJECTIVE = objectives.from_function(hollow)


@pytest.mark.xfail(strict=True, raises=pytest.fail.Exception, reason="NaN comes out, unannounced")
@pytest.mark.parametrize(
    "credit",
    [
        lambda: set_advantages(REWARDS[None], objective=OBJECTIVE, set_size=2),
        lambda: Method("own", OBJECTIVE, set_size=2).advantages(REWARDS[None]),
        lambda: grouped_advantages(REWARDS, [0] * 5, Method("own", OBJECTIVE, set_size=2)),
    ],
    ids=["set_advantages", "method", "grouped_advantages"],
)
def test_nan_of_an_objective_is_refused_by_name(credit):
    with pytest.raises(ValueError, match="hollow"):
        credit()


@pytest.mark.xfail(strict=True, raises=ValueError, reason="clusters must hold numbers")
@pytest.mark.parametrize("kind", [list, np.array])
def test_clusters_may_be_names(kind):
    rewards, groups, method = np.array([1.0, 0, 1, 0]), ["a"] * 4, methods.poly_epo(2)
    named = grouped_advantages(rewards, groups, method, clusters=kind(["x", "y", "x", "z"]))
    numbered = grouped_advantages(rewards, groups, method, clusters=[0, 1, 0, 2])
    np.testing.assert_array_equal(named, numbered)


@pytest.mark.xfail(strict=True, raises=ValueError, reason="set_size must be an integer in [1, …]")
@pytest.mark.parametrize(
    ("groups", "set_size"), [(["a", "b", "c", "d"], 2), (["a", "a", "b", "b"], 4)]
)
def test_groups_that_are_all_too_small_give_zeros_and_a_warning(groups, set_size):
    method, rewards, labels = methods.poly_epo(set_size), np.array([1.0, 0, 1, 0]), np.arange(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values_M = grouped_advantages(rewards, groups, method, clusters=labels)
    np.testing.assert_array_equal(values_M, np.zeros(4))
    assert caught


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="rounding error of the closed form")
@pytest.mark.parametrize(
    ("num_samples", "set_size"), [(5, 2), (8, 2), (7, 3), (8, 4), (16, 4), (32, 8), (64, 5)]
)
def test_credit_is_exactly_zero_where_all_are_right_and_distinct(num_samples, set_size):
    rewards_BN, clusters_BN = np.ones((1, num_samples)), np.arange(num_samples)[None]
    found = methods.poly_epo(set_size).advantages(rewards_BN, clusters=clusters_BN)
    np.testing.assert_array_equal(found.values_BN, np.zeros((1, num_samples)))
