from dataclasses import dataclass, field

import pytest

from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.support.files.loading import code_of, load
from setrl.train.runs.provenance import check_inputs, inputs_of, provenance


def test_provenance(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/setrl", "train", "--config", "a b.yaml"])
    found = provenance()
    assert found["command"] == "setrl train --config 'a b.yaml'"
    assert {"python", "torch", "trl", "setrl"} <= set(found["versions"])
    assert found["git"] is None or len(found["git"]["commit"]) == 40


def test_what_changed_is_named_and_nothing_is_written(tmp_path):
    files.write_json(tmp_path / "run.json", {"name": "mine"})
    check_inputs(tmp_path, {"a": "1", "b": "2", "c": "3"}, keep=True)
    before = (tmp_path / "run.json").read_text()
    check_inputs(tmp_path, {"a": "1", "new": "4"})  # the others are not made yet
    with pytest.raises(ConfigError) as refused:
        check_inputs(tmp_path, {"a": "1", "b": "0", "c": "9"})
    assert str(refused.value).startswith(
        f"{tmp_path} holds a run that began with something else:\n  b changed\n  c changed\nput it"
    )
    with pytest.raises(ConfigError, match="something else:\n  c is gone\n"):
        check_inputs(tmp_path, {"a": "1", "b": "2"}, keep=True)
    assert (tmp_path / "run.json").read_text() == before


def test_an_accepted_change_is_recorded(tmp_path):
    files.write_json(tmp_path / "run.json", {"name": "mine"})
    for value in ("1", "2", "3"):
        check_inputs(tmp_path, {"a": value}, accept=True, keep=True)
    record = files.read_json(tmp_path / "run.json")
    assert record["inputs"] == {"a": "3"}
    assert [one["what"] for one in record["accepted_changes"]] == ["a", "a"]
    check_inputs(tmp_path, {"a": "3"}, keep=True)
    assert len(files.read_json(tmp_path / "run.json")["accepted_changes"]) == 2


@dataclass
class Config:
    arms: dict = field(default_factory=dict)


def test_the_files_of_judges_count_and_their_caches_do_not(tmp_path):
    for name in ("style.md", "kept.sqlite", "model/config.json", "model/README.md"):
        files.write_text(tmp_path / name, name)
    style, kept, model = (str(tmp_path / one) for one in ("style.md", "kept.sqlite", "model"))
    arms = {"a": {"judge": {"judge": "lm", "style": style, "cache": kept, "of": {"model": model}}}}
    assert list(inputs_of(Config(arms))) == [f"file {style}", f"{model}: config.json"]


def module(folder, name, text):
    files.write_text(folder / f"{name}.py", text)


def digests_after(folder, monkeypatch):
    """Load a function as a new process would."""
    from setrl.support.files import loading

    for known in (loading._own_modules, loading._fingerprints, loading._last_file):
        monkeypatch.setattr(loading, known_name(loading, known), type(known)())
    load("own_inputs:f", folder)
    return code_of({"arms": [{"method": "own_inputs:f"}, "no:reference", 3]})


def known_name(module, value):
    return next(name for name, one in vars(module).items() if one is value)


def test_code_is_the_module_and_what_it_imports_from_its_folder(tmp_path, monkeypatch):
    module(tmp_path, "own_inputs", "import json\nfrom own_neighbour import X\ndef f(): return X")
    module(tmp_path, "own_neighbour", "X = 1")
    module(tmp_path, "own_stranger", "X = 1")
    first = digests_after(tmp_path, monkeypatch)
    names = ["own_inputs:f (own_inputs.py)", "own_inputs:f (own_neighbour.py)"]
    assert sorted(first) == names
    module(tmp_path, "own_stranger", "X = 2")
    assert digests_after(tmp_path, monkeypatch) == first
    module(tmp_path, "own_neighbour", "X = 22")
    changed = digests_after(tmp_path, monkeypatch)
    assert [name for name in names if changed[name] != first[name]] == names[1:]


def test_code_of_a_package_is_its_own_modules_only():
    load("tests.lm.fields_of_mine:length", ".")
    found = code_of(["tests.lm.fields_of_mine:length"])
    assert "tests.lm.fields_of_mine:length (tests/lm/fields_of_mine.py)" in found
    assert all("(tests/" in name for name in found)
