"""What `--help` prints: each command on one screen, from the docstring and the fields of its class.

The manual (docs/cli.md) is written from the same values, so neither can say what the other does
not.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import shutil
import textwrap
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from tyro.conf import Positional

from setrl.cli.output import listed
from setrl.cli.shared_options import EvaluatedFields, LogFields

POSITIONAL = get_args(Positional[int])[1]
VALUES = {Path: "PATH", int: "INT", float: "NUMBER", str: "TEXT"}
COLUMN = 26  # where meanings begin
FIELDS, JSON = "--help-fields", "--help-json"


@dataclass(frozen=True)
class Option:
    """An option of a command, as people read it.

    Attributes:
        name: The name of its field.
        spelled: What is typed, such as `--samples INT`.
        default: The default value, as a user types it; empty if the help shows none.
        is_required: Whether the command needs it.
        meaning: What it does.
    """

    name: str
    spelled: str
    default: str
    is_required: bool
    meaning: str


def help_text(name: str, command: type[Any]) -> str:
    """Return the help of a command, with what it takes, in the order in which it is typed."""
    shown = options(command, shared=False)
    typed = [option.spelled for option in shown if not option.spelled.startswith("--")]
    usage = " ".join([f"usage: setrl {name}", *typed, "[OPTIONS]"])
    parts = [
        usage,
        *map(_wrap_paragraph, sentences(command)),
        _two_columns_text(_option_row(option) for option in shown),
    ]
    if fields := [flag(option.name) for option in options(command, shared=True)]:
        log = f"How a log is read, if a field is not recognised ({FIELDS} explains): "
        parts.append(_wrap_paragraph(log + " ".join(fields)))
    return "\n\n".join(parts)


def fields_text() -> str:
    """Return the help of the options that say how a log is read."""
    return _two_columns_text(
        _option_row(option) for option in options(EvaluatedFields, shared=True)
    )


def keys_text(name: str, command: type[Any]) -> str:
    """Return the keys of the object that a command prints with --json."""
    head = f"setrl {name} --json prints one JSON object; null where a value is unknown:"
    keys = listed(command, "Json")
    return f"{head}\n\n{_two_columns_text(keys.items())}"


def list_text(prefix: str, commands: Mapping[str, str], notes: Iterable[str] = ()) -> str:
    """Return the help of several commands: their purposes, one line each.

    Args:
        prefix: What is typed before a command.
        commands: Command → the first sentence of its help.
        notes: What is said below.
    """
    width = max(map(len, commands)) + 2
    room = _terminal_width() - width - 2
    rows = [f"  {name:<{width}}{textwrap.shorten(purpose, room, placeholder=' …')}"
            for name, purpose in commands.items()]  # fmt: skip
    usage = f"usage: {prefix} COMMAND [OPTIONS]"
    below = [f"`{prefix} COMMAND --help` explains a command and its options.", *notes]
    return "\n".join([usage, "", *rows, "", *map(_wrap_paragraph, below)])


def sentences(command: type[Any]) -> list[str]:
    """Return what a command does: the paragraphs of its docstring, up to the options."""
    text = re.split(r"^\w+:$", inspect.cleandoc(command.__doc__ or ""), flags=re.MULTILINE)[
        0
    ].strip()
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]


def options(command: type[Any], *, shared: bool) -> list[Option]:
    """Return the options of a command, what has a place first and --json last.

    Args:
        command: The dataclass whose fields they are.
        shared: Return the options about the fields of a log, which several commands share, or all
            others.
    """
    meanings, hints = listed(command, "Attributes"), get_type_hints(command, include_extras=True)
    fields = [field for field in dataclasses.fields(command)
              if (field.name in _shared_option_names(command)) == shared]  # fmt: skip
    fields.sort(
        key=lambda field: (field.name == "json", POSITIONAL not in get_args(hints[field.name]))
    )
    return [
        Option(
            field.name,
            _spell_option(hints[field.name], field),
            _spell_default(field),
            field.default is dataclasses.MISSING,
            meanings[field.name],
        )
        for field in fields
    ]


def flag(name: str) -> str:
    """Return the flag of a field."""
    return f"--{name.replace('_', '-')}"


def _option_row(option: Option) -> tuple[str, str]:
    is_flag = option.spelled.startswith("--")
    suffix = " (required)" if option.is_required and is_flag else ""
    suffix = f" (default {option.default})" if option.default else suffix
    return option.spelled, option.meaning + suffix


def _two_columns_text(rows: Iterable[tuple[str, str]]) -> str:
    """Return lines of two columns; a long first column has its own line."""
    lines = []
    for name, meaning in rows:
        text = textwrap.wrap(
            meaning, _terminal_width() - COLUMN, break_long_words=False, break_on_hyphens=False
        )
        head = f"  {name}"
        if len(head) >= COLUMN:
            lines.append(head)
            head = ""
        lines += [f"{head if i == 0 else '':<{COLUMN}}{line}" for i, line in enumerate(text)]
    return "\n".join(lines)


def _wrap_paragraph(text: str) -> str:
    return textwrap.fill(text, _terminal_width(), break_long_words=False, break_on_hyphens=False)


def _terminal_width() -> int:
    return min(shutil.get_terminal_size((100, 40)).columns, 100)


def _shared_option_names(command: type[Any]) -> set[str]:
    kinds = [kind for kind in (LogFields, EvaluatedFields) if issubclass(command, kind)]
    return {field.name for kind in kinds for field in dataclasses.fields(kind)}


def _spell_option(hint: Any, field: dataclasses.Field[Any]) -> str:
    """Write an option as on the command line, such as `--samples INT`."""
    if POSITIONAL in get_args(hint):
        return field.name.upper() + (" …" if get_origin(get_args(hint)[0]) is tuple else "")
    if hint is bool:
        return (
            f"{flag(field.name)}, {flag('no_' + field.name)}" if field.default else flag(field.name)
        )
    return f"{flag(field.name)} {_spell_value(hint)}"


def _spell_value(hint: Any) -> str:
    """Return what a user writes for a value of a type."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    if get_origin(hint) is Annotated:  # a special form, or a repeated option
        metavars = [form.metavar for form in kinds[1:] if hasattr(form, "metavar")]
        return metavars[0] if metavars else _spell_value(kinds[0]).removesuffix(" …")
    if get_origin(hint) is Literal:
        return "|".join(kinds)
    if get_origin(hint) in (Union, types.UnionType):
        return "|".join(map(_spell_value, kinds))
    if get_origin(hint) is tuple:
        return f"{_spell_value(kinds[0])} …" if ... in kinds else " ".join(map(_spell_value, kinds))
    return VALUES[hint]


def _spell_default(field: dataclasses.Field[Any]) -> str:
    """Return the default value, as a user types it; empty if the help shows none."""
    if isinstance(field.default, bool):
        return flag(field.name) if field.default else ""
    values = field.default if isinstance(field.default, tuple) else (field.default,)
    shown = values not in ((), (None,)) and field.default is not dataclasses.MISSING
    return " ".join(map(str, values)) if shown else ""
