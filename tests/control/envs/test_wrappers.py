"""What wrappers know of the episode is set back; what they gather over episodes is not."""

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
from gymnasium import wrappers  # noqa: E402

from setrl.control import check_resettable, make_resettable  # noqa: E402


class CountsSteps(gym.Wrapper):
    """An unknown wrapper: its counter is plain data, its function is not."""

    def reset(self, **options):
        self.count, self.how = 0, lambda x: x + self.count
        return self.env.reset(**options)

    def step(self, action):
        self.count += 1
        observation, reward, *rest = self.env.step(action)
        return self.how(observation), reward, *rest


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.FrameStackObservation(env, 3),
        lambda env: wrappers.DelayObservation(env, 2),
        wrappers.TimeAwareObservation,
        wrappers.RecordEpisodeStatistics,
        lambda env: wrappers.StickyAction(env, 0.4),
        lambda env: wrappers.MaxAndSkipObservation(env, 2),
        lambda env: wrappers.FrameStackObservation(wrappers.TimeAwareObservation(env), 2),
        CountsSteps,
    ],
)
def test_state_of_wrappers(wrap):
    make = lambda: wrap(gym.make("Pendulum-v1", max_episode_steps=50))  # noqa: E731
    check_resettable(make(), trials=4, another=make())


def test_a_monitor_of_stable_baselines():
    monitor = pytest.importorskip("stable_baselines3.common.monitor").Monitor
    env = make_resettable(monitor(gym.make("MountainCar-v0", max_episode_steps=5)))
    env.reset(seed=0)
    env.step(0)
    state = env.snapshot()
    for _ in range(2):
        env.restore(state)
        for _ in range(4):
            *_, info = env.step(0)
        assert (info["episode"]["r"], info["episode"]["l"]) == (-5, 5)


def test_episode_statistics_count_the_whole_episode_and_keep_their_queues():
    env = make_resettable(
        wrappers.RecordEpisodeStatistics(gym.make("MountainCar-v0", max_episode_steps=5))
    )
    env.reset(seed=0)
    env.step(0)
    state = env.snapshot()
    for finished in (1, 2, 3):
        env.restore(state)
        for _ in range(4):
            *_, info = env.step(0)
        assert (info["episode"]["r"], info["episode"]["l"]) == (-5, 5)
        assert len(env.get_wrapper_attr("return_queue")) == finished


def test_running_normalisers_are_shared_and_not_set_back():
    normal = wrappers.NormalizeReward(wrappers.NormalizeObservation(gym.make("Pendulum-v1")))
    env = make_resettable(normal)
    env.reset(seed=0)
    state = env.snapshot()
    for _ in range(10):
        env.step(np.zeros(1))
    seen = normal.env.obs_rms.count
    discounted = normal.discounted_reward
    env.restore(state)
    assert normal.env.obs_rms.count == seen
    assert normal.discounted_reward != discounted, "the return so far belongs to the episode"
