"""Titles of pages: on the site, a link names the page to which it leads, not the file."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from pymdownx.slugs import slugify

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[`?([\w./-]+\.(?:md|ipynb))`?\]\(([^)\s#]+)(#[\w-]+)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(
    r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL
)  # its comments are no headings


def named(markdown: str, source: str) -> str:
    """Return a page whose links have titles: of the page, or of the heading to which they lead.

    Args:
        markdown: The page.
        source: Its path in the repository.
    """
    return LINK.sub(lambda found: _named(found, posixpath.dirname(source)), markdown)


def title(path: str) -> str:
    """Return the title of a page of the repository."""
    return next(iter(headings(path).values()), path)


def _named(found: re.Match[str], folder: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, found[2]))
    if not found[2].endswith(posixpath.basename(found[1])) or not (ROOT / path).is_file():
        return found[0]
    text = headings(path).get((found[3] or "").removeprefix("#")) or title(path)
    return f"[{text}]({found[2]}{found[3] or ''})"


@cache
def headings(path: str) -> dict[str, str]:
    """Return anchor → heading of a page, the title first."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        text = text.partition('"# ')[2].partition('"')[0].removesuffix("\\n")
        return {"": text}
    slug = slugify(case="lower")
    return {slug(one, "-"): one for one in HEADING.findall(CODE.sub("", text))}
