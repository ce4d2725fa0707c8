"""What holds for every task: the protocol, exact resets, finite metrics."""

from __future__ import annotations

import numpy as np
import pytest
from stable_baselines3 import PPO

from setrl.control import measures
from setrl.control.envs.checks import check_resettable
from setrl.control.tasks import ControlTask, by_name, from_config
from setrl.samples.values import DEGENERATE

SMALL = [
    {"name": "multi_goal", "max_steps": 20, "episodes": 40},
    {"name": "studies.point_mass:PointMass", "max_steps": 40, "episodes": 40},
    {"name": "studies.triangles:Triangles", "nodes": 12, "edge_probability": 0.5, "episodes": 64},
    {"name": "studies.grids:FourRoomsTask", "num_layouts": 2, "samples": 5},
    {"name": "studies.grids:BabyAI", "level": "boss", "num_layouts": 1, "samples": 5},
]


@pytest.fixture(params=SMALL, ids=lambda config: "-".join(map(str, list(config.values())[:2])))
def task(request):
    return from_config(request.param)


def new_model(task):
    kwargs = dict(task.policy_kwargs)
    return PPO("MlpPolicy", task.make_env(), n_steps=8, policy_kwargs=kwargs, seed=0, device="cpu")


def test_every_task_is_tried():
    # Registered environments and the tasks of JAX have tests of their own.
    elsewhere = {"gymnasium", "jax_goals"}
    ours = {config["name"] for config in SMALL if ":" not in config["name"]}
    assert ours == set(by_name) - elsewhere


def test_it_is_a_task_that_can_be_set_back(task):
    assert isinstance(task, ControlTask)
    check_resettable(task.make_env(), actions=40, trials=3)


def test_its_options_are_in_its_repr(task):
    assert all(repr(value) in repr(task) for value in vars(task).values())


def test_scores_are_in_range_and_labels_tell_success(task):
    model = new_model(task)
    for one in measures.sample_episodes(model, task.make_env, 6, np.random.default_rng(0)):
        assert 0.0 <= task.score(one) <= 1.0
        hash(task.label(one))


@pytest.mark.parametrize(
    "name", ["multi_goal", "studies.point_mass:PointMass", "studies.triangles:Triangles"]
)
def test_failures_take_no_way(name):
    task = from_config(next(config for config in SMALL if config["name"] == name))
    episodes = measures.sample_episodes(
        new_model(task), task.make_env, 100, np.random.default_rng(0)
    )
    assert {task.score(one) for one in episodes} == {0.0, 1.0}
    assert all((task.label(one) == DEGENERATE) == (task.score(one) == 0.0) for one in episodes)


def test_metrics_repeat_with_the_generator(task):
    if getattr(task, "level", "goto_local") != "goto_local":
        pytest.skip("slow to reset, and the same code")
    model = new_model(task)
    first, second = (task.evaluate(model, np.random.default_rng(3)) for _ in range(2))
    assert first.keys() == second.keys()
    np.testing.assert_array_equal(list(first.values()), list(second.values()))
    assert all(value >= 0 for value in first.values() if value == value)


def test_defaults_are_arguments_of_ppo(task):
    known = set(PPO.__init__.__code__.co_varnames) | {"n_envs", "total_timesteps"}
    assert set(task.defaults) <= known


def test_unknown_tasks_and_options_are_refused():
    with pytest.raises(ValueError, match="multi_goal"):
        from_config("multi_gaol")
    with pytest.raises(ValueError, match="max_step"):
        from_config({"name": "multi_goal", "max_step": 3})
    with pytest.raises(ValueError, match="'goto'"):
        from_config({"name": "studies.grids:BabyAI", "level": "go_to"})
    with pytest.raises(ValueError, match="needs the key 'name'"):
        from_config({"level": "goto"})
