"""Tasks of the user: any environment of Gymnasium by its id, or a task of a module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setrl.control.envs.resettable import make_resettable
from setrl.control.resolved import ResolvedControl
from setrl.control.trajectories import Trajectory
from setrl.support.errors import ConfigError

SOURCE = """
from types import SimpleNamespace
import gymnasium as gym
import numpy as np
from setrl.control.tasks.multi_goal import MultiGoal, MultiGoalEnv

def side(trajectory):
    return "left" if trajectory.observations[-1][0] < 0 else "right"

def half(trajectory):
    return trajectory.total_reward / 2

def goals(episodes=8):
    return MultiGoal(episodes=episodes)

fixed = MultiGoal(episodes=9)
number = 3
on_jax = SimpleNamespace(name='mine', env=None, label=None)
if "Rooms-v0" not in gym.registry:  # another test has registered it
    gym.register("Rooms-v0", MultiGoalEnv)
"""
YAML = """
name: mine
task: TASK
arms:
  poly: {algorithm: poly_ppo, method: poly_epo, set_size: 2, num_vines: 4}
total_steps: 100
"""
CART = "{name: gymnasium, id: CartPole-v1, label: own:side, MORE}"


@pytest.fixture
def load(tmp_path: Path) -> Any:
    (tmp_path / "own.py").write_text(SOURCE)

    def config(task: str) -> ResolvedControl:
        (tmp_path / "config.yaml").write_text(YAML.replace("TASK", task))
        return ResolvedControl.load(tmp_path / "config.yaml")

    return config


def walk() -> Trajectory:
    seen = np.array([[0.0] * 4, [-1.0] * 4], np.float32)
    return Trajectory(seen, np.array([1]), np.array([4.0]), ({}, {}), True, False)


def test_an_environment_has_the_functions_of_the_user(load: Any) -> None:
    more = "score: own:half, make: {max_episode_steps: 7}"
    task = load(CART.replace("MORE", more)).task
    assert (task.label(walk()), task.score(walk())) == ("left", 2.0)
    env = make_resettable(task.make_env())
    env.reset(seed=1)
    assert env.spec is not None
    assert env.spec.max_episode_steps == 7
    plain = load(CART.replace("MORE", "episodes: 3")).task
    assert plain.score(walk()) == 4.0
    assert plain.make_env().render_mode == "rgb_array"


def test_a_module_may_register_the_environment(load: Any) -> None:
    task = load("{name: gymnasium, id: 'own:Rooms-v0', label: own:side}").task
    assert type(task.make_env().unwrapped).__name__ == "MultiGoalEnv"


def test_a_task_is_a_value_or_what_a_function_returns(load: Any, tmp_path: Path) -> None:
    config = load("{name: own:goals, episodes: 5}")
    assert config.task.episodes == 5
    assert load("own:goals").task.episodes == 8
    assert load("own:fixed").task.episodes == 9
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text(config.config.to_yaml())
    assert ResolvedControl.load(tmp_path / "run" / "config.yaml").task.episodes == 5


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("own:number", "must be a control task, or a function.*3 has no .*evaluate.*make_env"),
        ("own:on_jax", "has no evaluate, defaults, policy_kwargs, demonstrations$"),
        ("{name: own:goals, steps: 5}", "unknown option of task own:goals 'steps'"),
        ("{name: gymnasium, id: Nowhere-v0, label: own:side}", "knows no environment 'Nowhere-v0'"),
        ("{name: gymnasium, id: CartPole-v1, label: left}", "given as 'module:name'"),
        ("{name: gymnasium, id: CartPole-v1, label: own:sides}", "no function 'sides'; did you"),
        ("{name: gymnasium, id: CartPole-v1}", "task: registered needs the option 'label'"),
    ],
)
def test_what_is_no_task_is_named(load: Any, task: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(task)
