"""Every generator that is an attribute is saved, set back in place, and forked."""

import random

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")

from setrl.control import check_resettable, make_resettable  # noqa: E402


class ThreeGenerators(gym.Env):
    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(0, 1, (4,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.old = np.random.RandomState(seed)
        self.python = random.Random(seed)
        self.mersenne = np.random.Generator(np.random.MT19937(seed))
        self.alias = {"deep": self.mersenne}
        return self._draw(), {}

    def step(self, action):
        return self._draw(), 0.0, False, False, {}

    def _draw(self):
        draws = [self.old.rand(), self.python.random(), self.alias["deep"].random()]
        return np.array([*draws, self.np_random.random()])


@pytest.mark.parametrize("backend", ["pickle", "replay"])
def test_all_kinds_are_set_back_and_forked(backend):
    env = make_resettable(ThreeGenerators(), backend)
    check_resettable(env, actions=8, trials=3)
    env.reset(seed=0)
    state = env.snapshot()
    first, again, other = ((env.restore(state, rng=s), env.step(0)[0])[1] for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all(), "each of the four has a new stream"
    assert env.unwrapped.alias["deep"] is env.unwrapped.mersenne


def test_a_fork_is_replayed():
    # Where one stands on a slippery lake depends on all noise since the reset.
    env = make_resettable(gym.make("FrozenLake-v1", desc=8 * ["SFFFFFFF"]), "replay")
    env.reset(seed=0)
    start = env.snapshot()
    for seed in range(5):
        env.restore(start, rng=seed)
        for _ in range(6):
            env.step(1)
        state = env.snapshot()
        future = [env.step(1)[0] for _ in range(6)]
        env.restore(state, rng="keep")
        assert [env.step(1)[0] for _ in range(6)] == future


def test_replay_needs_no_seed_from_the_caller():
    env = make_resettable(gym.make("FrozenLake-v1"), "replay")
    env.reset(seed=1)
    env.reset()
    first = env.snapshot()
    env.reset()
    assert env.snapshot().state[0] != first.state[0]
    assert env.restore(first)[0] == first.observation
