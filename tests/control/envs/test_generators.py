"""Every generator is saved, set back and forked, wherever an environment holds it."""

import pickle
import random
from functools import partial

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch")

from setrl.control import check_resettable, make_resettable  # noqa: E402
from setrl.control.envs.adapters import NotResettableError  # noqa: E402
from setrl.control.envs.checks import ResetMismatchError  # noqa: E402


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


def test_all_kinds_are_set_back_and_forked():
    env = make_resettable(ThreeGenerators())
    check_resettable(env, actions=8, trials=3)
    env.reset(seed=0)
    state = env.snapshot()
    first, again, other = ((env.restore(state, rng=s), env.step(0)[0])[1] for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all(), "each of the four has a new stream"
    assert env.unwrapped.alias["deep"] is env.unwrapped.mersenne


class Game:
    """An environment whose noise is in a separate object."""

    def __init__(self, rng):
        self.rng, self.place = rng, 0


class Slotted:
    __slots__ = ("rng",)

    def __init__(self, rng):
        self.rng = rng


def closed_over(rng):
    return lambda: rng


GENERATORS = {
    "python": random.Random,
    "numpy": np.random.default_rng,
    "old": np.random.RandomState,
    "bits": np.random.PCG64,
    "torch": lambda seed: torch.Generator().manual_seed(seed),
}
DRAW = {
    "python": lambda rng: rng.randrange(10**6),
    "numpy": lambda rng: rng.integers(10**6),
    "old": lambda rng: rng.randint(10**6),
    "bits": lambda rng: np.random.Generator(rng).integers(10**6),
    "torch": lambda rng: int(torch.randint(10**6, (), generator=rng)),
}
HOLDS = {  # where the generator is, and how the shell gets at it
    "object": (Game, lambda held: held.rng),
    "slots": (Slotted, lambda held: held.rng),
    "list": (lambda rng: [0, [Game(rng)]], lambda held: held[1][0].rng),
    "dict": (lambda rng: {"games": {"a": (rng,)}}, lambda held: held["games"]["a"][0]),
    "array": (lambda rng: np.array([None, Game(rng)]), lambda held: held[1].rng),
    "partial": (lambda rng: partial(Game, rng), lambda held: held.args[0]),
    "closure": (closed_over, lambda held: held()),
}


class Shell(gym.Env):
    """A thin shell around what holds the noise."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(0, 10**6, (1,))

    def __init__(self, kind, where):
        self.kind, self.where = kind, where

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.held = HOLDS[self.where][0](GENERATORS[self.kind](seed or 0))
        return np.zeros(1), {}

    def step(self, action):
        drawn = DRAW[self.kind](HOLDS[self.where][1](self.held))
        return np.array([drawn], float), 0.0, False, False, {}


@pytest.mark.parametrize(
    ("kind", "where"),
    [*((kind, "list") for kind in GENERATORS), *(("python", where) for where in HOLDS)],
)
def test_nested_noise_is_set_back_and_forked(kind, where):
    env = make_resettable(Shell(kind, where))
    env.reset(seed=1)
    if where == "closure":
        with pytest.raises(NotResettableError, match="cannot be pickled"):
            env.snapshot()
        return
    check_resettable(env, actions=5, trials=3)
    env.reset(seed=1)
    state = env.snapshot()
    kept = {(env.restore(state, rng="keep"), env.step(0)[0].item())[1] for _ in range(4)}
    forked = {(env.restore(state), env.step(0)[0].item())[1] for _ in range(8)}
    assert (len(kept), len(forked)) == (1, 8)


class OwnShell(Shell):
    """Sets itself back, and forgets to fork."""

    def reset(self, *, seed=None, options=None):
        self.held = Game(np.random.default_rng(seed))
        return np.zeros(1), {}

    def snapshot(self):
        return pickle.dumps(self.held)

    def restore(self, snapshot, *, rng="fork"):
        self.held = pickle.loads(snapshot)
        return np.zeros(1), {}


def test_nested_noise_that_an_environment_of_its_own_shares_is_seen():
    with pytest.raises(ResetMismatchError, match=r"rng=1 and with rng=2 the generator held\.rng"):
        check_resettable(OwnShell("numpy", "object"), actions=5, trials=2)


class Wrapped(gym.Wrapper):
    """A wrapper whose noise is nested, too."""

    def __init__(self, env):
        super().__init__(env)
        self.noise = {"observation": np.random.default_rng(0)}

    def step(self, action):
        observation, *others = self.env.step(action)
        return observation + self.noise["observation"].random(), *others


def test_nested_noise_of_a_wrapper_is_forked():
    env = make_resettable(Wrapped(gym.make("CartPole-v1")))
    check_resettable(env, actions=5, trials=3)
    env.reset(seed=1)
    state = env.snapshot()
    assert len({(env.restore(state), env.step(0)[0][0].item())[1] for _ in range(8)}) == 8


def test_noise_of_the_operating_system_is_refused():
    class Secret(Shell):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.held = Game(random.SystemRandom())
            return np.zeros(1), {}

    with pytest.raises(NotResettableError, match=r"cannot be pickled .System entropy"):
        check_resettable(make_resettable(Secret("python", "object")))
