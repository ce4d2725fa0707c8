"""What names the version names the same one, and a wheel with wrong files is noticed."""

import zipfile

import pytest
import yaml

import setrl
import setrl_grader
from tests.release import contents


def test_the_version_is_that_of_the_changelog_and_of_the_citation():
    changes = (contents.ROOT / "CHANGELOG.md").read_text()
    cited = yaml.safe_load((contents.ROOT / "CITATION.cff").read_text())
    newest = changes.split("\n## ")[1].splitlines()[0]
    assert contents.version() == setrl.__version__ == setrl_grader.__version__
    assert newest == f"{setrl.__version__} ({cited['date-released']})"
    assert cited["version"] == setrl.__version__


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """Makes a wheel with some files; the repository has three."""
    tracked = {
        "setrl/py.typed",
        "setrl/show/lab/bundle/playground.js",
        "setrl/judges/instructions/a.md",
    }
    monkeypatch.setattr(contents, "tracked", lambda package: tracked)
    monkeypatch.setattr(contents, "WANTED", contents.WANTED[:-1])

    def make(without=(), extra=()):
        path = tmp_path / "setrl.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name in (tracked - set(without)) | set(extra):
                archive.writestr(name, "")
        return path

    return make


def test_a_wheel_has_the_files_of_the_repository_and_no_others(wheel):
    assert contents.wrong_files(wheel()) == []
    lacking = contents.wrong_files(wheel(without=["setrl/py.typed"]))
    assert lacking == ["the wheel lacks setrl/py.typed", "the wheel has no setrl/py.typed"]
    assert contents.wrong_files(wheel(extra=["tests/a.py"])) == ["the wheel has tests/a.py, too"]
