"""A method and its arguments on a command line: `--method concave_counts --alpha 0`."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from setrl.core import methods
from setrl.support.files import strict_yaml

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """A command that takes a method.

    Attributes:
        set: An argument of the method, KEY=VALUE, such as alpha=0; --alpha 0 is the same. Can be
            repeated.
    """

    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def spec(self, method: str) -> dict[str, Any]:
        """Return a method, by its name or in the form of a config, with its arguments."""
        is_config = method.lstrip().startswith("{")
        found = strict_yaml.mapping(method) if is_config else {"method": method}
        strict_yaml.override(found, self.set)
        return found


def gathered(arguments: list[str], command: type[Any]) -> list[str]:
    """Return a command line in which arguments of methods are written with --set.

    >>> gathered(["credit", "--alpha", "0", "log.jsonl"], MethodOptions)
    ['credit', '--set', 'alpha=0', 'log.jsonl']

    Args:
        arguments: What was typed.
        command: The class of the command, whose own options stay.
    """
    own = {field.name for field in dataclasses.fields(command)}
    made = (inspect.signature(make).parameters for make in methods.by_name.values())
    known = {"gate", *(name for found in made for name in found)} - own
    waiting, result = list(arguments), []
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if not word.startswith("--") or name not in known:
            result.append(word)
            continue
        values = [value] if equals else _values(waiting)
        result += ["--set", f"{name}={values[0] if len(values) == 1 else _list(values)}"]
    return result


def _values(waiting: list[str]) -> list[str]:
    """Take the values of an option: one word, and the numbers after it if it is a number."""
    taken = [waiting.pop(0)] if waiting else [""]
    while NUMBER.fullmatch(taken[0]) and waiting and NUMBER.fullmatch(waiting[0]):
        taken.append(waiting.pop(0))
    return taken


def _list(values: list[str]) -> str:
    return f"[{', '.join(values)}]"


def as_options(config: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that name a method's config; see `MethodOptions.spec`.

    >>> as_options({"method": "concave_counts", "alpha": 0.0})
    ['--method', 'concave_counts', '--alpha', '0']
    """
    words = ["--method", config["method"]]
    for key, value in config.items():
        if key != "method":
            words += [f"--{key.replace('_', '-')}", f"{value:g}"]
    return words
