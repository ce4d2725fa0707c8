"""Sections of configs: what pydantic refuses is said in the words of a config."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pytest

from setrl.support.errors import ConfigError
from setrl.support.files.sections import Count, Positive, Section


@dataclass(frozen=True, kw_only=True)
class Own(Section):
    name: str
    sizes: tuple[int, ...] | None = None
    share: Positive = 0.5
    parts: Count | Mapping[str, Count] = 1
    rule: Literal["first", "last"] = "first"
    task: str | Mapping[str, Any] | None = None
    rest: Mapping[str, Any] | None = field(default_factory=dict)


def test_lists_are_tuples_and_integers_numbers():
    own = Own.of({"name": "a", "sizes": [1, 2], "share": 2, "parts": {"x": 3}, "task": {1: [2]}})
    assert own == Own(name="a", sizes=(1, 2), share=2.0, parts={"x": 3}, task={"1": [2]})
    assert (type(own.share), own.rule) == (float, "first")
    assert replace(own, share=3).share == 3.0


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        (
            {"shar": 1},
            "own.shar",
            "unknown key of own 'shar'; did you mean 'share'? Known:",
        ),
        ({"name": None}, "own.name", "own.name must be a string, got None"),
        ({"sizes": [1, "2"]}, "own.sizes", "own.sizes must be a whole number, got '2'"),
        ({"sizes": [True]}, "own.sizes", "own.sizes must be a whole number, got True"),
        ({"sizes": 1.0}, "own.sizes", "own.sizes must be a list or null, got 1.0"),
        ({"rest": 5}, "own.rest", "own.rest must be a mapping or null, got 5"),
        ({"share": 0}, "own.share", "own.share must be a number above 0, got 0"),
        ({"share": float("inf")}, "own.share", "own.share must be a finite number, got inf"),
        ({"share": True}, "own.share", "own.share must be a number, got True"),
        ({"parts": "x"}, "own.parts", "own.parts must be a whole number or a mapping, got 'x'"),
        ({"parts": 0}, "own.parts", "own.parts must be a number above 0 or a mapping, got 0"),
        ({"parts": {"x": 0}}, "own.parts.x", "own.parts.x must be a number above 0, got 0"),
        ({"rule": "frist"}, "own.rule", "own.rule must be 'first' or 'last', got 'frist'"),
        ({"task": 7}, "own.task", "own.task must be a string or a mapping or null, got 7"),
    ],
)
def test_what_is_wrong_is_named_and_what_is_right(change, key, message):
    with pytest.raises(ConfigError) as refused:
        Own.of({"name": "a", **change}, "own")
    assert str(refused.value).startswith(message)
    assert refused.value.key == key


def test_a_missing_key_is_named_unless_a_key_is_misspelt():
    with pytest.raises(ConfigError, match="the key 'name' of own is missing"):
        Own.of({}, "own")
    with pytest.raises(ConfigError, match="unknown key 'nmae'; did you mean 'name'"):
        Own.of({"nmae": "a"})


def test_a_value_of_python_is_checked_too():
    with pytest.raises(ConfigError, match=r"^share must be a number above 0, got -1$"):
        Own(name="a", share=-1)
