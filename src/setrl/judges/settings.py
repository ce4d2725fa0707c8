"""Values from settings as a YAML file holds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from setrl.support.names import look_up

T = TypeVar("T")


def build(what: str, make: Callable[..., T], settings: Mapping[str, Any]) -> T:
    """Call `make(**settings)`.

    Raises:
        ValueError: Naming the setting that is unknown, with the near miss, or missing.
    """
    parameters = inspect.signature(make).parameters
    for key in settings:
        look_up(f"setting of {what}", key, parameters)
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in settings:
            raise ValueError(f"{what} needs the setting {key!r}")
    return make(**settings)
