"""Check the built site: links, pictures, tables, requests to other hosts, search, public names."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urldefrag, urlsplit

from typing_extensions import override

import setrl
import setrl_grader
from website import search
from website.reference import marked

INTERNAL = {
    "setrl.core.advantages",
    "setrl.support.files",
    "setrl.show.lab",
}  # only for our own code
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src",
          "video": "src", "audio": "src", "embed": "src", "object": "data"}  # fmt: skip
CODE = {"code", "pre", "script", "style"}
NOT_LOADED = {"canonical", "prev", "next", "alternate"}  # rel of <link>
IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


def faults_of(site: Path) -> list[str]:
    """List everything that is wrong with a built site, one sentence each."""
    return [
        *link_faults(site), *text_faults(site), *table_faults(site), *request_faults(site),
        *search.faults(site), *name_faults(),
    ]  # fmt: skip


@dataclass
class Read(HTMLParser):
    """The links of a page and their texts, the files that it loads, its anchors, its prose."""

    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    prose: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self._in_link = False
        self._code = 0  # how many elements of code are open

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self._code += tag in CODE
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            self.texts.append("")
            self._in_link = True
        loaded = given.get(LOADED.get(tag, ""))
        if loaded is not None and not NOT_LOADED & set(given.get("rel", "").split()):
            self.loads.append(
                urldefrag(loaded).url
            )  # what follows # is for the page that is loaded
        self.loads += IN_STYLE.findall(given.get("style", ""))

    @override
    def handle_endtag(self, tag: str) -> None:
        self._in_link = self._in_link and tag != "a"
        self._code -= tag in CODE

    @override
    def handle_data(self, data: str) -> None:
        if self._in_link:
            self.texts[-1] += data
        if not self._code:
            self.prose += data


def link_faults(site: Path) -> Iterator[str]:
    """Yield links, pictures, styles and scripts of pages that lead to nothing in the site."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":
            continue  # its links are absolute: any address may show it
        read = read_page(page)
        for link in dict.fromkeys(read.links + read.loads):
            fault = _link_fault(page, link)
            if fault:
                yield f"{page.relative_to(site)}: {link}: {fault}"


def text_faults(site: Path) -> Iterator[str]:
    """Yield links of pages whose text is the name of a page's file instead of its title."""
    for page in sorted(site.rglob("*.html")):
        for text in dict.fromkeys(read_page(page).texts):
            if re.fullmatch(r"[\w./-]+\.md", text.strip()):
                yield f"{page.relative_to(site)}: a link has the text {text.strip()}, not a title"


def table_faults(site: Path) -> Iterator[str]:
    """Yield pages on which a table is shown as it was written, with its bars."""
    for page in sorted(site.rglob("*.html")):
        if re.search(r"\|\s*:?-{3,}:?\s*\|", read_page(page).prose):
            yield f"{page.relative_to(site)}: a table is not one: write an empty line before it"


def request_faults(site: Path) -> Iterator[str]:
    """Yield each address on another host from which a page or a style sheet loads something."""
    for page in sorted(site.rglob("*.html")):
        for address in read_page(page).loads:
            if urlsplit(address).netloc:
                yield f"{page.relative_to(site)}: loads {address} from another host"
    for style in sorted(site.rglob("*.css")):
        for address in IN_STYLE.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)}: loads {address} from another host"


def name_faults() -> Iterator[str]:
    """Yield public names of the library that lack a docstring or a place in the reference."""
    shown = marked()
    for package, name in public_names():
        value = getattr(package, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and not _documented(value):
            yield f"{package.__name__}.{name} has no docstring"
        if not shown & set(_addresses(package, name, value)):
            yield f"{package.__name__}.{name} is on no page of docs/reference"


def public_names() -> Iterator[tuple[ModuleType, str]]:
    """Yield what the library offers: every `__all__`, objectives, and methods."""
    for name in public_modules():
        module = importlib.import_module(name)
        for public in module.__all__:
            if not inspect.ismodule(getattr(module, public)):
                yield module, public
    yield from ((setrl.objectives, name) for name in dir(setrl.objectives))
    yield from ((setrl.methods, name) for name in [*setrl.methods.by_name, "by_name", "labels"])


def public_modules() -> list[str]:
    """List the modules that declare public names by `__all__`."""
    found = []
    for source in (Path(setrl.__file__).parent, Path(setrl_grader.__file__).parent):
        for file in sorted(source.rglob("*.py")):
            if re.search(r"^__all__ =", file.read_text(encoding="utf-8"), re.MULTILINE):
                parts = file.relative_to(source.parent).with_suffix("").parts
                found.append(".".join(parts).removesuffix(".__init__"))
    return [name for name in found if name not in INTERNAL]


@cache
def read_page(page: Path) -> Read:
    """Read a page; a page is read only once."""
    read = Read()
    read.feed(page.read_text(encoding="utf-8"))
    return read


def _link_fault(page: Path, link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return "begins with /, so it works only where the site is at the root of its host"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in read_page(target).anchors:
        return "there is no such heading"
    return None


def _documented(value: object) -> bool:
    """Return whether it has a docstring other than the signature that `dataclass` writes."""
    text = (getattr(value, "__doc__", None) or "").strip()
    return bool(text) and not text.startswith(f"{getattr(value, '__name__', '')}(")


def _addresses(package: ModuleType, name: str, value: object) -> Iterable[str]:
    """Return the names under which the reference may show it."""
    yield f"{package.__name__}.{name}"
    yield f"{package.__name__}.{name}".replace("setrl.core.", "setrl.")
    if package.__name__.startswith("setrl.train.trl"):
        yield f"setrl.trl.{name}"
    yield f"{package.__name__.rpartition('.')[0]}.{name}"
    if hasattr(value, "__qualname__"):
        yield f"{value.__module__}.{value.__qualname__}"
