"""check_resettable must catch each of these wrong ways to set an environment back."""

from dataclasses import replace

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")

from setrl.control import check_resettable, make_resettable  # noqa: E402
from setrl.control.envs.adapters import Adapter, AtariState, PickledState  # noqa: E402
from setrl.control.envs.checks import ResetMismatchError  # noqa: E402
from setrl.control.envs.resettable import ResettableEnv  # noqa: E402


class KeepsNoGenerators(ResettableEnv):
    def snapshot(self):
        state = super().snapshot()
        return replace(state, generators=tuple({} for _ in state.generators))


class KeepsNoWrappers(ResettableEnv):
    def snapshot(self):
        state = super().snapshot()
        return replace(state, wrappers=tuple({} for _ in state.wrappers))


class IgnoresRng(ResettableEnv):
    def restore(self, snapshot, *, rng="fork"):
        return super().restore(snapshot, rng="keep")


class ForgetsWhatWasSeen(ResettableEnv):
    def restore(self, snapshot, *, rng="fork"):
        observation, info = super().restore(snapshot, rng=rng)
        return np.zeros_like(observation), info


class HoldsTheEnvironment(ResettableEnv):
    def snapshot(self):
        return replace(super().snapshot(), info={"env": lambda: self})


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (KeepsNoGenerators, r"restored, generators.* differed at the restored state"),
        (IgnoresRng, r"rng=1 and with rng=2.*share its noise"),
        (HoldsTheEnvironment, r"cannot be pickled.*no reference to the environment"),
    ],
)
def test_wrong_ways_with_a_lake(wrong, sentence):
    env = gym.make("FrozenLake-v1")
    right = make_resettable(env)
    check_resettable(right)
    with pytest.raises(ResetMismatchError, match=sentence):
        check_resettable(wrong(right.env, right.adapter))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (KeepsNoWrappers, r"truncated differed at step \d+.*restore\("),
        (ForgetsWhatWasSeen, r"observation differed at the restored state"),
    ],
)
def test_wrong_ways_with_a_car(wrong, sentence):
    right = make_resettable(gym.make("MountainCar-v0", max_episode_steps=70))
    check_resettable(right, trials=5)
    with pytest.raises(ResetMismatchError, match=sentence):
        check_resettable(wrong(right.env, right.adapter), trials=5)


class GlobalNoise(gym.Env):
    """Draws from NumPy's global generator, which no snapshot holds."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(0, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action):
        return np.random.random(1), 0.0, False, False, {}  # noqa: NPY002


def test_a_global_generator_is_caught():
    with pytest.raises(ResetMismatchError, match="observation differed at step 1 after"):
        check_resettable(make_resettable(GlobalNoise()))


def test_a_snapshot_that_later_steps_change_is_caught():
    pytest.importorskip("minigrid")

    class Aliased(PickledState):
        def save(self):
            return super().save(), self.env.grid

        def load(self, state):
            super().load(state[0])
            self.env.grid = state[1]

    env = gym.make("MiniGrid-Dynamic-Obstacles-8x8-v0")
    check_resettable(make_resettable(env))
    with pytest.raises(ResetMismatchError, match="differed"):
        check_resettable(ResettableEnv(env, Aliased(env.unwrapped)))


class PositionsAndVelocities(Adapter):
    """The obvious way with MuJoCo: what Gymnasium's `set_state` takes."""

    name = "positions"

    @staticmethod
    def is_made_for(env):
        return True

    def save(self):
        return self.env.data.qpos.copy(), self.env.data.qvel.copy()

    def load(self, state):
        self.env.set_state(*state)


class IntegrationState(PositionsAndVelocities):
    """MuJoCo's own idea of the state: exact for Hopper, not where rewards read stale positions."""

    def save(self):
        import mujoco

        env, kind = self.env, mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.zeros(mujoco.mj_stateSize(env.model, kind))
        mujoco.mj_getState(env.model, env.data, state, kind)
        return state

    def load(self, state):
        import mujoco

        env = self.env
        mujoco.mj_setState(env.model, env.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(env.model, env.data)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Hopper-v5", PositionsAndVelocities),
        ("Ant-v5", PositionsAndVelocities),
        ("Ant-v5", IntegrationState),
    ],
)
def test_stale_kinematics_of_mujoco_are_caught(name, wrong):
    pytest.importorskip("mujoco")
    env = gym.make(name)  # test_mujoco.py sets it back
    with pytest.raises(ResetMismatchError, match=r"differed at step \d+ after it"):
        check_resettable(ResettableEnv(env, wrong(env.unwrapped)))


def test_running_means_do_not_pass():
    with pytest.raises(ResetMismatchError, match="observation differed"):
        check_resettable(gym.wrappers.NormalizeObservation(gym.make("CartPole-v1")))


class Sticky(AtariState):
    """The emulator's snapshot with its generator, in spite of the refusal."""

    def __init__(self, env):
        Adapter.__init__(self, env)


def test_sticky_actions_of_atari_are_caught():
    gym.register_envs(pytest.importorskip("ale_py"))
    options = {"obs_type": "ram", "frameskip": 1}
    env = gym.make("ALE/Breakout-v5", repeat_action_probability=0.25, **options)
    with pytest.raises(ResetMismatchError, match=r"ALE/Breakout-v5: restored.*differed at step"):
        check_resettable(ResettableEnv(env, Sticky(env.unwrapped)))
    plain = gym.make("ALE/Breakout-v5", repeat_action_probability=0, **options)
    check_resettable(ResettableEnv(plain, Sticky(plain.unwrapped)), actions=20, trials=2)


def test_an_instance_that_was_made_otherwise_is_caught():
    env = make_resettable(gym.make("CartPole-v1"))
    another = gym.make("CartPole-v1")
    another.unwrapped.gravity, another.unwrapped.force_mag = 9.8, 11.0
    # The constants of CartPole are plain attributes, so a snapshot carries them over.
    check_resettable(env, another=make_resettable(another), trials=2)
    with pytest.raises(ValueError, match="cannot be restored"):
        check_resettable(env, another=gym.make("FrozenLake-v1"), trials=2)


@pytest.mark.parametrize("sizes", [{"actions": 0}, {"trials": 0}])
def test_an_empty_check_is_refused(sizes):
    with pytest.raises(ValueError, match="at least 1"):
        check_resettable(gym.make("CartPole-v1"), **sizes)
