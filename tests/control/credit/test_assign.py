"""Families → segments: which steps are owed what."""

from __future__ import annotations

import numpy as np
import pytest

from setrl import methods
from setrl.control.credit.assign import judge, segments_of
from setrl.control.credit.draw import Family
from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vines import Vines
from tests.control.goals import Goals

LENGTHS, TIMES = ((4, 9, 2), (5, 1, 7)), (0, 3)


def walk(length: int, reward: float) -> Trajectory:
    """So many steps, of which the last is rewarded."""
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
    vines_SN = [tuple(walk(length, float(length % 2)) for length in row) for row in LENGTHS]
    return Family(0, walk(8, 0.0), TIMES, tuple(vines_SN))


@pytest.mark.parametrize("reading", ["marginal", "action", "shared", "bonus", "reward"])
@pytest.mark.parametrize("window", [0, 2, None])
def test_a_vine_is_owed_its_advantage_in_steps_0_to_w(reading: str, window: int | None) -> None:
    options = {"num_vines": 3, "window": window, "reading": reading}
    vines = Vines(Goals, **options)  # type: ignore[arg-type]
    method, rng = methods.maxpo(2), np.random.default_rng(0)
    judged = judge([family()], method, vines)
    (seed, *own), owed_BN = segments_of([family()], judged, method, vines, rng)
    assert seed.owed == ()
    assert [len(one.trajectory) for one in own] == [length for row in LENGTHS for length in row]
    for segment, value in zip(own, owed_BN.ravel(), strict=True):
        if np.isnan(value):
            assert segment.owed == ()
            continue
        (owed,) = segment.owed
        assert (owed.value, owed.start) == (value, 0)
        assert owed.stop == (None if window is None else window + 1)
        assert owed.how == {"bonus": "adds", "reward": "rewards"}.get(reading, "replaces")


@pytest.mark.parametrize(("window", "stops"), [(0, [1, 4]), (2, [3, 6]), (None, [None, None])])
def test_a_seed_is_owed_the_best_sets_gain_from_each_state_on(
    window: int | None, stops: list[int | None]
) -> None:
    vines = Vines(Goals, num_vines=3, window=window, reading="seed")
    method, rng = methods.maxpo(2), np.random.default_rng(0)
    judged = judge([family()], method, vines)
    (seed, *own), owed_BN = segments_of([family()], judged, method, vines, rng)
    assert [owed.start for owed in seed.owed] == list(TIMES)
    assert [owed.stop for owed in seed.owed] == stops
    assert all(owed.value >= 0 for owed in seed.owed)
    assert np.isnan(owed_BN).all()
    assert all(one.owed == () for one in own)
