"""Environments of gymnax and XLand-MiniGrid, and tasks of their ids."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from xminigrid.wrappers import DirectionObservationWrapper, GymAutoResetWrapper

from setrl.control.jax.adapters import GymnaxEnv, LibraryEnv, XMiniGridEnv
from setrl.control.jax.environment import JaxEnv, JaxTask, check_env, labels_of
from setrl.control.tasks import from_config
from tests.control.jax.conftest import compiled

KEY = jax.random.key(0)
SIZES = {"gymnax": (4, 9), "xminigrid": (98, 100)}


@pytest.fixture(scope="module")
def gymnax():
    """FourRooms: its rewards are bool, and its observations int32."""
    pytest.importorskip("gymnax")
    return compiled(GymnaxEnv("FourRooms-misc", {"max_steps_in_episode": 9}))


@pytest.fixture(params=SIZES)
def made(request):
    """Name of a library, and what `compiled` returns."""
    fixture = "xland" if request.param == "xminigrid" else request.param
    return request.param, *request.getfixturevalue(fixture)


def equal(one, other):
    return jax.tree.all(jax.tree.map(np.array_equal, one, other))


def test_ids_become_environments(made):
    library, env, *_ = made
    assert isinstance(env, JaxEnv)
    assert (check_env(env), env.max_steps) == SIZES[library]


def test_a_state_goes_on_as_its_fork_does(made):
    _, env, start, step = made
    state, _, _ = step(KEY, start, 1)
    keys = jax.random.split(jax.random.key(5), 6)
    actions = np.random.default_rng(0).integers(env.num_actions, size=6)
    found = []
    for one in (state, jax.device_get(state)):
        outcomes = []
        for key, action in zip(keys, actions, strict=True):
            one, *outcome = step(key, one, action)
            outcomes.append((one, *outcome))
        found.append(outcomes)
    assert equal(*found)
    assert not equal(found[0][-1][0], state)


def test_gymnax_ends_at_its_time_limit_and_is_not_reset(gymnax):
    _, state, step = gymnax
    ends = []
    for _ in range(9):
        state, _, done = step(KEY, state, 0)
        ends.append(bool(done))
    assert ends == [False] * 8 + [True]
    assert int(state.inner.time) == 9


def test_xminigrid_ends_at_success_only(xland):
    _, state, step = xland
    near = {"position": np.array([20, 18], np.int32), "direction": np.int32(1)}
    inner = state.inner.replace(agent=state.inner.agent.replace(**near), step_num=np.int32(98))
    state = state._replace(inner=inner)
    ends = []
    for action in (0, 1, 2, 0):  # its own limit is 100 steps; the goal is two steps ahead
        state, reward, done = step(KEY, state, action)
        ends.append(bool(done))
    assert ends == [False, False, False, True]
    assert float(reward) > 0


def test_pictures_are_xminigrids(xland):
    env, start, _ = xland
    assert env.render(start).shape == (22 * 32, 22 * 32, 3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: GymnaxEnv("CartPole-v2"), "environment of gymnax 'CartPole-v2'; did you mean"),
        (lambda: XMiniGridEnv("MiniGrid-Emty-5x5"), "did you mean 'MiniGrid-Empty-5x5'"),
        (lambda: GymnaxEnv("Pendulum-v1"), "Pendulum-v1 does not take one discrete action"),
        (lambda: GymnaxEnv("CartPole-v1").render(None), "draws no pictures: give the task"),
        (lambda: Counting().reset_and_step(), "a step returns float32 where the reset returns int"),
    ],
)
def test_what_cannot_be_adapted_is_refused_by_name(make, says):
    with pytest.raises(ValueError, match=says):
        make()


class Counting(LibraryEnv):
    """An environment whose step returns fractions, and whose reset returns an integer."""

    def __init__(self):
        super().__init__(None, 2, 9)

    def first(self, key):
        return 0, jnp.zeros(1)

    def following(self, key, inner, action):
        return inner + 0.5, jnp.zeros(1), 0.0, False

    def reset_and_step(self):
        return self.step(KEY, self.reset(KEY), 0)


def test_an_environment_that_resets_itself_is_refused(xland):
    with pytest.raises(ValueError, match="GymAutoResetWrapper replaces the state in which"):
        XMiniGridEnv(DirectionObservationWrapper(GymAutoResetWrapper(xland[0].env)))


def test_a_state_of_objects_is_refused():
    space = namedtuple("Space", "n")(2)
    params = namedtuple("Params", "max_steps_in_episode")(5)
    simulator = type(
        "Host",
        (),
        {
            "name": "host",
            "default_params": params,
            "action_space": lambda *_: space,
            "reset_env": lambda *_: (jnp.zeros(2), {"simulator": object()}),
        },
    )()
    with pytest.raises(ValueError, match="objects of Python, such as a simulator"):
        check_env(GymnaxEnv(simulator))


class Resets:
    """Plays without a policy: the episodes end where they begin."""

    def __init__(self, env):
        self.env = env

    def play_resets(self, count, seed):
        ends = jax.jit(jax.vmap(self.env.reset))(jax.random.split(jax.random.key(seed), count))
        played = {"returns_B": np.arange(count), "lengths_B": np.full(count, 3), "ends": ends}
        return type("Played", (), played)


def test_a_task_of_an_id_measures_its_labels(gymnax, tmp_path: Path):
    (tmp_path / "own.py").write_text(
        "import jax.numpy as jnp\n"
        "def column(state):\n    return jnp.where(state.pos[0] < 6, -1, state.pos[1] > 6)\n"
        "def hashed(state):\n    return state.pos[0].astype(jnp.uint32)\n"
        "def picture(state):\n    return [[[int(state.time)] * 3]]\n"
    )
    config = {"name": "gymnax", "id": "FourRooms-misc", "label": "own:column", "episodes": 64}
    make = {"params": {"resample_init_pos": True}}
    own = {"render": "own:picture", "make": make, "folder": str(tmp_path)}
    task = from_config({**config, **own})
    assert isinstance(task, JaxTask)
    assert "own:column" in repr(task)
    found = task.evaluate(Resets(task.env), np.random.default_rng(0))
    assert found["score"] == 31.5
    assert found["length"] == 3.0
    assert found["strategies"] == 2.0
    assert 0.3 < found["labelled"] < 0.7
    assert 1.7 < found["effective_strategies"] <= 2.0
    _, start, _ = gymnax
    assert task.render(start).tolist() == [[[0, 0, 0]]]
    hashed = from_config({**config, **own, "label": "own:hashed"})
    with pytest.raises(ValueError, match="a signed integer, −1 for none, got uint32"):
        hashed.label(start)


def test_without_a_label_no_episode_has_a_strategy(xland):
    task = from_config({"name": "xminigrid", "id": "MiniGrid-Empty-5x5"})
    assert task.label is None
    ends = jax.tree.map(lambda one: one[None], xland[1])
    assert labels_of(task.label, ends).tolist() == [-1]


def test_a_wrong_option_of_a_task_is_refused_by_name():
    with pytest.raises(ValueError, match="did you mean 'MiniGrid-Empty-5x5'"):
        from_config({"name": "xminigrid", "id": "MiniGrid-Empt-5x5"})
    with pytest.raises(ValueError, match="unknown parameter of the environment 'colour'"):
        from_config({"name": "gymnax", "id": "CartPole-v1", "make": {"params": {"colour": 3}}})
