"""Write each command's purpose and options as Markdown, from the values that its help shows.

`python -m website.commands` writes them into docs/cli.md, between the lines `<!-- setrl train -->`
and `<!-- end -->`. A test compares the page with what would be written.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from setrl.cli import parser
from setrl.cli.extras import COMMANDS as COMMANDS
from setrl.cli.help import Option, flag, options, sentences
from setrl.cli.log_fields import EvaluatedFields
from setrl.cli.said import listed

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"^<!-- setrl (.+) -->\n(?:.*\n)*?<!-- end -->$", re.MULTILINE)
PLACEHOLDER = re.compile(r"[\w/]*<[^>]+>(?:[\w/.]|<[^>]+>)*")  # as in runs/<name>: not HTML
WIDTH = 120  # characters of a line of the page
FIELDS = "fields of a log"  # the options that several commands share, listed once
SHARED = f"… and of the [{FIELDS}](#{FIELDS.replace(' ', '-')}): "


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
        return _listed(EvaluatedFields, shared=True)
    command = parser.command_of(name)
    names = ", ".join(f"`{flag(one.name)}`" for one in options(command, shared=True))
    also = _wrapped(f"{SHARED}{names}.") if names else ""
    purpose = "\n\n".join(_wrapped(_shown(one)) for one in sentences(command))
    return "\n\n".join(filter(None, [purpose, _listed(command, shared=False), also]))


def _listed(command: type[Any], *, shared: bool) -> str:
    """List each option and its meaning; a table would be too wide for a phone."""
    return "\n".join(_item(command, one) for one in options(command, shared=shared))


def _item(command: type[Any], option: Option) -> str:
    said = " (required)" if option.is_required else ""
    said = f" (default `{option.default}`)" if option.default else said
    meaning = option.meaning.partition(";")[0] + ":" if option.name == "json" else option.meaning
    keys = listed(command, "Json") if option.name == "json" else {}
    lines = [f"- `{option.spelled}`{said}: {_shown(meaning)}"]
    lines += [f"    - `{name}`: {_shown(text)}" for name, text in keys.items()]
    return "\n".join(map(_wrapped, lines))


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
    indent = {"-": "  ", " ": "      "}.get(text[0], "")
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    main()
