"""Pictures of results: a page has a mark where the site shows a picture that it draws from numbers.

    *Picture: what it shows* <!-- results/bandits.svg -->

A reader of the repository sees what the picture shows, and no broken picture. The address is
relative to the page. `studies.figures` draws. `python -m website.pictures` puts marks where
`setrl report --publish` left pictures that the site can draw, draws those of GitHub's pages again,
and makes screenshots small.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from PIL import Image

from studies import published
from studies.figures import COMMITTED, PICTURES, RESULTS, picture

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "cache" / "pictures"
MARK = re.compile(r"^\*Picture: (.+)\* <!-- (\S+\.svg) -->$", re.MULTILINE)
COLOURS = 256  # of a PNG file
PARTS = ("core", "theory", "evaluate", "show/report")
SOURCES = ("studies", *(f"src/setrl/{part}" for part in PARTS))


def shown(markdown: str) -> str:
    """Return a page with its pictures instead of their marks."""
    return MARK.sub(r"![\1](\2)", markdown)


def named(page: str, markdown: str) -> Iterator[str]:
    """Yield the addresses below docs/ of the pictures that a page of docs/ has marks of."""
    for _, path in MARK.findall(markdown):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def drawn(address: str, page: str) -> str:
    """Return a picture as SVG: from the cache, if neither its numbers nor its sources changed.

    Raises:
        ValueError: If nothing draws it.
    """
    name = address.removeprefix("results/").removesuffix(".svg")
    found = picture(name) if address.startswith("results/") else None
    if found is None:
        raise ValueError(
            f"docs/{page} has a mark of the picture {address}, but nothing draws it: "
            "correct the name, or add what draws it to studies/figures.py"
        )
    key = hashlib.sha256(f"{name} {found.digest()} {_sources()}".encode()).hexdigest()
    kept = CACHE / f"{key}.svg"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(found.svg(), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


@cache
def _sources() -> str:
    """Return a digest of the code that computes and draws."""
    found = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".json"):
                found.update(path.read_bytes())
    return found.hexdigest()


def leave_to_the_site(folder: Path) -> None:
    """Replace the pictures of a published run that the site draws by marks on the run's page."""
    page = folder / "README.md"
    text = page.read_text(encoding="utf-8")
    for chart in published.charts(folder):
        mark = f"*Picture: {chart.headline}* <!-- {chart.name}.svg -->"
        text = re.sub(rf"!\[[^]]*\]\({chart.name}\.png\)", mark.replace("\\", r"\\"), text)
        (folder / f"{chart.name}.png").unlink(missing_ok=True)
    page.write_text(text, encoding="utf-8")


def make_small(picture: Path) -> None:
    """Give a PNG file a palette, which takes a third of the bytes; nothing if it has one.

    The palette covers rare colours too, such as those of a strategy's mark; the step of k-means
    then moves it to the large pale areas, which are the intervals of curves.
    """
    with Image.open(picture) as found:
        if found.mode != "P":
            plain = found.convert("RGB")
            covering = Image.Quantize.MAXCOVERAGE
            small = plain.quantize(COLOURS, covering, kmeans=1, dither=Image.Dither.NONE)
            small.save(picture, optimize=True)


def main() -> None:
    """Leave to the site what it draws, and make what is in the repository again, and small."""
    for numbers in sorted(RESULTS.glob("*/summary.json")):
        leave_to_the_site(numbers.parent)
    for name in COMMITTED:
        (RESULTS / f"{name}.svg").write_text(PICTURES[name].svg(), encoding="utf-8")
    for path in RESULTS.parent.rglob("*.png"):
        make_small(path)


if __name__ == "__main__":
    main()
