"""Snapshots and restores: the future is the same with "keep", another with "fork"."""

import pickle
import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")

from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from setrl.control import Resettable, check_resettable, make_resettable  # noqa: E402
from setrl.control.envs.adapters import NotResettableError  # noqa: E402

TOYS = ["CartPole-v1", "FrozenLake-v1", "CliffWalking-v1", "Blackjack-v1", "Acrobot-v1"]


def lake(**options):
    """A slippery lake without holes: every step draws from the generator, no episode ends soon."""
    desc = ["SFFFFFFF"] + 6 * ["FFFFFFFF"] + ["FFFFFFFG"]
    return gym.make("FrozenLake-v1", desc=desc, **options)


def places(env, steps=20):
    return [int(env.step(1)[0]) for _ in range(steps)]


@pytest.mark.parametrize("backend", ["auto", "pickle"])
@pytest.mark.parametrize("name", TOYS)
def test_the_future_is_the_same_to_the_bit(name, backend):
    env = make_resettable(gym.make(name), backend)
    check_resettable(env, trials=4, another=make_resettable(gym.make(name), backend))


def test_the_future_is_that_of_a_deep_copy():
    env = make_resettable(lake())
    env.reset(seed=0)
    places(env, 5)
    twin, state = deepcopy(env.env), env.snapshot()
    places(env, 30)
    env.reset(seed=4)
    env.restore(state, rng="keep")
    assert places(env) == places(twin)


def test_restore_gives_back_what_was_seen():
    env = make_resettable(gym.make("CartPole-v1"))
    env.reset(seed=0)
    observation, *_, info = env.step(1)
    state, expected = env.snapshot(), observation.copy()
    observation[:] = 0
    for _ in range(2):
        seen, known = env.restore(state)
        assert (seen == expected).all()
        assert known == info
        seen[:] = 0  # the caller's array is the caller's


def test_forks_differ_and_a_fork_seed_names_them_all():
    def futures(fork_seed):
        env = make_resettable(lake(), fork_seed=fork_seed)
        env.reset(seed=0)
        state = env.snapshot()
        return [(env.restore(state), places(env))[1] for _ in range(4)]

    named = futures(7)
    assert len(set(map(tuple, named))) == 4
    assert futures(7) == named
    assert futures(8) != named
    assert futures(None) != futures(None)


def test_a_seed_names_the_noise_in_every_instance():
    env, other = make_resettable(lake()), make_resettable(lake())
    env.reset(seed=0)
    state = env.snapshot()
    futures = []
    for instance, seed in [(env, 3), (other, 3), (env, 4)]:
        instance.restore(state, rng=seed)
        futures.append(places(instance))
    assert futures[0] == futures[1] != futures[2]


def test_forks_spread_as_fresh_noise_does():
    # A slippery lake goes each of three ways with chance 1/3; saved noise would go one way only.
    env = make_resettable(lake(), fork_seed=0)
    env.reset(seed=0)
    row = column = 0
    while not (0 < row < 7 and 0 < column < 7):
        row, column = divmod(int(env.step(1)[0]), 8)
    state = env.snapshot()
    counts = np.bincount([(env.restore(state), places(env, 1)[0])[1] for _ in range(300)])
    assert sorted(counts[counts > 0]) == pytest.approx([100, 100, 100], abs=30)


def test_a_pickled_snapshot_holds_no_environment():
    env = make_resettable(lake())
    env.reset(seed=0)
    assert len(pickle.dumps(env.snapshot())) < 5000


def test_the_time_limit_is_set_back():
    env = make_resettable(gym.make("MountainCar-v0", max_episode_steps=10))
    env.reset(seed=0)
    for _ in range(7):
        env.step(0)
    state = env.snapshot()
    for _ in range(2):
        env.restore(state)
        assert [env.step(0)[3] for _ in range(3)] == [False, False, True]
    assert env.snapshot().ended


def test_snapshots_of_others_are_refused():
    env, other = make_resettable(lake()), make_resettable(gym.make("CartPole-v1"))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"FrozenLake.*cannot be restored into.*CartPole"):
        other.restore(env.snapshot())
    with pytest.raises(ValueError, match="cannot be restored"):
        make_resettable(lake(), "pickle").restore(env.snapshot())


@pytest.mark.parametrize("rng", ["other", -1, 1.5, None])
def test_an_unknown_rng_is_refused(rng):
    env = make_resettable(lake())
    env.reset(seed=0)
    with pytest.raises(ValueError, match='rng must be "keep", "fork" or a seed'):
        env.restore(env.snapshot(), rng=rng)


def test_a_snapshot_needs_a_state():
    with pytest.raises(RuntimeError, match="reset"):
        make_resettable(lake()).snapshot()


def test_an_unknown_backend_is_answered_with_the_known():
    with pytest.raises(ValueError, match="did you mean 'pickle'"):
        make_resettable(lake(), "pickel")


class Unpicklable(gym.Env):
    """An environment with its state in a running generator function, which nothing can copy."""

    action_space = observation_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock = None
        self.count = iter(x for x in range(10**6))
        return next(self.count) % 2, {}

    def step(self, action):
        return next(self.count) % 2, 0.0, False, False, {}


def test_what_cannot_be_set_back_is_refused_with_what_to_implement():
    env = Unpicklable()
    env.reset()
    with pytest.raises(NotResettableError, match=r"Unpicklable.*snapshot\(\).*restore\("):
        make_resettable(env)
    with pytest.raises(NotResettableError, match="no own state"):
        make_resettable(env, "own")


def test_what_becomes_unpicklable_later_is_refused_by_the_check():
    with pytest.raises(NotResettableError, match=r"snapshot\(\)"):
        check_resettable(Unpicklable())


class OwnMethods(gym.Env):
    """An environment with noise where only the environment finds it."""

    action_space, observation_space = gym.spaces.Discrete(2), gym.spaces.Discrete(1000)

    def reset(self, *, seed=None, options=None):
        self.noise = {"stream": np.random.default_rng(seed)}
        return 0, {}

    def step(self, action):
        return int(self.noise["stream"].integers(1000)), 1.0, False, False, {}

    def snapshot(self):
        return self.noise["stream"].bit_generator.state

    def restore(self, snapshot, *, rng="fork"):
        stream = np.random.default_rng(None if rng in ("keep", "fork") else rng)
        if rng == "keep":
            stream.bit_generator.state = snapshot
        self.noise = {"stream": stream}
        return 0, {}


def test_own_methods_are_used_and_get_the_noise():
    env = make_resettable(gym.wrappers.TimeLimit(OwnMethods(), 50))
    check_resettable(env, trials=3)
    assert isinstance(env.unwrapped, Resettable)
    env.reset(seed=0)
    state = env.snapshot()
    futures = [(env.restore(state, rng=seed), places(env))[1] for seed in (1, 1, 2)]
    assert futures[0] == futures[1] != futures[2]


def test_every_block_of_the_guide_runs():
    guide = Path(__file__).parents[3] / "docs" / "resettable.md"
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(), re.DOTALL)
    assert len(blocks) == 5
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, str(guide), "exec"), namespace)
    assert len(namespace["vines"]) == 8
    mine = namespace["Mine"]()
    mine.board, mine.observe = np.zeros(2), lambda: 0
    mine.restore(mine.snapshot(), rng=3)
    assert isinstance(mine, Resettable)


class Counted(gym.Wrapper):
    """Knows the state of what is below it."""

    def reset(self, **how):
        self.drawn = 1
        return self.env.reset(**how)

    def step(self, action):
        self.drawn += 1
        return self.env.step(action)

    def snapshot(self):
        return self.drawn

    def restore(self, snapshot, *, rng="fork"):
        self.drawn, self.env.count = snapshot, iter(range(snapshot, 10**6))
        return (snapshot - 1) % 2, {}


def test_a_wrapper_may_set_back_what_is_below_it():
    env = make_resettable(gym.wrappers.TimeLimit(Counted(Unpicklable()), 50))
    check_resettable(env, trials=3)
    env.reset()
    state = env.snapshot()
    lengths = []
    for _ in range(2):
        env.restore(state)
        lengths.append(next(t for t in range(100) if env.step(0)[3]))
    assert lengths == [49, 49]  # the time limit further out is set back too


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (lambda: DummyVecEnv([lambda: gym.make("CartPole-v1")]), "a DummyVecEnv is several env"),
        (lambda: gym.make_vec("CartPole-v1", 2), "VectorEnv is several environments in one: give"),
        (lambda: "CartPole-v1", "a str is no environment of Gymnasium: give one, such as gym.make"),
    ],
)
def test_what_is_not_one_environment_is_refused(env, message):
    with pytest.raises(ValueError, match=message):
        make_resettable(env())
