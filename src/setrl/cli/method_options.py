"""A method and its options on a command line: `--method concave_counts --set alpha=0`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from setrl.support.files import strict_yaml


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """A command that takes a method.

    Attributes:
        set: An option of the method, KEY=VALUE, such as alpha=0; can be repeated.
    """

    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()

    def spec(self, method: str) -> dict[str, Any]:
        """Return a method, by its name or in the form of a config, with its options."""
        is_config = method.lstrip().startswith("{")
        found = strict_yaml.mapping(method, repr(method)) if is_config else {"method": method}
        strict_yaml.override(found, self.set)
        return found


def as_options(config: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that name a method's config; see `MethodOptions.spec`.

    >>> as_options({"method": "concave_counts", "alpha": 0})
    ['--method', 'concave_counts', '--set', 'alpha=0']
    """
    options = {key: value for key, value in config.items() if key != "method"}
    words = [("--set", f"{key}={json.dumps(value)}") for key, value in options.items()]
    return ["--method", config["method"], *(word for pair in words for word in pair)]
