"""Sections of a config: frozen dataclasses, whose values pydantic checks against their types.

pydantic is imported when the first section is made: a command that reads no config starts without.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import (
    Annotated,
    Any,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Gt

from setrl.support import names
from setrl.support.errors import DataError
from setrl.support.files.strict_yaml import KeyedError

Count: TypeAlias = Annotated[int, Gt(0)]
Positive: TypeAlias = Annotated[float, Gt(0)]
NotNegative: TypeAlias = Annotated[float, Ge(0)]
Natural: TypeAlias = Annotated[int, Ge(0)]

TYPES = {  # pydantic's name of an error → what is right, in words of YAML
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a string",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
}


class Section:
    """A mapping of a config, as a frozen dataclass whose values have the types of its fields.

    An integer is also a number, and a list becomes a tuple; nothing else is converted.
    """

    def __post_init__(self) -> None:
        for name, value in _check_types(type(self), vars(self), "").items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Mapping[str, Any], at: str = "") -> Self:
        """Return the section that a mapping describes.

        Args:
            values: The mapping.
            at: The key of the section in the config, which errors name.

        Raises:
            KeyedError: For an unknown key, with the nearest known one; for a missing key; or for a
                value of another type.
        """
        return cls(**_check_types(cls, values, at))


def check_values(hints: Mapping[str, Any], values: Mapping[str, Any], at: str) -> None:
    """Check values against the types of their keys, as those of a section; others are left out.

    Raises:
        KeyedError: For a value of another type.
    """
    known = {key: value for key, value in values.items() if key in hints}
    kind = dataclasses.make_dataclass("Values", [(key, hints[key]) for key in known])
    _check_types(kind, known, at)


def _check_types(kind: Any, values: Mapping[str, Any], at: str) -> dict[str, Any]:
    from pydantic import ValidationError

    try:
        checked = _pydantic_model(kind).model_validate(dict(values))
    except ValidationError as error:
        raise _error_of_key(kind, values, at, error.errors()) from None
    return {name: getattr(checked, name) for name in checked.model_fields_set}


@functools.cache
def _pydantic_model(kind: Any) -> Any:
    """Return pydantic's model of a dataclass."""
    from pydantic import ConfigDict, create_model

    hints = get_type_hints(kind, include_extras=True)
    strict = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True
    )
    keys: dict[str, Any] = {
        field.name: (_type_in_yaml(hints[field.name]), ... if _is_required(field) else None)
        for field in dataclasses.fields(kind)
        if field.init
    }
    return create_model(kind.__name__, __config__=strict, **keys)


def _type_in_yaml(hint: Any) -> Any:
    """Return a type whose tuples are lists, and whose names may be numbers, as YAML has them."""
    from pydantic import BeforeValidator, Strict

    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return Union[tuple(map(_type_in_yaml, parts))]  # noqa: UP007  # of types in a value
    if origin is Mapping:
        return Annotated[Mapping[str, _type_in_yaml(parts[1])], BeforeValidator(_names_as_text)]  # type: ignore[misc]
    return Annotated[hint, Strict(False)] if origin is tuple else hint


def _names_as_text(value: Any) -> Any:
    is_mapping = isinstance(value, Mapping)
    return {str(key): item for key, item in value.items()} if is_mapping else value


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _error_of_key(
    kind: type[Any], values: Mapping[str, Any], at: str, errors: Sequence[Any]
) -> KeyedError:
    """Return the error of the key that is wrong: an unknown one first, as it explains others."""
    hints = get_type_hints(kind)
    key_types = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    for error in errors:
        if error["type"] == "extra_forbidden":
            return unknown_key(error["loc"][0], key_types, at)
    name = errors[0]["loc"][0]
    if errors[0]["type"] == "missing":
        where = f" of {at}" if at else ""
        return KeyedError(f"the key {name!r}{where} is missing", at)
    wrong = [
        (_place_of_value(error["loc"], values), error)
        for error in errors
        if error["loc"][0] == name
    ]
    deepest, first = max(wrong, key=lambda each: len(each[0]))
    words = [_error_in_words(error) for place, error in wrong if place == deepest]
    words += ["null"] if deepest == [name] and type(None) in get_args(key_types[name]) else []
    key = ".".join(str(part) for part in [at, *deepest] if isinstance(part, str) and part)
    return KeyedError(f"{key} must be {' or '.join(words)}, got {first['input']!r}", key)


def _error_in_words(error: Mapping[str, Any]) -> str:
    usual = str(error["msg"]).removeprefix("Input should be ")
    if error["type"] not in TYPES:
        return usual
    limits = error.get("ctx", {}).items()
    return TYPES[error["type"]].format(**{k: f"{v:,}".removesuffix(".0") for k, v in limits})


def _place_of_value(parts: Sequence[str | int], values: Any) -> list[str | int]:
    """Return the keys and positions of a value: pydantic also names the members of unions."""
    place = []
    for part in parts:
        if (isinstance(values, Mapping) and part in values) or isinstance(part, int):
            values = values[part]
            place.append(part)
    return place


def unknown_key(key: str, known: Collection[str], at: str = "") -> KeyedError:
    """Return the error of an unknown key, with the nearest known one."""
    message = names.unknown(f"key of {at}" if at else "key", key, known)
    return KeyedError(message, f"{at}.{key}".removeprefix("."))


def refuse_unknown(given: Collection[str], known: Collection[str], at: str) -> None:
    """Refuse keys of a mapping that are not known."""
    for key in given:
        if key not in known:
            raise unknown_key(key, known, at)


def require(holds: object, key: str, must: str, value: Any) -> None:
    """Refuse the value of a key unless a condition holds, with what it must be."""
    if not holds:
        raise KeyedError(f"{key} must {must}, got {value!r}", key)


@contextmanager
def blamed_on(key: str, before: str = "") -> Iterator[None]:
    """Inside it, an error is an error of this key, unless it names its own key or a file."""
    try:
        yield
    except (KeyedError, DataError):
        raise
    except (ValueError, TypeError) as error:
        raise KeyedError(f"{before}{error}", key) from error


def refuse_other_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is not one of the choices of a `Literal` type.

    Raises:
        KeyedError: If it is another value; the message gives all choices.
    """
    allowed = get_args(choices)
    require(value in allowed, name, f"be one of {', '.join(allowed)}", value)
