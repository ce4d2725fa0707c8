"""Configs of control runs: strict, and each mistake where it stands."""

import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from stable_baselines3 import PPO

from setrl.control import tasks
from setrl.control.config import ALGORITHMS, PPO_KEYS, ControlConfig
from setrl.control.options import GymPPOArguments
from setrl.control.resolved import ResolvedControl
from setrl.support.errors import ConfigError
from tests.control.goals import GoalsTask

load = ResolvedControl.load

WRITTEN = """
name: try
task: {name: goals, limit: 12}
arms:
  ppo: {ent_coef: 0.1, learning_rate: 1e-3}
  reinforce: {algorithm: reinforce}
  poly: {algorithm: poly_ppo, set_size: 3, num_vines: 6, window: null}
  maxpo: {algorithm: poly_ppo, method: maxpo, set_size: 2}
seeds: [0, 1]
ppo: {n_steps: 16, learning_rate: 2e-3}
"""


@pytest.fixture(autouse=True)
def goals_are_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks.by_name, "goals", GoalsTask)


class OtherDefaults(GoalsTask):
    """The task, in a version of setrl with other defaults."""

    @property
    def defaults(self) -> dict[str, Any]:
        return {**super().defaults, "n_epochs": 77, "gamma": 0.5, "total_timesteps": 9}


def written(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = WRITTEN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_arguments_come_from_task_config_and_arm_in_that_order(tmp_path: Path) -> None:
    config = load(written(tmp_path))
    ppo = config.arms["ppo"].ppo
    assert (ppo["n_envs"], ppo["n_steps"], ppo["learning_rate"]) == (2, 16, 1e-3)
    assert ppo["ent_coef"] == 0.1
    reinforce = config.arms["reinforce"].ppo
    assert (reinforce["n_epochs"], reinforce["gae_lambda"]) == (1, 1.0)
    assert reinforce["batch_size"] == 2 * 16
    assert reinforce["learning_rate"] == 2e-3
    assert config.steps == 600


def test_methods_and_vines_are_those_of_poly_ppo_arms(tmp_path: Path) -> None:
    config = load(written(tmp_path))
    assert config.arms["ppo"].method is None
    assert config.arms["reinforce"].vines is None
    method, vines = config.arms["poly"].method, config.arms["poly"].vines
    assert method is not None
    assert vines is not None
    assert (method.name, method.set_size) == ("poly_epo", 3)
    assert (vines.num_vines, vines.window) == (6, None)
    assert vines.make_env().limit == 12  # type: ignore[attr-defined]
    maxpo = config.arms["maxpo"].method
    assert maxpo is not None
    assert maxpo.name == "maxpo"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("seeds:", "seed:"), r"config.yaml:9: unknown key 'seed'; did you mean 'seeds'"),
        (
            ("n_steps: 16", "n_step: 16"),
            r"yaml:10: unknown key of ppo 'n_step'; did you mean",
        ),
        (
            ("ent_coef: 0.1", "ent_coeff: 0.1"),
            r"yaml:5: unknown key of arms.* 'ent_coeff'",
        ),
        (("algorithm: reinforce", "algorithm: reinforced"), "did you mean 'reinforce'"),
        (
            ("num_vines: 6", "num_vine: 6"),
            r"yaml:7: .*unknown option of poly_epo 'num_vine'; did you mean 'num_vines'\?",
        ),
        (("set_size: 3", "set_size: 6"), r"in \[1, 5\] with num_vines=6"),
        (("window: null", "window: -1"), "window must be a whole number"),
        (("method: maxpo", "method: maxp"), "did you mean 'maxpo'"),
        (("window: null", "credit: {name: mine}"), "credit must be one of"),
        (("window: null", "credit: operator:neg"), "credit must be one of"),
        (("{algorithm: reinforce}", "{algorithm: {name: nothing}}"), "nothing"),
        (("name: goals", "name: goal"), r"config.yaml:3: .*did you mean 'goals'"),
        (("limit: 12", "limits: 12"), r"config.yaml:3: "),
        (("seeds: [0, 1]", "gru: 8"), r"config.yaml:9: gru is of tasks on JAX"),
        (("seeds: [0, 1]", "seeds: [0, 0]"), "seeds must be different"),
        (("seeds: [0, 1]", "total_steps: 0"), "total_steps must be a number above 0"),
        (("name: try", "arms: {}"), "is also on line"),
        (
            ("ent_coef: 0.1", "num_vines: 4"),
            r"yaml:5: unknown key of arms.* 'num_vines'",
        ),
    ],
)
def test_mistakes_are_named_where_they_stand(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        load(written(tmp_path, change))


def test_overrides_come_last(tmp_path: Path) -> None:
    config = load(written(tmp_path), ["arms.poly.set_size=2", "total_steps=50"])
    method = config.arms["poly"].method
    assert method is not None
    assert method.set_size == 2
    assert config.steps == 50


def test_what_is_written_out_is_the_same_config(tmp_path: Path) -> None:
    config = load(written(tmp_path)).config
    path = tmp_path / "again.yaml"
    path.write_text(config.to_yaml())
    assert load(path).config == config
    assert config.differences(load(path, ["workers=7"]).config) == []
    assert config.differences(load(path, ["total_steps=7"]).config) == ["total_steps: 600 → 7"]
    assert config.differences(load(path, ["total_steps=700"]).config) == []


def test_a_record_repeats_the_run_when_defaults_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every argument of PPO, of vines and of methods stands in the run's config."""
    first = load(written(tmp_path))
    path = tmp_path / "record.yaml"
    path.write_text(first.config.to_yaml())
    assert first.config.ppo["learning_rate"] == 2e-3
    assert set(PPO_KEYS) - set(first.config.ppo) == {"num_trajectories"}
    assert first.config.arms["poly"]["num_states"] == 2
    assert first.config.arms["maxpo"]["kl_anchor"] == "behaviour"
    monkeypatch.setitem(tasks.by_name, "goals", OtherDefaults)
    monkeypatch.setitem(ALGORITHMS, "reinforce", {})
    other = load(written(tmp_path))
    assert other.arms["ppo"].ppo["gamma"] == 0.5
    assert other.steps == 9
    again = load(path)
    assert again.steps == first.steps
    assert {arm: one.ppo for arm, one in again.arms.items()} == {
        arm: one.ppo for arm, one in first.arms.items()
    }
    assert again.steps == first.steps
    assert repr(again.arms["poly"].method) == repr(first.arms["poly"].method)


def test_arguments_are_those_of_ppo_in_stable_baselines3() -> None:
    theirs = inspect.signature(PPO.__init__).parameters
    ours = vars(GymPPOArguments())
    assert ours.pop("n_envs") == 8
    assert ours == {name: theirs[name].default for name in ours}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("gamma", "1.5", "gamma must be a number from 0 to 1, got 1.5"),
        ("learning_rate", "fast", "learning_rate must be a number ≥ 0, got 'fast'"),
        ("n_epochs", "0.5", "n_epochs must be a whole number ≥ 1, got 0.5"),
        ("clip_range", "0", "clip_range must be a number ≥ 1e-12, got 0"),
        ("target_kl", "-1", "target_kl must be a number ≥ 1e-12, or None, got -1"),
        ("normalize_advantage", "1", "normalize_advantage must be true or false, got 1"),
        ("batch_size", "1", "batch_size and n_steps × n_envs must be at least 2"),
    ],
)
@pytest.mark.parametrize("where", ["ppo", "arms.poly"])
def test_what_ppo_cannot_do_is_refused_before_the_run(
    where: str, key: str, value: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        load(written(tmp_path), [f"{where}.{key}={value}"])
    if key != "batch_size":
        assert str(refused.value).startswith(f"override '{where}.{key}={value}': ")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("gamma", "1.5", "gamma must be a number from 0 to 1, got 1.5"),
        ("learning_rate", "fast", "learning_rate must be a number ≥ 0, got 'fast'"),
        ("kl_coef", "-1", "kl_coef must be a number ≥ 0, got -1"),
        ("kl_anchor", "here", "kl_anchor must be one of 'behaviour', 'start', got 'here'"),
    ],
)
@pytest.mark.parametrize("task", ["goals", "jax_goals"])
def test_both_paths_refuse_it_alike(
    task: str, key: str, value: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"name: x\ntask: {task}\narms:\n  one: {{{key}: {value}}}\n")
    with pytest.raises(ConfigError, match=re.escape(f"config.yaml:4: arms.one: {said}")):
        load(path)


def test_no_vines_are_plain_ppo(tmp_path: Path) -> None:
    changed = written(tmp_path, ("num_vines: 6", "num_vines: 0"))
    vines = load(changed).arms["poly"].vines
    assert vines is not None
    assert not vines.are_sampled


def test_arms_need_a_task_and_a_name(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"name": "x", "task": "goals", "arms": {}}
    with pytest.raises(ConfigError, match="at least one arm"):
        ControlConfig(**arguments)
    with pytest.raises(ConfigError, match="another folder"):
        ControlConfig(**{**arguments, "arms": {"base": {}}})


def test_a_worker_makes_the_same_from_the_keys(tmp_path: Path) -> None:
    resolved = load(written(tmp_path))
    again = pickle.loads(pickle.dumps(resolved))
    assert (again.config, again.steps) == (resolved.config, 600)
    assert repr(again.arms["poly"].method) == repr(resolved.arms["poly"].method)
    assert again.task is not resolved.task
