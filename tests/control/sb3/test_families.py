"""Families: trunks from resets, vines from states of theirs, as many steps as are needed."""

import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from setrl.control.sb3.families import FamilySampler, Vines
from setrl.control.sb3.rollouts import VinePool
from tests.control.goals import Goals, goal


def drawn(num_steps: int, seed: int = 0, **options: Any) -> tuple[list[Any], FamilySampler]:
    vines = Vines(options.pop("make_env", Goals), label=goal, **{"num_vines": 3, **options})
    rng, choices = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    sampler = FamilySampler(vines, VinePool(vines.make_env, 4, rng), rng)

    def act(seen: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        return choices.integers(0, 4, len(seen)), {}

    families = sampler(num_steps, act)
    return families, sampler


@pytest.mark.parametrize("where", ["equal", "inner", "uniform"])
def test_vines_leave_the_states_of_their_trunk(where: Any) -> None:
    families, _ = drawn(300, where=where, num_states=2)
    for family in families:
        assert len(family.times) == min(2, len(family.trunk))
        for time, vines in zip(family.times, family.vines_BN, strict=True):
            assert len(vines) == 3
            for vine in vines:
                np.testing.assert_array_equal(vine.observations[0], family.trunk.observations[time])
                assert vine.terminated or len(vine) == 20 - time


def test_whole_episodes_are_what_the_environment_would_have_given() -> None:
    families, _ = drawn(200, num_states=3)
    for family in families:
        for episode in (one for row in family.episodes_BN() for one in row):
            env = Goals()
            seen, _ = env.reset(seed=family.reset_seed)
            for step, action in enumerate(episode.actions_T):
                np.testing.assert_array_equal(seen, episode.observations[step])
                seen, reward, ended, _, info = env.step(action)
                assert reward == episode.rewards_T[step]
            assert ended == episode.terminated
            assert info.get("goal", -1) == goal(episode)


def test_a_trunk_that_is_a_member_takes_the_place_of_a_vine() -> None:
    families, sampler = drawn(300, trunk="member", num_states=2)
    assert sum(family.num_steps for family in families) == sampler.pool.steps
    for family in families:
        for time, (rest, *fresh) in zip(family.times, family.vines_BN, strict=True):
            assert len(fresh) == 2
            assert len(rest) == len(family.trunk) - time
            np.testing.assert_array_equal(rest.actions_T, family.trunk.actions_T[time:])
            np.testing.assert_array_equal(rest.observations, family.trunk.observations[time:])
        for row in family.episodes_BN():
            np.testing.assert_array_equal(row[0].actions_T, family.trunk.actions_T)
            assert goal(row[0]) == goal(family.trunk)


def test_every_step_is_counted_and_no_family_more_is_started() -> None:
    families, sampler = drawn(500)
    steps = [family.num_steps for family in families]
    assert sum(steps) == sampler.pool.steps
    assert sum(steps[:-1]) < 500 <= sum(steps)
    assert sampler.family_steps == pytest.approx(np.mean(steps))


def test_a_known_length_of_families_fills_an_update_in_few_rounds() -> None:
    _, sampler = drawn(500)
    began = sampler.pool.steps
    sampler(500, lambda seen, _: (np.zeros(len(seen), int), {}))
    assert 500 <= sampler.pool.steps - began < 1000


def test_a_short_first_family_does_not_fill_the_update_with_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, sampler = drawn(1)
    lengths = iter([2, *[10] * 500])
    monkeypatch.setattr(
        sampler,
        "families",
        lambda count, *_: [SimpleNamespace(num_steps=next(lengths)) for _ in range(count)],
    )
    sampler.family_steps = None
    found = sampler(512, lambda *_: None)
    assert 512 <= sum(family.num_steps for family in found) < 600


def test_the_same_generators_give_the_same_families() -> None:
    first, second = drawn(200)[0], drawn(200)[0]
    assert [family.reset_seed for family in first] == [family.reset_seed for family in second]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.trunk.observations, other.trunk.observations)


class Endless(Goals):
    """Never over, and without a time limit."""

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """No end."""
        seen, reward, _, _, info = super().step(action)
        return seen, reward, False, False, info


def test_vines_that_do_not_end_are_cut() -> None:
    families, _ = drawn(50, make_env=Endless, max_steps=7, num_states=1)
    every = [families[0].trunk, *families[0].vines_BN[0]]
    assert all(len(one) == 7 and one.truncated and not one.terminated for one in every)


def test_episodes_without_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, sampler = drawn(50)
    monkeypatch.setattr(sampler, "families", lambda *_: [])
    with pytest.raises(RuntimeError, match="before their first step"):
        sampler(50, lambda *_: None)


class Heavy(Endless):
    """Every state is a tenth of a megabyte."""

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """The start."""
        self.field = np.zeros(12_500)
        return super().reset(**options)


def test_of_a_long_trunk_few_states_are_held_at_a_time() -> None:
    tracemalloc.start()
    try:
        drawn(1, make_env=Heavy, max_steps=400, num_states=2, num_vines=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10e6, "400 states are 40 MB, 32 are 3"
