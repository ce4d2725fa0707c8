"""Vines grow together, each to its own end; the batch is made of the live ones only."""

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")

from setrl.control import VinePool  # noqa: E402


class Line(gym.Env):
    """Walks right from 0; ends at `length`; the reward is the place, and 3 pays NaN."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,))

    def __init__(self, length=5):
        self.length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = (options or {}).get("place", 0)
        return self._see(), {"place": self.place}

    def step(self, action):
        assert self.place < self.length, "stepped after the end"
        self.place += int(action)
        reward = float("nan") if self.place == 3 else float(self.place)
        return self._see(), reward, self.place >= self.length, False, {"place": self.place}

    def _see(self):
        return np.array([self.place, self.np_random.random()])


def pool(num_envs=3, seed=0, make_env=Line):
    return VinePool(make_env, num_envs, np.random.default_rng(seed))


def right(observations, vines):
    return np.ones(len(vines), dtype=int), {"vine": vines, "seen": observations[:, 0]}


def starts(of, places):
    return [of.start([0], {"place": place})[0] for place in places]


def test_each_vine_ends_on_its_own():
    grown = pool()
    vines = grown.run(starts(grown, [0, 2, 4, 1]), right, 100)
    assert [len(vine) for vine in vines] == [5, 3, 1, 4]
    assert grown.steps == 13
    first = vines[0]
    assert first.observations[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert first.actions_T.tolist() == [1, 1, 1, 1, 1]
    assert [info["place"] for info in first.infos] == [0, 1, 2, 3, 4, 5]
    assert first.extras["seen"].tolist() == [0, 1, 2, 3, 4]
    assert all((vine.extras["vine"] == i).all() for i, vine in enumerate(vines))
    assert all(vine.terminated and not vine.truncated for vine in vines)


def test_the_policy_sees_live_vines_only_and_places_are_filled():
    batches = []

    def act(observations, vines):
        batches.append(vines.tolist())
        return right(observations, vines)

    grown = pool(num_envs=2)
    grown.run(starts(grown, [3, 0, 4]), act, 100)
    assert batches == [[0, 1], [0, 1], [1, 2], [1], [1]]


def test_the_noise_does_not_depend_on_the_number_of_environments():
    grown = []
    for num_envs in (1, 2, 7):
        here = pool(num_envs)
        grown.append(here.run(starts(here, [0, 3, 1, 2, 0]), right, 100))
    for vines in grown[1:]:
        for ours, theirs in zip(vines, grown[0], strict=True):
            assert (ours.observations == theirs.observations).all()


def test_vines_of_one_state_do_not_share_noise_and_a_generator_names_it():
    def noise(seed):
        here = pool(seed=seed)
        return [v.observations[1:, 1] for v in here.run(starts(here, [0]) * 4, right, 2)]

    assert len({each.tobytes() for each in noise(0)}) == 4
    assert np.array_equal(noise(0), noise(0))
    assert not np.array_equal(noise(0), noise(1))


def test_a_missing_reward_stays_missing():
    grown = pool()
    passing, beyond = grown.run(starts(grown, [1, 3]), right, 100)
    assert np.array_equal(passing.rewards_T, [2, np.nan, 4, 5], equal_nan=True)
    assert np.isnan(passing.total_reward)
    assert beyond.total_reward == 9


def test_an_episode_that_is_over_gives_a_vine_of_no_steps():
    grown = pool()
    (whole,) = grown.run(starts(grown, [0]), right, 100)
    steps = grown.steps
    middle, last = grown.states(whole, [3, 5])
    none, two = grown.run([last, middle], right, 100)
    assert (len(none), none.terminated, none.truncated, none.total_reward) == (0, True, False, 0)
    assert none.observations.shape == (1, 2)
    assert len(two) == 2
    assert grown.steps == steps + 2
    assert len(grown.run([last], right, 100)[0]) == 0


def test_a_vine_that_does_not_end_is_cut_and_can_be_gone_on_from():
    grown = pool()
    stay = lambda _, vines: (np.zeros(len(vines), dtype=int), {})  # noqa: E731
    (vine,) = grown.run(starts(grown, [2]), stay, 7)
    assert (len(vine), vine.terminated, vine.truncated) == (7, False, True)
    (last,) = grown.states(vine, [7])
    assert not last.ended, "the cut is the pool's, not the environment's"
    assert len(grown.run([last], right, 100)[0]) == 3


def test_an_end_at_the_cut_is_an_end():
    grown = pool()
    (vine,) = grown.run(starts(grown, [0]), right, 5)
    assert (vine.terminated, vine.truncated) == (True, False)


def test_the_environment_s_own_time_limit_truncates():
    grown = pool(make_env=lambda: gym.wrappers.TimeLimit(Line(), 2))
    (vine,) = grown.run(starts(grown, [0]), right, 100)
    assert (len(vine), vine.terminated, vine.truncated) == (2, False, True)
    assert grown.states(vine, [2])[0].ended


def test_vines_leave_the_states_on_the_way():
    grown = pool()
    (vine,) = grown.run(starts(grown, [0]), right, 100)
    states = grown.states(vine, range(6))
    assert [int(state.observation[0]) for state in states] == [0, 1, 2, 3, 4, 5]
    branches = grown.run(states[:-1], right, 100)
    assert [len(branch) for branch in branches] == [5, 4, 3, 2, 1]


def test_observations_of_several_parts_are_stacked_by_part():
    pytest.importorskip("minigrid")
    grown = pool(make_env=lambda: gym.make("MiniGrid-Empty-5x5-v0"))

    def act(observations, vines):
        assert observations["image"].shape == (len(vines), 7, 7, 3)
        assert observations["mission"].shape == (len(vines),)
        return np.full(len(vines), 2), {}

    vines = grown.run(grown.start([1, 2, 3]), act, 4)
    assert [vine.observations["direction"].shape for vine in vines] == [(5,)] * 3


def test_bad_input():
    grown = pool()
    assert grown.run([], right, 5) == []
    with pytest.raises(ValueError, match="max_steps must be at least 1, got 0"):
        grown.run(starts(grown, [0]), right, 0)
    with pytest.raises(ValueError, match="one action for each of 2 live vines"):
        grown.run(starts(grown, [0, 0]), lambda o, v: (np.ones(1), {}), 5)
    with pytest.raises(ValueError, match="num_envs must be at least 1, got 0"):
        pool(0)


@pytest.mark.parametrize("times", [range(42), [0], [7, 40], []])
def test_states_are_reached_again_with_their_noise(times):
    here = pool(make_env=lambda: Line(length=41))
    _, vine = here.run(starts(here, [9, 0]), right, 100)
    steps = here.steps
    states = here.states(vine, times)
    for time, state in zip(times, states, strict=True):
        assert state.ended == (time == len(vine))
        assert (state.observation == vine.observations[time]).all()
        assert state.info == vine.infos[time]
        if time < len(vine):
            here.envs[2].restore(state, rng="keep")
            assert (here.envs[2].step(1)[0] == vine.observations[time + 1]).all()
    assert here.steps == steps, "repeated steps are counted once"


def test_repeated_steps_add_nothing_to_statistics():
    here = pool(1, make_env=lambda: gym.wrappers.NormalizeObservation(Line(length=41)))
    (vine,) = here.run(here.start([0]), right, 100)
    statistics = here.envs[0].env.obs_rms
    count, mean = statistics.count, statistics.mean.copy()
    (state,) = here.states(vine, [39])
    assert (state.observation == vine.observations[39]).all(), "as it was seen"
    assert here.envs[0].env.obs_rms is statistics, "others may share it"
    assert (statistics.count, statistics.mean.tolist()) == (count, mean.tolist())


class Drifting(Line):
    """Sees what no snapshot holds."""

    clock = 0

    def _see(self):
        Drifting.clock += 1
        return np.array([self.place, Drifting.clock])


def test_an_environment_that_does_not_repeat_itself_is_refused():
    here = pool(1, make_env=lambda: Drifting(length=41))
    (vine,) = here.run(here.start([0]), right, 100)
    with pytest.raises(TypeError, match="not set back exactly: find out why"):
        here.states(vine, [39])
