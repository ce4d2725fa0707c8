"""Families → segments: which steps get which set advantage."""

from __future__ import annotations

import numpy as np
import pytest

from setrl import methods
from setrl.control.sb3.advantages import segments_of
from setrl.control.sb3.families import Family, Vines, score_vines
from setrl.control.trajectories import Trajectory, rest_of_trunk
from setrl.control.vines import vine_advantages
from tests.control.goals import Goals

LENGTHS, TIMES = ((4, 9, 2), (5, 1, 7)), (0, 3)


def walk(length: int, reward: float) -> Trajectory:
    """A trajectory of so many steps; only the last is rewarded."""
    rewards_T = np.zeros(length)
    rewards_T[-1] = reward
    return Trajectory(
        observations=np.zeros((length + 1, 2)),
        actions_T=np.zeros(length, int),
        rewards_T=rewards_T,
        infos=({},) * (length + 1),
        terminated=True,
        truncated=False,
    )


def family() -> Family:
    vines_BN = [tuple(walk(length, float(length % 2)) for length in row) for row in LENGTHS]
    return Family(0, walk(8, 0.0), TIMES, tuple(vines_BN))


@pytest.mark.parametrize("credit", ["marginal", "action", "shared", "gae"])
@pytest.mark.parametrize("window", [0, None])
def test_a_vine_has_its_advantage_in_steps_0_to_w(credit: str, window: int | None) -> None:
    options = {"num_vines": 3, "window": window, "credit": credit}
    vines = Vines(Goals, **options)  # type: ignore[arg-type]
    method, rng = methods.maxpo(2), np.random.default_rng(0)
    samples, actions_BN = score_vines([family()], method, vines), np.zeros((2, 3))
    advantages_BN = vine_advantages(method, vines, samples, actions_BN, rng)
    trunk, *own = segments_of([family()], advantages_BN, window)
    assert np.isnan(trunk.own_T)
    assert [len(one.trajectory) for one in own] == [length for row in LENGTHS for length in row]
    assert np.isnan(advantages_BN).all() == (credit == "gae")
    for segment, value in zip(own, advantages_BN.ravel(), strict=True):
        steps = len(segment.trajectory)
        expected = [value if window is None or time <= window else np.nan for time in range(steps)]
        np.testing.assert_array_equal(segment.own_T, expected)


def test_a_trunk_that_is_a_member_has_set_advantages_in_its_own_steps() -> None:
    """In the window of each of its states, the later one where two overlap."""
    trunk = walk(8, 1.0)
    rows = tuple((rest_of_trunk(trunk, time), walk(4, 1.0), walk(9, 0.0)) for time in TIMES)
    member = Family(0, trunk, TIMES, rows, has_trunk=True)
    advantages_BN = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    first, *own = segments_of([member], advantages_BN, 4)
    np.testing.assert_array_equal(first.own_T, [1, 1, 1, 4, 4, 4, 4, 4])
    assert [len(one.trajectory) for one in own] == [4, 9, 4, 9]
    assert [np.nanmax(one.own_T) for one in own] == [2, 3, 5, 6]
    short, *_ = segments_of([member], advantages_BN, 1)
    np.testing.assert_array_equal(short.own_T, [1, 1, np.nan, 4, 4, np.nan, np.nan, np.nan])
    unknown, *_ = segments_of([member], np.where(advantages_BN == 4, np.nan, advantages_BN), None)
    np.testing.assert_array_equal(unknown.own_T, np.ones(8))


def test_the_trunk_counts_once() -> None:
    """Its steps are the trunk's: the price of N members is N − 1 vines."""
    trunk = walk(8, 1.0)
    member = Family(0, trunk, (0,), ((rest_of_trunk(trunk, 0), walk(4, 1.0)),), has_trunk=True)
    assert member.num_steps == 12
    assert sum(len(one.trajectory) for one in segments_of([member], np.zeros((1, 2)), None)) == 12
