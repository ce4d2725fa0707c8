"""Write each command's purpose and options as Markdown, from the values that its help shows.

`python -m website.commands` writes them into docs/cli.md, between the lines `<!-- setrl train -->`
and `<!-- end -->`. A test compares the page with what would be written.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from setrl.cli import parser
from setrl.cli.extras import COMMANDS as COMMANDS
from setrl.cli.help import Option, flag, options, sentences
from setrl.cli.shared_options import EvaluatedFields

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"^<!-- setrl (.+) -->\n(?:.*\n)*?<!-- end -->$", re.MULTILINE)
PLACEHOLDER = re.compile(r"[\w/]*<[^>]+>(?:[\w/.]|<[^>]+>)*")  # as in runs/<name>: not HTML
WIDTH = 120  # characters of a line of the page
FIELDS = "fields of a log"  # the options that several commands share, listed once
SHARED = f"And the [{FIELDS}](#{FIELDS.replace(' ', '-')})"
LOG_FIELDS = options(EvaluatedFields, shared=True)


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
        return "\n".join(map(_item, LOG_FIELDS))
    command = parser.command_of(name)
    purpose = "\n\n".join(_wrapped(_shown(one)) for one in sentences(command))
    also = _wrapped(" ".join([*_as_elsewhere(name), *_log_fields(command)]) or " ").strip()
    return "\n\n".join(filter(None, [purpose, _listed(name), also]))


def _listed(name: str) -> str:
    """List each option and its meaning; a table would be too wide for a phone."""
    return "\n".join(_item(one) for one in own(name) if explained_in(one) == name)


@cache
def own(name: str) -> list[Option]:
    """Return the options that the page lists at a command: no `--json`, no usual field of a log."""
    command = parser.command_of(name)
    other_words = [one for one in options(command, shared=True) if one not in LOG_FIELDS]
    found = [*options(command, shared=False), *other_words]
    return [one for one in found if one.name != "json"]


def explained_in(option: Option) -> str:
    """Return the first command that has the same option with the same words."""
    return next(name for name in COMMANDS if option in own(name))


def _as_elsewhere(name: str) -> list[str]:
    """Return a sentence for each other command that explains options of this one."""
    where: dict[str, list[str]] = {}
    for one in own(name):
        where.setdefault(explained_in(one), []).append(f"`{one.spelled}`")
    where.pop(name, None)
    return [
        f"As in [{other}](#{other.replace(' ', '-')}): {', '.join(names)}."
        for other, names in where.items()
    ]


def _log_fields(command: type[Any]) -> list[str]:
    """Return the sentence that a command reads the fields of a log, and which it does not."""
    read = {one.name for one in options(command, shared=True)}
    lacking = [f"`{flag(one.name)}`" for one in LOG_FIELDS if one.name not in read]
    less = f" without {', '.join(lacking)}" if lacking else ""
    return [f"{SHARED}{less}."] if read else []


def _item(option: Option) -> str:
    said = " (required)" if option.is_required else ""
    said = f" (default `{option.default}`)" if option.default else said
    return _wrapped(f"- `{option.spelled}`{said}: {_shown(option.meaning)}")


def _shown(text: str) -> str:
    """Prepare a docstring's text for a page: as it reads there, with links to named pages."""
    line = PLACEHOLDER.sub(r"`\g<0>`", " ".join(text.split()))
    return re.sub(r"docs/([\w-]+)\.md", _link, line)


def _link(found: re.Match[str]) -> str:
    """Return a link to a page whose text is the title of the page."""
    title = (PAGE.parent / f"{found[1]}.md").read_text(encoding="utf-8").partition("\n")[0]
    return f"[{title.removeprefix('# ')}]({found[1]}.md)"


def _wrapped(text: str) -> str:
    """Wrap a paragraph or an item of a list to the page's width."""
    indent = "  " if text.startswith("-") else ""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    main()
