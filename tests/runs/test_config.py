"""Configs of runs: each command reads its own kind, and names the command of the other."""

import dataclasses
from pathlib import Path

import pytest

from setrl.control.config import ControlConfig
from setrl.support.errors import ConfigError
from setrl.support.files import strict_yaml
from setrl.train.lm.config import ComparisonConfig
from setrl.train.runs.config import OF_COMMAND

RECIPES = Path(__file__).parents[2] / "recipes"
KINDS = {one.command: one for one in (ComparisonConfig, ControlConfig)}


@pytest.mark.parametrize("path", ["demo", "control_sizes", "graded", "control_jax"])
def test_a_config_of_another_command_is_told_which(path):
    first = min((RECIPES / path).glob("*.yaml"))
    own, other = list(KINDS)[:: -1 if path.startswith("control") else 1]
    assert KINDS[own].load(first).command == own
    message = rf"yaml:\d+: .* is a key of `{own}`, not of `{other}`: give this config to `{own}`"
    with pytest.raises(ConfigError, match=message):
        KINDS[other].load(first)


def test_an_arm_shows_the_command(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("name: small\ntask: multi_goal\narms:\n  a: {algorithm: ppo}\n")
    with pytest.raises(ConfigError, match=r"yaml:4: 'algorithm' is a key of `setrl control`"):
        ComparisonConfig.load(path)


def test_only_one_command_has_these_keys():
    fields = {
        name: {one.name for one in dataclasses.fields(kind)} | {"algorithm"}
        for name, kind in KINDS.items()
    }
    for key, command in OF_COMMAND.items():
        others = set().union(*(fields[name] for name in KINDS if name != command)) - {"algorithm"}
        assert key in fields[command]
        assert key not in others


def test_every_recipe_is_read_by_one_command():
    for path in RECIPES.glob("*/*.yaml"):
        values, _ = strict_yaml.read(path)
        if "arms" not in values:  # of another tool
            continue
        found = {OF_COMMAND[key] for key in values if key in OF_COMMAND}
        assert len(found) <= 1, path
