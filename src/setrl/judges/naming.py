"""The name of a judge: its kind, and every setting that changes labels.

`setrl judge` resumes a file only under an equal name, so a name that lacked a setting would mix the
labels of two judges.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import MISSING, fields, is_dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

from setrl.support.secrets import is_secret


def name_of(value: Any) -> str:
    """Return the kind of a dataclass and its fields, without those at their defaults.

    A field with `compare=False` changes no labels and is left out. The first field has no label.

    Raises:
        TypeError: If the value is not a dataclass.
    """
    kind = type(value).__name__
    if not is_dataclass(value):
        raise TypeError(
            f"{kind} needs a name with every setting that changes labels: make it a dataclass, "
            "or give it the attribute `name`"
        )
    settings = changed(value)
    first = fields(value)[0].name if fields(value) else ""
    own = [f"{kind_of(kind)}:{shown(settings.pop(first))}" if first in settings else kind_of(kind)]
    return ", ".join([*own, *labelled(settings)])


def changed(value: Any, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass that are compared and are not at their defaults.

    A key or a password changes no label, and must not be written.
    """
    found = {one.name: getattr(value, one.name) for one in fields(value) if one.compare}
    defaults = {
        one.name: one.default if one.default_factory is MISSING else one.default_factory()
        for one in fields(value)
    }
    kept = (name for name in found if name not in leave_out and not is_secret(name))
    return {name: found[name] for name in kept if found[name] != defaults[name]}


def labelled(settings: dict[str, Any]) -> list[str]:
    """Return each setting with its label.

    >>> labelled({"threshold": 0.1, "family": None})
    ['threshold 0.1', 'family None']
    """
    return [f"{name} {shown(value)}" for name, value in settings.items()]


def kind_of(class_name: str) -> str:
    """Return the kind that a class is called after.

    >>> kind_of("ExactJudge"), kind_of("LMJudge"), kind_of("_OneStrategy")
    ('exact', 'lm', 'one_strategy')
    """
    words = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", class_name.removesuffix("Judge"))
    return "_".join(words).lower()


def shown(value: Any) -> str:
    """Return a setting as text that is equal in every process.

    >>> shown(len), shown((1, 2)), shown("m")
    ('builtins:len', '(1, 2)', 'm')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return f"{value.__module__}:{value.__qualname__}"
    if hasattr(value, "judge") or is_dataclass(value):
        name = value.name if hasattr(value, "judge") else name_of(value)
        return name if name.isidentifier() else f"[{name}]"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
