"""Packages that are missing: the help, the version, and one sentence with the extra's name."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from setrl.cli.extras import COMMANDS, MODULES, USES
from setrl.support.installing import install

ROOT = Path(__file__).parents[2]
# Package → module, where they differ.
NAMES = {"pyyaml": "yaml", "scikit-learn": "sklearn", "opencv-python-headless": "cv2"}

HIDING = """
import contextlib, io, json, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from setrl import cli
ended = []
for arguments in json.loads({commands!r}):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(arguments)
        except SystemExit as left:
            ended.append([left.code, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""


def without(hidden, commands):
    """Exit code, output and errors of commands, in one process that cannot import some modules."""
    code = HIDING.format(hidden=set(hidden), commands=json.dumps(commands))
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return json.loads(ended.stdout)


def declared():
    """The extras of pyproject.toml with their packages."""
    text = (ROOT / "pyproject.toml").read_text()
    return tomllib.loads(text)["project"]["optional-dependencies"]


def test_the_tables_are_those_of_the_package():
    extras = declared()
    wanted = {  # from the last extra to the first, whose entry stays
        NAMES.get(name, name.replace("-", "_")): extra
        for extra, packages in reversed(extras.items())
        for name in (re.match(r"[\w-]+", package)[0] for package in packages)
        if name != "setrl"
    }
    assert wanted == MODULES


def test_each_extra_is_said_to_be_for_the_commands_that_need_it():
    assert set(USES) == set(declared())
    for command, (_, extras) in COMMANDS.items():
        uses = [USES[extra] for extra in extras.split(",") if extra not in ("", "cli")]
        assert all(f"`setrl {command}`" in use for use in uses), command


def test_nothing_is_needed_for_the_help_and_the_version():
    ended = without(MODULES, [["--help"], ["--version"]])
    assert [(code, errors) for code, _, errors in ended] == [(0, "")] * 2
    assert not [name for name in COMMANDS if f"setrl {name}" not in ended[0][1]]


def test_without_any_package_a_command_names_its_extra():
    needing = {command: extra for command, (_, extra) in COMMANDS.items() if extra}
    ended = without(MODULES, [command.split() for command in needing])
    for (command, extra), (code, _, errors) in zip(needing.items(), ended, strict=True):
        assert code == 2
        assert errors == f"setrl: setrl {command} needs tyro: {install(extra)}\n"


GROUP = json.dumps(
    {"prompt": "1 + 1", "rewards": [1, 0], "texts": ["2", "3"], "answer": r"\sqrt{y^2+1}"}
)
AFTER_CLI = {
    "train": (["train", "--config", "recipes/{train}"], "train"),
    "control": (["control", "--config", "recipes/{control}"], "gym"),
    "checkpoint": (["sample", "--checkpoint", "{folder}", "--domain", "polynomial"], "train"),
    "lm": (["judge", "{file}", "--judge", "lm:m", "--endpoint", "http://localhost:1/v1"], "judge"),
    "report": (["report", "{run}"], "plot"),
}


def test_with_the_command_line_alone_what_is_missing_is_named(tmp_path):
    (tmp_path / "groups.jsonl").write_text(GROUP)
    (tmp_path / "config.json").write_text('{"model_type": "qwen3"}')
    (tmp_path / "run").mkdir()
    record = {"schema_version": 1, "kind": "comparison", "name": "mine"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    places = {
        "folder": tmp_path,
        "file": tmp_path / "groups.jsonl",
        "run": tmp_path / "run",
        "train": "demo/config.yaml",
        "control": "control_multi_goal/config.yaml",
    }
    commands = [[word.format_map(places) for word in words] for words, _ in AFTER_CLI.values()]
    hidden = [module for module, its in MODULES.items() if its != "cli"]
    ended = without(hidden, commands)
    for (case, (_, extra)), (code, _, errors) in zip(AFTER_CLI.items(), ended, strict=True):
        assert code == 2, (case, errors)
        assert install(extra) in errors, case
        assert len(errors.splitlines()) == 1, case
