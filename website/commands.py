"""What each command does and its options, as Markdown, from the classes that its parser reads.

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
from setrl.cli.log_fields import FieldNames, LogFields

COMMANDS: dict[str, type[Any]] = {
    **parser.COMMANDS,
    **{f"control {name}": one for name, one in parser.CONTROL.items()},
    **{f"verl {name}": one for name, one in parser.VERL.items()},
}
"""What follows `setrl` → the dataclass whose fields are the options."""

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"^<!-- setrl (.+) -->\n(?:.*\n)*?<!-- end -->$", re.MULTILINE)
PLACEHOLDER = re.compile(r"[\w/]*<[^>]+>(?:[\w/.]|<[^>]+>)*")  # as runs/<name>, which is no HTML
WIDTH = 120  # of a line of the page
FIELDS = "fields of a log"  # the options that several commands share, listed once
SHARED = f"… and of the [{FIELDS}](#{FIELDS.replace(' ', '-')}): "
POSITIONAL = get_args(tyro.conf.Positional[int])[1]
VALUES = {Path: "PATH", int: "INT", float: "NUMBER", str: "TEXT"}


def filled(markdown: str) -> str:
    """A page with the sentences and options of the commands that it marks.

    Raises:
        KeyError: If there is no such command.
    """
    return BLOCK.sub(lambda found: _block(found.group(1)), markdown)


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def _block(name: str) -> str:
    return f"<!-- setrl {name} -->\n\n{_section(name)}\n\n<!-- end -->"


def _section(name: str) -> str:
    if name == FIELDS:
        return _listed(LogFields, [field.name for field in dataclasses.fields(LogFields)])
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
    """The options that the section of shared ones explains for the command."""
    kinds = [kind for kind in (LogFields, FieldNames) if issubclass(command, kind)]
    return {field.name for kind in kinds for field in dataclasses.fields(kind)}


def _sentences(command: type[Any]) -> str:
    """What the command does: its docstring, up to the options."""
    text = re.split(r"^ *Attributes:", str(command.__doc__), flags=re.MULTILINE)[0].strip()
    return "\n\n".join(_wrapped(_shown(one)) for one in re.split(r"\n\s*\n", text))


def _listed(command: type[Any], names: list[str]) -> str:
    """Each option and its meaning, as a list: a table is too wide for a phone."""
    meanings, fields = _meanings(command), {one.name: one for one in dataclasses.fields(command)}
    hints = get_type_hints(command, include_extras=True)
    return "\n".join(
        _wrapped(
            f"- `{_spelled(hints[name], fields[name])}`{_default(fields[name])}: {meanings[name]}"
        )
        for name in sorted(names, key=lambda name: POSITIONAL not in get_args(hints[name]))
    )


def _meanings(command: type[Any]) -> dict[str, str]:
    """Option → what its docstring says of it; a class overrules those that it inherits from."""
    sections = [
        section
        for kind in reversed(command.__mro__[:-1])
        for section in griffe.Docstring(str(kind.__doc__)).parse("google", warnings=False)
    ]
    found = [one for section in sections if section.kind.value == "attributes"
             for one in section.value]  # fmt: skip
    return {one.name: _shown(one.description) for one in found}


def _shown(text: str) -> str:
    """Text of a docstring for a page: as it reads there, with links to the pages that it names."""
    line = PLACEHOLDER.sub(r"`\g<0>`", " ".join(text.split()))
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", line)


def _wrapped(text: str) -> str:
    """A paragraph or an item of a list, in lines of the page's width."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _spelled(hint: Any, field: dataclasses.Field[Any]) -> str:
    """An option as one writes it, such as `--samples INT`."""
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
    """What is written for a value of a type."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    if get_origin(hint) is Annotated:  # a form of its own, or an option that is repeated
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
    """The value without the option, if the meaning does not say it; or that there is none."""
    if field.default is dataclasses.MISSING:
        return " (required)"
    if isinstance(field.default, bool):
        return f" (default `{_flag(field.name)}`)" if field.default else ""
    values = field.default if isinstance(field.default, tuple) else (field.default,)
    return f" (default `{' '.join(map(str, values))}`)" if values not in ((), (None,)) else ""


if __name__ == "__main__":
    main()
