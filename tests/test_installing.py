"""The command to install an extra works for how setrl was installed."""

import json
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from setrl.support.installing import install


@pytest.fixture
def came_from(monkeypatch):
    def set_origin(origin):
        text = None if origin is None else json.dumps(origin)
        found = SimpleNamespace(read_text=lambda name: {"direct_url.json": text}[name])
        monkeypatch.setattr("importlib.metadata.distribution", lambda name: found)

    return set_origin


def test_a_clone_is_named_by_its_folder(came_from, tmp_path):
    clone = tmp_path / "my setrl"
    clone.mkdir()
    url = clone.as_uri()
    came_from({"url": url, "dir_info": {"editable": True}})
    grader = clone / "packages/grader"
    assert install("cli") == f"pip install -e '{grader}' -e '{clone}[cli]'"
    came_from({"url": url, "dir_info": {}})
    assert install("cli,plot") == f"pip install '{grader}' '{clone}[cli,plot]'"
    (clone / "constraints.txt").touch()  # the versions that were tested
    tested = f"-c '{clone}/constraints.txt'"
    assert install("cli") == f"pip install {tested} '{grader}' '{clone}[cli]'"


def test_a_wheel_is_named_by_its_path_while_it_is_there(came_from, tmp_path):
    wheel = tmp_path / "setrl-0.2.0-py3-none-any.whl"
    wheel.touch()
    came_from({"url": wheel.as_uri(), "archive_info": {}})
    assert install("cli") == f"pip install --find-links {tmp_path} '{wheel}[cli]'"
    wheel.unlink()
    assert install("cli").startswith(
        "pip install -c constraints.txt ./packages/grader '.[cli]' in a clone of setrl, "
    )


def test_a_repository_on_a_server_is_named_with_its_commit(came_from):
    vcs = {"vcs": "git", "commit_id": "abc"}
    came_from({"url": "https://example.org/setrl.git", "vcs_info": vcs})
    where = "git+https://example.org/setrl.git@abc"
    grader = f"setrl-grader @ {where}#subdirectory=packages/grader"
    assert install("cli") == f"pip install '{grader}' 'setrl[cli] @ {where}'"


def test_without_a_known_origin_a_clone_and_a_wheel_are_named(came_from, monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    for set_origin in (
        lambda: came_from(None),
        lambda: monkeypatch.setattr("importlib.metadata.distribution", missing),
    ):
        set_origin()
        assert "-c constraints.txt ./packages/grader '.[cli]' in a clone of setrl" in install("cli")
        assert "FOLDER 'WHEEL[cli]' with the path of a wheel" in install("cli")
