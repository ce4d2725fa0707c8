"""MiniGrid and BabyAI: exact, in other instances too, and what is one object stays one."""

import pickle
from copy import deepcopy

import pytest

gym = pytest.importorskip("gymnasium")
minigrid = pytest.importorskip("minigrid")

from minigrid.core.world_object import Ball, Door, Key  # noqa: E402
from minigrid.wrappers import ActionBonus, FullyObsWrapper, ImgObsWrapper  # noqa: E402

from setrl.control import check_resettable, make_resettable  # noqa: E402

NAMES = [
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",  # draws in every step
    "MiniGrid-ObstructedMaze-1Dlhb-v0",  # objects in objects
    "BabyAI-BossLevel-v0",  # every kind of instruction
]


@pytest.mark.parametrize("name", NAMES)
def test_the_future_is_the_same_to_the_bit(name):
    env = make_resettable(gym.make(name))
    assert env.adapter.name == "pickle"
    check_resettable(env, trials=3, another=gym.make(name))


@pytest.mark.parametrize("name", ["BabyAI-BossLevel-v0", "MiniGrid-Dynamic-Obstacles-8x8-v0"])
def test_the_future_is_that_of_a_deep_copy(name):
    env, other = make_resettable(gym.make(name)), make_resettable(gym.make(name))
    env.reset(seed=2)
    env.action_space.seed(0)
    for _ in range(5):
        env.step(env.action_space.sample())
    twin, state = deepcopy(env.env), pickle.loads(pickle.dumps(env.snapshot()))
    other.restore(state, rng="keep")
    for _ in range(40):
        action = env.action_space.sample()
        (seen, *rest), (expected, *others) = other.step(action), twin.step(action)
        assert (seen["image"] == expected["image"]).all()
        assert rest == others
        if rest[1] or rest[2]:
            break


def test_wrappers_of_minigrid():
    make = lambda: ImgObsWrapper(FullyObsWrapper(gym.make("MiniGrid-DoorKey-5x5-v0")))  # noqa: E731
    check_resettable(make(), trials=3, another=make())


def test_visit_counts_are_shared_and_not_set_back():
    env = make_resettable(ActionBonus(gym.make("MiniGrid-Empty-5x5-v0")))
    env.reset(seed=0)
    state = env.snapshot()
    rewards = [(env.restore(state), env.step(0)[1])[1] for _ in range(3)]
    assert rewards == pytest.approx([1, 2**-0.5, 3**-0.5])


def test_an_instruction_knows_the_objects_and_the_environment_it_is_set_back_in():
    env, other = (make_resettable(gym.make("BabyAI-GoTo-v0")) for _ in range(2))
    env.reset(seed=0)
    state = env.snapshot()
    for target in (env.unwrapped, other.unwrapped):
        (env if target is env.unwrapped else other).restore(state)
        assert target.instrs.env is target
        cells = {id(cell) for cell in target.grid.grid}
        assert target.instrs.desc.obj_set
        assert all(id(each) in cells for each in target.instrs.desc.obj_set)
    shared = {id(cell) for cell in env.unwrapped.grid.grid if isinstance(cell, Door | Key | Ball)}
    assert not shared & {id(cell) for cell in other.unwrapped.grid.grid}


def test_what_is_carried_is_set_back():
    env = make_resettable(gym.make("MiniGrid-DoorKey-5x5-v0"))
    env.reset(seed=0)
    inner = env.unwrapped
    inner.carrying = Key("yellow")
    state = env.snapshot()
    inner.carrying = None
    env.restore(state)
    assert isinstance(inner.carrying, Key)
