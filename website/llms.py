"""llms.txt and pages in Markdown, which the site has for language models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from website.titles import CODE

INTRODUCTION = """# setrl

> Set reinforcement learning: train policies on what their samples are worth together. A Python
> library (NumPy core, trainers for TRL, Tinker and verl, evaluation of logs, a command line).

An installed setrl has a guide for agents, `setrl/.agents/skills/setrl/SKILL.md` in its package; the
last line of `setrl --help` has its path. Each page below is Markdown; the page for people has
`.html` instead of `.md`.
"""


def write(site: Path, navigation: Navigation, markdown: dict[str, str]) -> None:
    """Write llms.txt, and each page as Markdown beside its HTML.

    Args:
        site: The folder of the site.
        navigation: The pages in their order.
        markdown: Address of a page → its Markdown, with links of the site.
    """
    for address, text in markdown.items():
        path = (site / address).with_suffix(".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lines = [INTRODUCTION, *_sections(navigation, markdown)]
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sections(navigation: Navigation, markdown: dict[str, str]) -> Iterator[str]:
    """Yield a heading for each part of the navigation, and a line for each of its pages."""
    part = None
    for page in navigation.pages:
        above = next(reversed([str(one.title) for one in page.ancestors]), "Start")
        if above != part:
            yield f"\n## {above}\n"
            part = above
        yield _line(page, markdown[page.file.dest_uri])


def _line(page: Page, text: str) -> str:
    address = page.file.dest_uri.removesuffix(".html")
    return f"- [{page.title}]({address}.md): {first_sentence(text)}"


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page, without links and marks."""
    blocks = re.split(r"\n\s*\n", CODE.sub("", markdown).strip())
    other = re.compile(r"[#!|<>*:-]|    ")  # headings, pictures, tables, lists, code
    prose = next((one.strip() for one in blocks if one.strip() and not other.match(one)), "")
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(prose.split()))
    return re.split(r"(?<=[.:])\s", plain.replace("*", ""), maxsplit=1)[0]
