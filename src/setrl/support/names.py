"""Look up values by name, with one message for unknown names; import names on demand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeVar

from setrl.support.installing import install

T = TypeVar("T")


def look_up(kind: str, name: str, known: Mapping[str, T]) -> T:
    """Return the value of a name; the error for an unknown one gives a near miss and all names.

    >>> look_up("method", "grop", {"grpo": 1, "rloo": 2})
    Traceback (most recent call last):
    ValueError: unknown method 'grop'; did you mean 'grpo'? Known: grpo, rloo
    """
    if isinstance(name, str) and name in known:
        return known[name]
    near = get_close_matches(str(name), known, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"unknown {kind} {name!r}{guess} Known: {', '.join(known)}")


def make(
    kind: str, config: str | Mapping[str, Any], factories: Mapping[str, Callable[..., T]]
) -> T:
    """Make what a config names: by a name only, or by a mapping of `name` and options.

    >>> make("number", {"name": "complex", "real": 1}, {"complex": complex})
    (1+0j)

    Raises:
        ValueError: If the name is missing or unknown, or the factory refuses the options.
    """
    options = {"name": config} if isinstance(config, str) else dict(config)
    if "name" not in options:
        raise ValueError(f"a {kind} needs the key 'name', got {options!r}")
    name = options.pop("name")
    factory = look_up(kind, name, factories)
    return call(f"options of the {kind} {name!r}", factory, options)


def call(what: str, function: Callable[..., T], options: Mapping[str, Any]) -> T:
    """Call a function with options of a config; an error begins with `what`.

    >>> call("options of the number 'i'", complex, {"rael": 1})
    Traceback (most recent call last):
    ValueError: options of the number 'i': unknown option 'rael'; did you mean 'real'? Known: ...

    Raises:
        ValueError: If an option is unknown or missing, or the function refuses one by a TypeError.
    """
    try:
        return checked(function, options)
    except (TypeError, OptionError) as error:
        raise ValueError(f"{what}: {error}") from error


class OptionError(ValueError):
    """An option of a config is unknown or missing."""


def checked(function: Callable[..., T], options: Mapping[str, Any]) -> T:
    """Call a function with options, after all of them are known and none is missing.

    Raises:
        OptionError: If one is unknown or missing; functions with `**options` check their own.
    """
    known = inspect.signature(function).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        _check_options(known, options)
    return function(**options)


def _check_options(known: Mapping[str, inspect.Parameter], options: Mapping[str, Any]) -> None:
    try:
        for name in options:
            look_up("option", name, known)
    except ValueError as error:
        raise OptionError(str(error)) from error
    for name, one in known.items():
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL and name not in options:
            raise OptionError(f"the option {name!r} is missing")


def imported_on_demand(
    package: str, modules: Mapping[str, str], extra: str
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when they are first used.

    Args:
        package: Name of the package.
        modules: Name → the module that defines it.
        extra: The extra of setrl that installs what the modules import.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(modules[name]), name)
        except ModuleNotFoundError as error:
            needs = f"{package}.{name} needs {error.name}: {install(extra)}"
            raise ImportError(needs) from error

    return get
