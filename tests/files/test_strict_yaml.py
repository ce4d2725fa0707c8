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
