"""Hooks of MkDocs: make pages of links that leave docs/ and of notebooks; show the reference.

Links get the titles of pages, the start page the playground, and language models llms.txt. Pictures
of results are drawn.

A page may link to any file of the repository, so that the same link works in the repository. On the
site, each file outside docs/ that a page links to becomes a page below `repository/`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from setrl.show.lab import playground
from website import check, llms, pictures, reference, titles
from website.notebooks import as_markdown

ROOT = Path(__file__).parents[1]
DOCS = "docs"
MIRROR = "repository"
HIDDEN, SHOWN = "/.agents/", "/agents/"  # MkDocs leaves out folders whose names begin with a dot
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(?=[#)])")
PLAYGROUND = "playground.html"
EMBEDDED = f"""\
Six scenes: one prompt, GRPO and its collapse, concave counts, their credit, and what the size K of
sets does. In the [whole playground]({PLAYGROUND}) you change samples and strategies, and see every
credit.

<iframe class="playground" src="{PLAYGROUND}?only=story" loading="lazy"
title="Playground: the shares of five strategies in training with GRPO and with sets"></iframe>"""
SOUGHT = re.compile(f"{DOCS}/(reference/)?(?!theory|experiments)[^/]+$")
IN_NAVIGATION = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")

WRITTEN: dict[str, str] = {}
"""Address of a page → its Markdown."""
NAVIGATION: list[Navigation] = []


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and for each file outside docs/ that some page links to."""
    files.append(File.generated(config, PLAYGROUND, content=playground().html()))
    _add_pictures(files, config)
    for file in [one for one in files if one.src_uri.endswith(".ipynb")]:
        _add_notebook(file, files, config)
    waiting = [_repository_path(file.src_uri) for file in files.documentation_pages()]
    waiting.extend(IN_NAVIGATION)
    for path in waiting:
        if path.endswith(".md"):
            waiting.extend(new for new in _outside(path) if new not in waiting)
        if not _in_docs(path):
            files.append(File.generated(config, _site_path(path), content=_page_of(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **kwargs: Any) -> str:
    """Show the docstrings of the reference, and point links at the pages of the site."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]  # it has one page; the playground needs the room
    source = _repository_path(page.file.src_uri)
    page.meta["search"] = _search(source)
    here = posixpath.dirname(page.file.src_uri)

    def moved(found: re.Match[str]) -> str:
        target = _target(source, found.group())
        if target is None or (_in_docs(target) and _in_docs(source) and _is_plain(target, found)):
            return found.group()
        return posixpath.relpath(_site_path(target), here or ".")

    whole = pictures.shown(reference.for_site(titles.named(markdown, source)))
    shown = LINK.sub(moved, whole)
    WRITTEN[page.file.dest_uri] = shown
    return shown.replace("<!-- playground -->", EMBEDDED)


def on_nav(nav: Navigation, **kwargs: Any) -> None:
    """Keep the order of the pages for llms.txt."""
    NAVIGATION[:] = [nav]


def on_post_build(config: MkDocsConfig) -> None:
    """Write what language models read, and check the site that was built."""
    llms.write(Path(config.site_dir), NAVIGATION[0], WRITTEN)
    faults = check.faults_of(Path(config.site_dir))
    if faults:
        raise PluginError("\n".join(["the site has faults:", *faults]))


def _add_pictures(files: Files, config: MkDocsConfig) -> None:
    """Draw the pictures that pages have marks of."""
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    named = {
        address: page for page, text in pages.items() for address in pictures.named(page, text)
    }
    try:
        for address, page in named.items():
            files.append(File.generated(config, address, content=pictures.drawn(address, page)))
    except ValueError as error:
        raise PluginError(str(error)) from error


def _add_notebook(file: File, files: Files, config: MkDocsConfig) -> None:
    assert file.abs_src_path is not None  # a notebook is a file on the disk
    markdown, pictures = as_markdown(Path(file.abs_src_path))
    files.append(File.generated(config, _site_path(f"{DOCS}/{file.src_uri}"), content=markdown))
    for name, data in pictures.items():
        beside = posixpath.join(posixpath.dirname(file.src_uri), name)
        files.append(File.generated(config, beside, content=data))


def _search(path: str) -> dict[str, Any]:
    """Return how search ranks a page: guides and the reference first, results later, no sources."""
    if not path.endswith((".md", ".ipynb")):
        return {"exclude": True}
    return {"boost": 1 if SOUGHT.match(path) else 0.01}


def _outside(path: str) -> list[str]:
    """List the files outside docs/ that a page links to."""
    text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).exists() else ""
    targets = [_target(path, link) for link in LINK.findall(reference.for_site(text))]
    return [one for one in dict.fromkeys(targets) if one is not None and not _in_docs(one)]


def _target(source: str, link: str) -> str | None:
    """Return the repository's file to which a link leads; None if it does not exist."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    inside = not path.startswith("..") and (ROOT / path).is_file()
    return path if inside else None


def _is_plain(target: str, found: re.Match[str]) -> bool:
    """Return whether MkDocs understands the link without changes."""
    return not target.endswith(".ipynb") and posixpath.basename(target) in found.group()


def _in_docs(path: str) -> bool:
    return path.startswith(f"{DOCS}/")


def _site_path(path: str) -> str:
    """Return where the site has a file of the repository."""
    if _in_docs(path):
        return path.removeprefix(f"{DOCS}/").replace(".ipynb", ".md")
    shown = path.replace(HIDDEN, SHOWN)
    return f"{MIRROR}/{shown}" + ("" if path.endswith(".md") else ".md")


def _repository_path(src_uri: str) -> str:
    """Return which file of the repository a page of the site shows."""
    if not src_uri.startswith(f"{MIRROR}/"):
        return f"{DOCS}/{src_uri}"
    path = src_uri.removeprefix(f"{MIRROR}/").replace(SHOWN, HIDDEN)
    return path if (ROOT / path).exists() else path.removesuffix(".md")


def _page_of(path: str) -> str:
    """Make a page of a file outside docs/: Markdown unchanged, anything else as code."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n````{Path(path).suffix[1:]}\n{text}````\n"
