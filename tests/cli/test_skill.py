"""The guide for agents: its scripts run, its config resolves, and its commands are accepted."""

import json
import re
import shlex
import sys

import numpy as np
import pytest
import yaml

from setrl import cli
from setrl.cli import parser

TEXT = parser.SKILL.read_text(encoding="utf-8")
FUNCTIONS, RUN, TRL, CREDIT = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
CONFIG = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[1]
COMMANDS = re.findall(r"^(setrl .+?)(?:  +#.*)?$", TEXT, re.MULTILINE)


def test_it_says_to_agents_when_to_use_it():
    about = yaml.safe_load(TEXT.split("---\n")[1])
    assert about["name"] == parser.SKILL.parent.name
    assert 100 < len(about["description"]) <= 1024


@pytest.mark.parametrize("command", [shlex.split(line)[1:] for line in COMMANDS])
def test_its_commands_are_accepted(command):
    assert cli._parse_options(*cli._split_command_name(command)) is not None


def test_it_has_the_commands_of_a_run():
    assert [line.split()[1] for line in COMMANDS] == ["check-task", "train", "train", "compare"]


def test_its_config_trains_three_arms_with_its_functions(tmp_path, monkeypatch):
    from setrl.train.lm.resolved import ResolvedConfig

    (tmp_path / "mine.py").write_text(FUNCTIONS)
    (tmp_path / "config.yaml").write_text(CONFIG)
    for split in ("train", "test"):
        rows = [{"id": f"{split}{n}", "prompt": f"{split} {n}", "answer": "4"} for n in range(20)]
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    resolved = ResolvedConfig.load(tmp_path / "config.yaml")
    assert {name: arm.method.name for name, arm in resolved.arms.items()} == {
        "grpo": "grpo", "counts": "concave_counts", "poly_epo": "poly_epo"}  # fmt: skip
    assert len(resolved.task.all_problems("test")) == 20
    names = {}
    exec(FUNCTIONS, names)
    chat = [{"role": "assistant", "content": "4 it is"}]
    given = {"prompts": ["", "", ""], "completions": [chat, "so 5", ""], "answer": ["4", "4", "4"]}
    assert names["correct"](**given) == [1.0, 0.0, 0.0]
    assert names["strategy"](**given) == ["4", "so", -1]


def test_its_credit_is_that_of_the_library(capsys):
    names = {}
    exec(CREDIT, names)
    values = names["found"].values_BN
    assert np.isclose(values.sum(), 0)
    assert values[0, 2] > values[0, 0] > values[0, 3]


def test_its_other_scripts_name_what_exists():
    for script in (RUN, TRL):
        compile(script, "SKILL.md", "exec")
        for module, names in re.findall(
            r"^from (setrl[\w.]*) import ([\w, ]+?)(?:  #|$)", script, re.MULTILINE
        ):
            found = __import__(module, fromlist=["x"])
            assert all(hasattr(found, name) for name in names.split(", "))
