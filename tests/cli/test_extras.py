"""Packages that are missing: the help, the version, and one sentence with the extra's name."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from setrl.cli import parser
from setrl.cli.extras import COMMANDS, MODULES

ROOT = Path(__file__).parents[2]
NAMES = {"pyyaml": "yaml", "scikit-learn": "sklearn"}  # package → module, where they differ

HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from setrl import cli
cli.main({arguments!r})
"""


def without(hidden, *arguments):
    """Run a command where some modules cannot be imported."""
    code = HIDING.format(hidden=set(hidden), arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_the_tables_are_those_of_the_package():
    assert list(COMMANDS) == [*parser.COMMANDS, "control"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    wanted = {  # from the last extra to the first, whose entry stays
        NAMES.get(name, name.replace("-", "_")): extra
        for extra, packages in reversed(extras.items())
        for name in (re.match(r"[\w-]+", package)[0] for package in packages)
        if extra != "dev" and name != "setrl"
    }
    assert wanted == MODULES


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_is_needed_for_the_help_and_the_version(argument):
    ended = without(MODULES, argument)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    if argument == "--help":
        assert not [name for name in COMMANDS if f"setrl {name} " not in ended.stdout]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_any_package_a_command_names_its_extra(command):
    ended = without(MODULES, command)
    assert ended.returncode == 2
    expected = f"setrl: setrl {command} needs tyro: pip install 'setrl[{COMMANDS[command]}]'\n"
    assert ended.stderr == expected


GROUP = json.dumps(
    {"prompt": "1 + 1", "rewards": [1, 0], "texts": ["2", "3"], "answer": r"\sqrt{y^2+1}"}
)
AFTER_CLI = {
    "train": (["train", "--config", "recipes/{train}"], "train"),
    "control": (["control", "--config", "recipes/{control}"], "gym"),
    "train-judge": (["train-judge", "{folder}/judge"], "train"),
    "checkpoint": (["evaluate", "--checkpoint", "{folder}", "--domain", "polynomial"], "train"),
    "lm": (["judge", "{file}", "--judge", "lm:m", "--endpoint", "http://localhost:1/v1"], "judge"),
    "validate-data": (["validate-data", "{file}"], "math"),
    "report": (["report", "{run}"], "plot"),
}


@pytest.mark.parametrize("case", AFTER_CLI)
def test_with_the_command_line_alone_what_is_missing_is_named(tmp_path, case):
    (tmp_path / "groups.jsonl").write_text(GROUP)
    (tmp_path / "run").mkdir()
    record = {"schema_version": 1, "kind": "comparison", "name": "mine"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    arguments, extra = AFTER_CLI[case]
    places = {
        "folder": tmp_path,
        "file": tmp_path / "groups.jsonl",
        "run": tmp_path / "run",
        "train": "demo/config.yaml",
        "control": "control_multi_goal/config.yaml",
    }
    hidden = [module for module, its in MODULES.items() if its != "cli"]
    ended = without(hidden, *(argument.format_map(places) for argument in arguments))
    assert ended.returncode == 2, ended.stderr
    assert f"pip install 'setrl[{extra}]'" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
