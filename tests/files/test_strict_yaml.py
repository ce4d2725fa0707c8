"""Configs are read strictly, and quickly whatever they hold."""

from itertools import pairwise

import pytest

from setrl.logs.run import Run
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import strict_yaml


def doubled(first, line, last=""):
    """Aliases that double a value 25 times, in less than 700 bytes."""
    names = [f"b{i}" for i in range(26)]
    lines = [f"b0: &b0 {first}"]
    lines += [f"{b}: &{b} " + line.format(a) for a, b in pairwise(names)]
    return "\n".join([*lines, last.format(names[-1])])


BOMBS = {
    "merges": doubled("{x: 0}", "{{<<: [*{0}, *{0}]}}"),
    "lists": doubled("[1, 1]", "[*{0}, *{0}]", "name: *{0}"),
    "itself": "a: &a {b: *a}",
    "long": "a: &a " + "x" * 9_000 + "\nb: [" + "*a, " * 200 + "]",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_aliases_that_stand_for_too_much_are_refused_at_once(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    message = r"config.yaml: its aliases .* and merge keys \(<<\) stand for more than 1,000,000 ch"
    with pytest.raises(ConfigError, match=message):
        strict_yaml.read(path)
    with pytest.raises(DataError, match=message.replace(": its", ": is damaged: .*: its")):
        _ = Run(tmp_path).config  # as `setrl report` reads a folder
    with pytest.raises(ConfigError, match=r"override .*: its aliases"):
        strict_yaml.override({}, [f"a={text}"])


def test_merge_keys_and_aliases_are_read(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("base: &base {method: grpo, set_size: 4}\nother: {<<: *base, set_size: 2}\n")
    values, lines = strict_yaml.read(path)
    assert values["other"] == {"method": "grpo", "set_size": 2}
    assert lines["other.set_size"] == 2


def test_an_override_that_is_no_yaml_is_named():
    with pytest.raises(ConfigError, match=r"override 'steps=\[1':1: is not YAML"):
        strict_yaml.override({}, ["steps=[1"])


@pytest.mark.parametrize(
    ("text", "read_as", "why"),
    [
        ("2024-02-30", "a date", "(day is out of range for month)"),
        ("2024-01-01T00:00:00+99:99", "a date", "(offset must be"),
        ("!!timestamp soon", "a date", ""),
        ("!!float abc", "a number", "(could not convert string to float: 'abc')"),
        ("!!int ''", "a number", ""),
        ("!!bool maybe", "true or false", ""),
        ("9" * 5_000, "a number", "(Exceeds the limit"),
        (":".join(["9", *["59"] * 3_000]), "a number", "(Exceeds the limit"),
        (":".join(["9", *["59"] * 3_000]) + ".5", "a number", ""),
    ],
)
def test_a_value_that_yaml_knows_and_python_cannot_make(tmp_path, text, read_as, why):
    path = tmp_path / "config.yaml"
    path.write_text(f"steps: 1\nname: {text}\n")
    with pytest.raises(ConfigError) as error:
        strict_yaml.read(path)
    said = str(error.value)
    assert said.startswith(f"{path}:2: '")
    assert f"is read as {read_as}, and is none" in said
    assert why in said
    assert said.endswith("correct it, or put quotes around it if it is text")
    with pytest.raises(ConfigError, match=f"override .*:1: .* is read as {read_as}"):
        strict_yaml.override({}, [f"name={text}"])


LINES = {"steps": 1, "arms": 2, "arms.one": 3, "arms.one.method": 4, "arms.one.weight": 5}


@pytest.mark.parametrize(
    ("key", "overrides", "where"),
    [
        ("steps", [], "c.yaml:1"),
        ("steps", ["steps=1", "steps=0"], "override 'steps=0'"),
        ("arms.one.weight", ["arms.one.method=grpo"], "c.yaml:5"),
        ("arms.one.weight", ["arms.one={}"], "override 'arms.one={}'"),
        ("arms.one.weight", ["arms.one.weight=2", "arms={}"], "override 'arms={}'"),
        ("arms.one", ["arms.one.weight=2"], "c.yaml:3, changed by override 'arms.one.weight=2'"),
        (
            "arms.one",
            ["arms.one.a=1", "arms.one={}", "arms.one.b=2", "arms.ones=3"],
            "override 'arms.one={}', changed by override 'arms.one.b=2'",
        ),
        ("arms.two", ["arms.two.a=1", "arms.two.b=2"], "override 'arms.two.a=1', override 'arms.t"),
        ("arms.one.new", [], "c.yaml:3"),
        ("", ["steps=1"], "c.yaml"),
    ],
)
def test_an_error_names_what_gave_the_value(key, overrides, where):
    assert strict_yaml.place(key, "c.yaml", LINES, overrides).startswith(where)
