"""Write the lists of docs/reference: each public name, its signature, what it is and takes.

mkdocstrings writes the docstrings into the site, where a page has the mark `::: setrl.NAME`. A
reader of the repository has no use for these marks, so they are in comments, `<!-- docstrings …
-->`. `python -m website.reference` writes a list above each comment, and names what has no mark. A
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
BLOCK = re.compile(r"\n+((?:(?:- |    - ).*\n)*)\n?<!-- docstrings\n((?:.*\n)*?)-->$", re.MULTILINE)
MARK = re.compile(r"^::: (\S+)$", re.MULTILINE)
LISTED = {"parameters", "attributes", "returns", "raises"}
ENTRY = re.compile(r"^- \[`([\w.]+)`\]\([^)]+\)(?:`.*?`)?: ", re.MULTILINE)
PART = re.compile(r"^    - .*\n", re.MULTILINE)


def filled(page: str) -> str:
    """Return a page with a list above each of its comments.

    Raises:
        KeyError: If the library has no such name.
        ValueError: If a name has no docstring.
    """
    title = page.partition("\n")[0].removeprefix("# ")

    def block(found: re.Match[str]) -> str:
        names = MARK.findall(found[2])
        listed = [line for name in names for line in _entry(title, name, names)]
        return "\n".join(["\n", *listed, "", "<!-- docstrings", f"{found[2]}-->"])

    return BLOCK.sub(block, page)


def for_site(page: str) -> str:
    """Return a page with its marks outside comments, below names that link to their docstrings."""

    def block(found: re.Match[str]) -> str:
        names = iter(MARK.findall(found[2]))
        short = ENTRY.sub(lambda one: f"- [`{one[1]}`](#{next(names)}): ", PART.sub("", found[1]))
        return f"\n\n{short}\n{found[2]}"

    return BLOCK.sub(block, page)


def marked() -> set[str]:
    """Return the names that have a mark."""
    pages = (path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    return {name for page in pages for name in MARK.findall(page)}


def main() -> None:
    """Write the pages again; end with an error that names what they lack."""
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    from website.check import name_faults  # it imports the whole library: only after the lists

    sys.exit("\n".join(name_faults()) or 0)


def _entry(title: str, name: str, names: list[str]) -> list[str]:
    package, _, inner = name.partition(".")
    value = _library(package)[inner]
    target = value.final_target if isinstance(value, griffe.Alias) else value
    if target.docstring is None:
        raise ValueError(f"{name} has no docstring: write one below or above it in its source")
    source = Path(str(target.filepath)).relative_to(ROOT).as_posix()
    signature = _signature(target)
    shown = f"[`{_shown(title, name, names)}`]({UP}/{source})" + f"`{signature}`" * bool(signature)
    return [f"- {shown}: {_first_paragraph(target.docstring)}", *_parts(target.docstring)]


def _signature(value: griffe.Object) -> str:
    """Return the arguments with types and defaults, and what comes back; empty if nothing."""
    if not isinstance(value, griffe.Class | griffe.Function):
        return ""
    taken = griffe.Parameters(*(one for one in value.parameters if one.name not in ("self", "cls")))
    returned = value.returns if isinstance(value, griffe.Function) else None
    signature = griffe.Function("", parameters=taken, returns=returned).signature()
    return signature if len(taken) or returned else ""


def _first_paragraph(docstring: griffe.Docstring) -> str:
    return _in_a_line(docstring.value.split("\n\n")[0])


def _parts(docstring: griffe.Docstring) -> list[str]:
    """List the arguments or attributes, what is returned and what is raised."""
    sections = docstring.parse("google", warnings=False)
    return [
        f"    - {_label(one)}: {_in_a_line(one.description)}"
        for section in sections if section.kind.value in LISTED for one in section.value
    ]  # fmt: skip


def _label(part: griffe.DocstringElement) -> str:
    """Return the name of an argument or attribute; a word for what is returned or raised."""
    if isinstance(part, griffe.DocstringReturn):
        return "returns"
    if isinstance(part, griffe.DocstringRaise):
        return f"raises `{part.annotation}`"
    assert isinstance(part, griffe.DocstringNamedElement)  # the others of LISTED are
    return f"`{part.name}`"


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


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
