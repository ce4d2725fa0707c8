"""Write each command's purpose and options as Markdown, from the classes that its parser reads.

`python -m website.commands` writes them into docs/cli.md, between the lines `<!-- setrl train -->`
and `<!-- end -->`. A test compares the page with what would be written.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import griffe
import tyro

from setrl.cli import parser
from setrl.cli.log_fields import EvaluatedFields, LogFields

COMMANDS: dict[str, type[Any]] = {
    **parser.COMMANDS,
    **{f"control {name}": one for name, one in parser.CONTROL.items()},
    **{f"verl {name}": one for name, one in parser.VERL.items()},
}
"""What follows `setrl` → the dataclass whose fields are the options."""

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"^<!-- setrl (.+) -->\n(?:.*\n)*?<!-- end -->$", re.MULTILINE)
PLACEHOLDER = re.compile(r"[\w/]*<[^>]+>(?:[\w/.]|<[^>]+>)*")  # as in runs/<name>: not HTML
WIDTH = 120  # characters of a line of the page
FIELDS = "fields of a log"  # the options that several commands share, listed once
SHARED = f"… and of the [{FIELDS}](#{FIELDS.replace(' ', '-')}): "
POSITIONAL = get_args(tyro.conf.Positional[int])[1]
VALUES = {Path: "PATH", int: "INT", float: "NUMBER", str: "TEXT"}


def filled(markdown: str) -> str:
    """Return a page with the sentences and options of the commands that it marks.

    Raises:
        KeyError: If a marked command does not exist.
    """
    return BLOCK.sub(lambda found: _block(found.group(1)), markdown)


def main() -> None:
    """Write docs/cli.md again."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def _block(name: str) -> str:
    return f"<!-- setrl {name} -->\n\n{_section(name)}\n\n<!-- end -->"


def _section(name: str) -> str:
    if name == FIELDS:
        return _listed(
            EvaluatedFields, [field.name for field in dataclasses.fields(EvaluatedFields)]
        )
    command = COMMANDS[name]
    parser.name_what_is_known(command)
    names = [field.name for field in dataclasses.fields(command)]
    shared = [name for name in names if name in _shared(command)]
    own = [name for name in names if name not in shared]
    listed = ", ".join(f"`{_flag(name)}`" for name in shared)
    also = _wrapped(f"{SHARED}{listed}.") if shared else ""
    parts = [_sentences(command), _listed(command, own), also]
    return "\n\n".join(filter(None, parts))


def _shared(command: type[Any]) -> set[str]:
    """Return the options of the command that the section of shared options explains."""
    kinds = [kind for kind in (LogFields, EvaluatedFields) if issubclass(command, kind)]
    return {field.name for kind in kinds for field in dataclasses.fields(kind)}


def _sentences(command: type[Any]) -> str:
    """Return what the command does: its docstring, up to the options."""
    text = re.split(r"^ *Attributes:", str(command.__doc__), flags=re.MULTILINE)[0].strip()
    return "\n\n".join(_wrapped(_shown(one)) for one in re.split(r"\n\s*\n", text))


def _listed(command: type[Any], names: list[str]) -> str:
    """List each option and its meaning; a table would be too wide for a phone."""
    meanings, fields = _meanings(command), {one.name: one for one in dataclasses.fields(command)}
    hints = get_type_hints(command, include_extras=True)
    return "\n".join(
        _wrapped(
            f"- `{_spelled(hints[name], fields[name])}`{_default(fields[name])}: {meanings[name]}"
        )
        for name in sorted(names, key=lambda name: POSITIONAL not in get_args(hints[name]))
    )


def _meanings(command: type[Any]) -> dict[str, str]:
    """Return option → its description in the docstring; a class overrules its base classes."""
    sections = [
        section
        for kind in reversed(command.__mro__[:-1])
        for section in griffe.Docstring(str(kind.__doc__)).parse("google", warnings=False)
    ]
    found = [one for section in sections if section.kind.value == "attributes"
             for one in section.value]  # fmt: skip
    return {one.name: _shown(one.description) for one in found}


def _shown(text: str) -> str:
    """Prepare a docstring's text for a page: as it reads there, with links to named pages."""
    line = PLACEHOLDER.sub(r"`\g<0>`", " ".join(text.split()))
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", line)


def _wrapped(text: str) -> str:
    """Wrap a paragraph or an item of a list to the page's width."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _spelled(hint: Any, field: dataclasses.Field[Any]) -> str:
    """Write an option as on the command line, such as `--samples INT`."""
    if POSITIONAL in get_args(hint):
        return field.name.upper() + (" …" if get_origin(get_args(hint)[0]) is tuple else "")
    if hint is bool:
        return (
            f"{_flag(field.name)}, {_flag('no_' + field.name)}"
            if field.default
            else _flag(field.name)
        )
    return f"{_flag(field.name)} {_value(hint)}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _value(hint: Any) -> str:
    """Return what a user writes for a value of a type."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    if get_origin(hint) is Annotated:  # a special form, or a repeated option
        known = [one.metavar for one in kinds[1:] if hasattr(one, "metavar")]
        return known[0] if known else _value(kinds[0]).removesuffix(" …")
    if get_origin(hint) is Literal:
        return "|".join(kinds)
    if get_origin(hint) in (Union, types.UnionType):
        return "|".join(map(_value, kinds))
    if get_origin(hint) is tuple:
        return f"{_value(kinds[0])} …" if ... in kinds else " ".join(map(_value, kinds))
    return VALUES[hint]


def _default(field: dataclasses.Field[Any]) -> str:
    """Describe the default value, if there is one to show, or say that the option is required."""
    if field.default is dataclasses.MISSING:
        return " (required)"
    if isinstance(field.default, bool):
        return f" (default `{_flag(field.name)}`)" if field.default else ""
    values = field.default if isinstance(field.default, tuple) else (field.default,)
    return f" (default `{' '.join(map(str, values))}`)" if values not in ((), (None,)) else ""


if __name__ == "__main__":
    main()
