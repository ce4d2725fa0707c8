import pickle
import sys

import pytest

from setrl.support.errors import ConfigError
from setrl.support.files.loading import load_function


@pytest.fixture(autouse=True)
def same_interpreter():
    """Python's path, and its modules, must be the same afterwards."""
    path, modules = list(sys.path), dict(sys.modules)
    yield
    assert sys.path == path
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]


def write(folder, **modules):
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_function_of_the_folder_with_its_neighbour(tmp_path):
    write(tmp_path, own="import neighbour\ndef f(): return neighbour.X", neighbour="X = 5")
    loaded = load_function("own:f", tmp_path)
    assert loaded.value() == 5
    assert loaded.path == str(tmp_path / "own.py")
    assert pickle.loads(pickle.dumps(loaded.value)) is loaded.value


def test_a_function_of_a_package_of_the_folder(tmp_path):
    package = write(tmp_path / "pack", __init__="", part="from . import more\nf = more.f")
    write(package, more="def f(): return 7")
    assert load_function("pack.part:f", tmp_path).value() == 7


def test_folders_may_have_modules_of_one_name(tmp_path):
    for name in "ab":
        write(
            tmp_path / name,
            own="import neighbour\ndef f(): return neighbour.X",
            neighbour=f"X = {name!r}",
        )
    first, second, again = (load_function("own:f", tmp_path / name).value for name in "aba")
    assert (first(), second()) == ("a", "b")
    assert again is first  # the module ran once


def test_an_installed_function():
    assert load_function("json:dumps", "nowhere").value([1]) == "[1]"


def test_a_function_of_the_current_folder_comes_last(tmp_path, monkeypatch):
    here = write(tmp_path / "here", near="def f(): return 'here'", far="def f(): return 'far'")
    config = write(tmp_path / "config", near="def f(): return 'config'")
    monkeypatch.chdir(here)
    assert load_function("near:f", config).value() == "config"
    assert load_function("far:f", config).value() == "far"


def test_it_is_announced_once_with_its_file(tmp_path, capsys):
    write(tmp_path, once="def f(): ...")
    for _ in range(2):
        load_function("once:f", tmp_path)
    line = f"this runs your code: once:f, loaded from {tmp_path / 'once.py'}\n"
    assert capsys.readouterr().err == line


def test_other_ranks_are_silent(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    load_function("ranked:f", write(tmp_path, ranked="def f(): ..."))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("own", "given as 'module:name'.* got 'own'"),
        ("../own:f", "given as 'module:name'"),
        (7, "given as 'module:name'.* got 7"),
        ("absent:f", "no module 'absent', neither in .* nor installed"),
        ("own.absent:f", "absent"),
        ("own:scroe", r"own.py has no function 'scroe'; did you mean 'score'\?"),
        ("own:zzz", "has no function 'zzz': it has score"),
        ("own:NUMBER", "NUMBER must be a function, got 3"),
        ("needs:f", "needs needs 'absent_library', which is not installed"),
        ("broken:f", "importing broken failed with ZeroDivisionError: division by zero"),
        ("unclosed:f", "importing unclosed failed with SyntaxError"),
        ("leaves:f", "importing leaves failed with SystemExit: 3"),
        ("json:f", "json.py has the name of a module that Python already uses .*: rename it"),
    ],
)
def test_what_cannot_be_loaded(tmp_path, reference, message):
    write(
        tmp_path,
        own="from json import dumps\nNUMBER = 3\ndef score(): ...",
        needs="import absent_library",
        broken="1 / 0",
        unclosed="def f(:",
        leaves="raise SystemExit(3)",
        json="def f(): ...",
    )
    with pytest.raises(ConfigError, match=message):
        load_function(reference, tmp_path)
