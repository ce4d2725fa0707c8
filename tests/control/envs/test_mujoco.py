"""MuJoCo: exact, in other instances and from a pickle too."""

import pytest

gym = pytest.importorskip("gymnasium")
pytest.importorskip("mujoco")

from setrl.control import check_resettable, make_resettable  # noqa: E402


@pytest.mark.parametrize("name", ["Hopper-v5", "HalfCheetah-v5", "Ant-v5"])
def test_the_future_is_the_same_to_the_bit(name):
    env = make_resettable(gym.make(name))
    assert env.adapter.name == "mujoco"
    check_resettable(env, trials=3, another=gym.make(name))


def test_another_model_is_refused():
    hopper, ant = make_resettable(gym.make("Hopper-v5")), make_resettable(gym.make("Ant-v5"))
    hopper.reset(seed=0)
    with pytest.raises(ValueError, match="another MuJoCo model"):
        ant.adapter.load(hopper.adapter.save())
