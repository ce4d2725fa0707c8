"""A control run that was killed goes on only with the code that it began with."""

import sys
from pathlib import Path

import pytest

from setrl.control.resolved import ResolvedControl
from setrl.control.run import run_control
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.support.files import loading
from tests.at_once import at_once

CONFIG = """
name: mine
task: {name: "own_task:goals"}
arms:
  own: {algorithm: poly_ppo, method: "own_method:method", num_vines: 3}
"""
MODULES = {
    "own_sizes": "K = 2",
    "own_method": """
from own_sizes import K
from setrl import methods

def method():
    return methods.poly_epo(K)
""",
    "own_task": "from setrl.control.tasks.multi_goal import MultiGoal as goals",
}


class Killed(BaseException):
    """What no handler of the run sees."""


def as_a_new_process(folder: Path, *, accept: bool = False) -> None:
    """Start the run, which is killed in its first arm; nothing is trained."""

    def killed(*_: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch, at_once():
        for name in ("_own_modules", "_fingerprints", "_last_file"):  # what a process has loaded
            patch.setattr(loading, name, {})
        for name in MODULES:
            sys.modules.pop(name, None)
        patch.setattr("setrl.control.run.train_arm", killed)
        resolved = ResolvedControl.load(folder / "config.yaml")
        how = {"cache": folder, "show_progress": False, "accept_changes": accept}
        run_control(resolved, folder / "run", **how)


@pytest.mark.parametrize("changed", MODULES)
def test_a_killed_run_names_the_code_that_changed_since(changed: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG)
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    with pytest.raises(Killed):
        as_a_new_process(tmp_path)
    with pytest.raises(Killed):  # it goes on
        as_a_new_process(tmp_path)

    (tmp_path / f"{changed}.py").write_text(MODULES[changed] + "\n# another")
    before = files.read_json(tmp_path / "run" / "run.json")
    with pytest.raises(ConfigError, match=rf"something else:\n  own_.*\({changed}\.py\) changed\n"):
        as_a_new_process(tmp_path)
    assert files.read_json(tmp_path / "run" / "run.json") == before
    with pytest.raises(Killed):
        as_a_new_process(tmp_path, accept=True)
    accepted = files.read_json(tmp_path / "run" / "run.json")["accepted_changes"]
    assert [f"({changed}.py)" in one["what"] for one in accepted] == [True]
