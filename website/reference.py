"""Write the tables of docs/reference: each public name, the start of its docstring, its source.

mkdocstrings writes the docstrings into the site, where a page has the mark `::: setrl.NAME`. A
reader of the repository has no use for these marks, so they are in comments, `<!-- docstrings …
-->`. `python -m website.reference` writes a table above each comment, and names what has no mark. A
test compares the pages with what would be written.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import griffe

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
UP = "../.."  # from a page to the root
HEAD = ("| name | what it is |", "|---|---|")
BLOCK = re.compile(r"^((?:\|.*\n)*)\n?<!-- docstrings\n((?:.*\n)*?)-->$", re.MULTILINE)
MARK = re.compile(r"^::: (\S+)$", re.MULTILINE)
ROW = re.compile(r"^\| \[`([\w.]+)`\]\([^)]+\)", re.MULTILINE)


def filled(page: str) -> str:
    """Return a page with a table above each of its comments.

    Raises:
        KeyError: If the library has no such name.
        ValueError: If a name has no docstring.
    """
    title = page.partition("\n")[0].removeprefix("# ")

    def block(found: re.Match[str]) -> str:
        names = MARK.findall(found[2])
        rows = [_row(title, name, names) for name in names]
        return "\n".join([*HEAD, *rows, "", "<!-- docstrings", f"{found[2]}-->"])

    return BLOCK.sub(block, page)


def for_site(page: str) -> str:
    """Return a page with its marks outside comments, and names that link to their docstrings."""

    def block(found: re.Match[str]) -> str:
        names = iter(MARK.findall(found[2]))
        return f"{ROW.sub(lambda row: f'| [`{row[1]}`](#{next(names)})', found[1])}\n{found[2]}"

    return BLOCK.sub(block, page)


def marked() -> set[str]:
    """Return the names that have a mark."""
    pages = (path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    return {name for page in pages for name in MARK.findall(page)}


def main() -> None:
    """Write the pages again; end with an error that names what they lack."""
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    from website.check import name_faults  # it imports the whole library: only after the tables

    sys.exit("\n".join(name_faults()) or 0)


def _row(title: str, name: str, names: list[str]) -> str:
    package, _, inner = name.partition(".")
    value = _library(package)[inner]
    target = value.final_target if isinstance(value, griffe.Alias) else value
    if target.docstring is None:
        raise ValueError(f"{name} has no docstring: write one below or above it in its source")
    source = Path(str(target.filepath)).relative_to(ROOT).as_posix()
    begins = " ".join(target.docstring.value.split("\n\n")[0].split()).replace("|", r"\|")
    return f"| [`{_shown(title, name, names)}`]({UP}/{source}) | {begins} |"


def _shown(title: str, name: str, names: list[str]) -> str:
    """Return the name as a reader writes it after the title of its page, which has these names."""
    last = name.rpartition(".")[2]
    exports = getattr(import_module(title), "__all__", ()) if find_spec(title) else ()
    is_exported = last in exports and (name == f"{title}.{last}" or f"{title}.{last}" not in names)
    return last if is_exported else name.removeprefix(f"{title}.")


@cache
def _library(package: str) -> griffe.Object | griffe.Alias:
    """Load a library as mkdocstrings does: from its source, without importing it."""
    return griffe.load(package, search_paths=[ROOT / "src", ROOT / "packages/grader/src"])


if __name__ == "__main__":
    main()
