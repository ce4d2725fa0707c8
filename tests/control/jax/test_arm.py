"""Runs of a config on JAX: what they leave, and that an interruption changes nothing."""

import json
import os
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

from setrl.control import watch
from setrl.control.checkpoints import KEPT, POLICY
from setrl.control.config import ControlConfig
from setrl.control.jax import arm as jax_arm
from setrl.control.resolved import ResolvedControl, resolve
from setrl.control.run import run_control, train_arm
from setrl.control.tasks.jax_goals import JaxGoals
from setrl.logs.run import Run, Seed
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.train.runs.pool import Stop
from setrl.train.runs.resume import usable_checkpoint
from tests.at_once import at_once

POLY = {"algorithm": "poly_ppo", "set_size": 2, "num_vines": 3, "num_states": 1, "kl_coef": 0.1}
TASK = {"name": "jax_goals", "max_steps": 16, "episodes": 32}
EVERY = {"checkpoint_every": 100, "eval_every": 200}


def config(**changes: Any) -> ResolvedControl:
    values: dict[str, Any] = {
        "name": "test",
        "task": TASK,
        "arms": {"poly": POLY, "ppo": {}},
        "total_steps": 400,
        "ppo": {"num_trajectories": 6, "n_epochs": 1},
        "workers": 1,
        **EVERY,
    }
    return resolve(ControlConfig(**{**values, **changes}))


@pytest.fixture(scope="module")
def resolved() -> ResolvedControl:
    """One value for all runs, so that its arms are compiled once."""
    return config()


@pytest.fixture(scope="module")
def folder(resolved: ResolvedControl, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jax")
    with at_once():
        return run_control(resolved, path / "run", cache=path / "cache", show_progress=False)


def test_a_run_leaves_what_runs_leave(folder: Path) -> None:
    run = Run(folder).seed("poly", 0)
    rows = list(files.read_lines(run.metrics_file))
    found = json.loads(run.outcome_file.read_text())
    assert found["steps"] == rows[-1]["step"] >= 400
    assert {"success", "goals", "effective_goals"} <= set(found["metrics"])
    assert any("evaluation/success" in row for row in rows)
    assert len(run.checkpoints) <= KEPT


def test_ppo_has_no_vines_and_a_reset_for_each_episode(folder: Path) -> None:
    rows = list(files.read_lines(Run(folder).seed("ppo", 0).metrics_file))
    assert not any(key.startswith("vines") for key in rows[-1])
    assert rows[-1]["rollout/resets"] == 6 * len(rows)


def test_a_longer_run_goes_on_where_a_shorter_one_ended(
    resolved: ResolvedControl, folder: Path, tmp_path: Path
) -> None:
    run, begun = Seed(tmp_path / "arm"), list[int]()
    for steps in (200, 400):
        begun.clear()
        given = (replace(resolved, steps=steps), "poly", 0, tmp_path / "cache", run)
        assert train_arm(*given, begun.append, Stop())
    assert begun[0] > 200
    whole = Run(folder).seed("poly", 0)
    one, other = (load_file(each.final / POLICY) for each in (run, whole))
    assert all(np.array_equal(one[name], other[name]) for name in other)
    assert run.last_step == whole.last_step


def test_an_interrupted_run_ends_with_the_same_weights(
    resolved: ResolvedControl, folder: Path, tmp_path: Path
) -> None:
    run, stop = Seed(tmp_path / "arm"), Stop()

    def stop_in_the_middle(steps: int) -> None:
        if steps >= 150:
            stop.ask()

    given = (resolved, "poly", 0, tmp_path / "cache", run)
    assert not train_arm(*given, stop_in_the_middle, stop)
    assert train_arm(*given, lambda _: None, Stop())
    whole = Run(folder).seed("poly", 0)
    one, other = (load_file(each.final / POLICY) for each in (run, whole))
    for name in other:
        np.testing.assert_array_equal(one[name], other[name])
    steps = [[row["step"] for row in files.read_lines(each.metrics_file)] for each in (run, whole)]
    assert steps[0] == steps[1]


@pytest.mark.parametrize(
    ("arm", "lost", "sentence"),
    [
        ("ppo", 6, "6 episodes had a reward that is NaN or infinite"),
        ("ppo", 1, "1 episode had a reward"),
        ("poly", 2, "every episode and every vine had a reward"),
        ("poly", 1, ""),
    ],
)
def test_rewards_that_are_all_missing_end_the_run(
    resolved: ResolvedControl, arm: str, lost: int, sentence: str, tmp_path: Path
) -> None:
    """Without vines one is too many; with vines, all of the two trunks and of the vines."""
    learner = jax_arm.Learner(resolved, arm, 0, tmp_path, Seed(tmp_path))
    metrics = {"rollout/without_reward": lost, "vines/score": np.nan, "train/loss": 0.1}
    expected = pytest.raises(RunError, match=sentence) if sentence else nullcontext()
    with expected:
        learner._refuse_what_teaches_nothing(metrics, {"weight": np.ones(2)})


def test_an_arm_whose_sets_never_gave_credit_ends_with_a_warning(
    resolved: ResolvedControl, tmp_path: Path
) -> None:
    """As on the other path, and only if all steps are done."""
    learner = jax_arm.Learner(resolved, "poly", 0, tmp_path, Seed(tmp_path))
    learner.training = learner.training._replace(steps=jnp.int32(400))
    with pytest.warns(UserWarning, match="no step had a set advantage.*vines/without_credit"):
        learner.learn()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.training = learner.training._replace(gave_credit=jnp.bool_(True))
        learner.learn()


def test_weights_that_are_not_finite_end_the_run(resolved: ResolvedControl, tmp_path: Path) -> None:
    """The last step of the optimiser can break them after the last loss was measured."""
    loop = jax_arm.Learner(resolved, "poly", 0, tmp_path, Seed(tmp_path))
    metrics = {"rollout/without_reward": 0, "train/loss": 0.1}
    loop._refuse_what_teaches_nothing(metrics, {"weight": np.ones(2)})
    with pytest.raises(RunError, match="a weight is not finite"):
        loop._refuse_what_teaches_nothing(metrics, {"weight": np.array([1, np.nan])})


def test_a_trained_policy_can_be_watched(folder: Path, tmp_path: Path) -> None:
    film = watch.watch(folder, "poly", output=tmp_path / "film.gif", most=2, episodes=256)
    assert film.exists()


def test_weights_of_another_config_are_refused(folder: Path) -> None:
    run = Run(folder).seed("poly", 0)
    for written in ({"start": run.final / POLICY}, {"checkpoint": usable_checkpoint(run)}):
        with pytest.raises(RunError, match="damaged, or belongs to another config"):
            jax_arm.Learner(config(gru=4), "poly", 0, folder, run, **written)


@pytest.mark.parametrize("name", ["defaults", "policy_kwargs"])
def test_what_a_task_gives_and_nobody_reads_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JaxGoals, name, {**getattr(JaxGoals, name), "activation": 1})
    with pytest.raises(ConfigError, match="'activation'"):
        config()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"ppo": {"n_steps": 9}}, "n_steps is not available on JAX: an update has num_traj"),
        ({"ppo": {"n_envs": 8}}, "n_envs is not available on JAX: an update has num_trajectories"),
        ({"arms": {"a": {**POLY, "credit": "set_critic"}}}, "credit must be one of"),
        ({"arms": {"a": {**POLY, "max_steps": 3}}}, "max_steps is not available"),
        ({"arms": {"a": {**POLY, "trunk": "member"}}}, "trunk is not available on JAX"),
        ({"arms": {"a": {"ucb_coef": 0.1}}}, "ucb_coef is not available on JAX"),
        ({"arms": {"a": {**POLY, "set_size": 3}}}, "arm 'a'.*num_vines"),
        ({"arms": {"a": {**POLY, "kl_anchor": "other"}}}, "kl_anchor must be"),
        ({"total_steps": 2**31 - 1}, "total_steps must be at most 2,000,000,000 on JAX"),
        ({"ppo": {"batch_size": True}}, "batch_size must be a whole number ≥ 1, or None"),
        ({"ppo": {"gamma": "0.99"}}, "gamma must be a number from 0 to 1"),
        ({"ppo": {"clip_range": -0.2}}, "clip_range must be a number"),
        ({"task": {**TASK, "goal": 3}}, "'goal'; did you mean 'goals'"),
        ({"task": {**TASK, "goals": 99}}, "goals must be between 1 and 24"),
    ],
)
def test_what_jax_cannot_do_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        config(**changes)


def test_a_gpu_repeats_its_results_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, yours = jax_arm.PRECISION, "--xla_gpu_deterministic_ops=false"
    monkeypatch.setenv("XLA_FLAGS", yours)
    monkeypatch.setattr(jax_arm.jax, "config", SimpleNamespace(**{name: None}))
    jax_arm.jax.config.update = lambda key, value: setattr(jax_arm.jax.config, key, value)
    for _ in range(2):  # a second call changes nothing
        jax_arm.use_one_thread()
        flags = os.environ["XLA_FLAGS"].split()
        assert flags == [*jax_arm.ONE_THREAD.split(), jax_arm.SAME_BITS, yours]  # the last counts
        assert getattr(jax_arm.jax.config, name) == "highest"
    setattr(jax_arm.jax.config, name, "tensorfloat32")
    jax_arm.use_one_thread()
    assert getattr(jax_arm.jax.config, name) == "tensorfloat32"
