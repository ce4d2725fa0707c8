"""Look up values by name, with one message for unknown names; import names on demand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
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
    raise ValueError(unknown(kind, name, known))


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, with a near miss and all known names."""
    known = list(known)
    near = get_close_matches(str(name), known, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown {kind} {name!r}{guess} Known: {', '.join(known)}"


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
        given = ", ".join(options) or "nothing"  # not the values: one may be a secret
        raise ValueError(f"a {kind} needs the key 'name', got {given}")
    name = options.pop("name")
    return call(f"{kind} {name}", look_up(kind, name, factories), options)


def call(
    what: str,
    function: Callable[..., T],
    options: Mapping[str, Any],
    also: Iterable[str] = (),
) -> T:
    """Call a function with the options of a config.

    >>> call("number i", complex, {"rael": 1})
    Traceback (most recent call last):
    ValueError: unknown option of number i 'rael'; did you mean 'real'? Known: real, imag

    Args:
        what: What the function makes, for errors.
        function: The function; one that takes `**options` checks their names itself.
        options: Its arguments by name.
        also: Options that the caller takes itself, for errors.

    Raises:
        ValueError: If an option is unknown or missing, or the function refuses one.
    """
    parameters = inspect.signature(function).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for name in options:
            look_up(f"option of {what}", name, {**parameters, **dict.fromkeys(also)})
        for name, parameter in parameters.items():
            is_needed = (
                parameter.default is parameter.empty
                and parameter.kind is not parameter.VAR_POSITIONAL
            )
            if is_needed and name not in options:
                raise ValueError(f"{what} needs the option {name!r}")
    try:
        return function(**options)
    except TypeError as error:
        raise ValueError(f"{what}: {error}") from error


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
