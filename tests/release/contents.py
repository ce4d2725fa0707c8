"""What is in a built release: `python -m tests.release.contents`, the last step of `make wheel`."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
GRADER = ROOT / "packages/grader"
WANTED = (
    "py.typed",
    "show/lab/bundle/playground.js",
    "judges/instructions/",
    "show/report/templates/",
)
FIELDS = ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type", "Author")


def main() -> int:
    """Print what is wrong, a line each; 0 if nothing is."""
    (wheel, sdist), grader = built(), built("setrl_grader")
    wrong = [*wrong_files(wheel), *wrong_metadata(wheel), *wrong_sdist(sdist)]
    wrong += wrong_files(grader[0], "setrl_grader")
    for line in wrong:
        print(line, file=sys.stderr)
    for path in (wheel, sdist, *grader):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    return 1 if wrong else 0


def version() -> str:
    """The version that the source has."""
    text = (ROOT / "src/setrl/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


def built(package: str = "setrl") -> tuple[Path, Path]:
    """The wheel and the source distribution of this version."""
    name = f"{package}-{version()}"
    return DIST / f"{name}-py3-none-any.whl", DIST / f"{name}.tar.gz"


def tracked(package: str = "setrl") -> set[str]:
    """The files of a package, as the repository has them."""
    asked = ["git", "ls-files", "-z", f"src/{package}"]
    folder = ROOT if package == "setrl" else GRADER
    listed = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True).stdout
    return {name.removeprefix("src/") for name in listed.split("\0") if name}


def wrong_files(wheel: Path, package: str = "setrl") -> list[str]:
    """The wheel has only the files of the package and its metadata."""
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name for name in names if not name.startswith(f"{package}-{version()}.dist-info/")}
    lacks = [f"the wheel lacks {name}" for name in sorted(tracked(package) - inside)]
    more = [f"the wheel has {name}, too" for name in sorted(inside - tracked(package))]
    wanted = WANTED if package == "setrl" else ()
    lost = [name for name in wanted if not any(one.startswith(f"setrl/{name}") for one in inside)]
    return [*lacks, *more, *(f"the wheel has no setrl/{name}" for name in lost)]


def wrong_metadata(wheel: Path) -> list[str]:
    """The metadata has what an index shows, the licence and the command."""
    archive, folder = zipfile.ZipFile(wheel), f"setrl-{version()}.dist-info"
    found = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
    wrong = [f"the metadata lacks {field}" for field in FIELDS if not found[field]]
    if found["Version"] != version():
        wrong.append(f"the metadata is of version {found['Version']}")
    if f"{folder}/licenses/LICENSE" not in archive.namelist():
        wrong.append("the wheel lacks LICENSE")
    if b"setrl = setrl.cli:main" not in archive.read(f"{folder}/entry_points.txt"):
        wrong.append("the wheel lacks the command setrl")
    return wrong


def wrong_sdist(sdist: Path) -> list[str]:
    """The source distribution has all source, the bundle's included, and no study or test."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    lacks = {f"src/{name}" for name in tracked()} | {"web/package.json", "LICENSE", "CHANGELOG.md"}
    no_place = ("tests/", "recipes/", "docs/", "studies/", "runs/", "web/node_modules/")
    more = [name for name in sorted(names) if name.startswith(no_place)]
    return [
        *(f"the source distribution lacks {name}" for name in sorted(lacks - names)),
        *(f"the source distribution has {name}, too" for name in more),
    ]


if __name__ == "__main__":
    sys.exit(main())
