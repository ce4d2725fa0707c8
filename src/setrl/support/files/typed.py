"""Values as the types that a dataclass declares, or an error that says what was wanted."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from setrl.support.errors import ConfigError
from setrl.support.files.strict_yaml import KeyedError


def refuse_other_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is not one of the choices of a `Literal` type.

    Raises:
        ConfigError: If it is another value; the message gives all choices.
    """
    known = get_args(choices)
    if value not in known:
        raise ConfigError(f"{name} must be one of {', '.join(known)}, got {value!r}")


def typed(name: str, value: Any, hint: Any) -> Any:
    """Return `value` as the type that a field declares: lists as tuples, integers as floats."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for kind in kinds:
        if (found := _as(kind, name, value)) is not _NO_MATCH:
            return found
    words = " or ".join(_in_words(kind) for kind in kinds)
    raise KeyedError(f"{name} must be {words}, got {value!r}", name)


_NO_MATCH = object()


def _as(kind: Any, name: str, value: Any) -> Any:
    if kind is Any:
        return value
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        return value if value in arguments else _NO_MATCH
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(typed(name, item, arguments[0]) for item in value)
    if origin is Mapping and isinstance(value, Mapping):
        inner = arguments[1]
        return {
            str(key): item if inner is Any else typed(f"{name}.{key}", item, inner)
            for key, item in value.items()
        }
    if not isinstance(kind, type) or isinstance(value, bool) != (kind is bool):
        return _NO_MATCH
    if kind is float and isinstance(value, int):
        return float(value)
    return value if isinstance(value, kind) else _NO_MATCH


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    words = {int: "a whole number", float: "a number", str: "a string", type(None): "null"}
    words[bool] = "true or false"
    names = {tuple: "a list", Mapping: "a mapping"}
    return words.get(kind) or names.get(get_origin(kind), str(kind))
