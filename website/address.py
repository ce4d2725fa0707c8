"""The public address of the repository: `python -m website.address` writes it everywhere.

There is none yet. Until there is, the package metadata has no links, the README no badge, and the
tutorials no link to Colab: nothing points to an address that somebody else may own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ADDRESS: str | None = None  # such as https://github.com/OWNER/NAME, without a slash at the end
ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
GITHUB = "https://github.com/"
EXTRAS = {"trl_script": "train"}  # tutorial → the extra that it needs, if not cli and plot
URLS = "# urls: `python -m website.address` writes them"
INSTALL = "install"  # tag and id of a tutorial's first cell


def main() -> None:
    """Write the address into all files that have a place for it."""
    for path, filled in places().items():
        path.write_text(filled(path.read_text(encoding="utf-8"), ADDRESS), encoding="utf-8")


def places() -> dict[Path, Callable[[str, str | None], str]]:
    """Return each file with a function (its text, the address) → its text with this address."""
    found: dict[Path, Callable[[str, str | None], str]] = {
        ROOT / "pyproject.toml": project,
        ROOT / "README.md": readme,
        ROOT / "CITATION.cff": citation,
    }
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        found[path] = lambda text, address, name=path.stem: tutorial(text, address, name)  # type: ignore[misc]
    return found


def project(text: str, address: str | None) -> str:
    """Return pyproject.toml with the table of links that package indexes show."""
    pages = {
        "Repository": "",
        "Documentation": "/blob/main/docs/index.md",
        "Changelog": "/blob/main/CHANGELOG.md",
        "Issues": "/issues",
    }
    links = [f'{name} = "{address}{page}"' for name, page in pages.items()]
    return _between(text, URLS, "# end of urls", ["[project.urls]", *links] if address else [])


def readme(text: str, address: str | None) -> str:
    """Return the README with its badge, which shows whether the checks of main pass."""
    checks = f"{address}/actions/workflows/checks.yml"
    badges = [f"[![checks]({checks}/badge.svg?branch=main)]({checks})"]
    return _between(text, "<!-- badges -->", "<!-- end -->", badges if address else [])


def citation(text: str, address: str | None) -> str:
    """Return CITATION.cff with the place of the code."""
    without = re.sub(r"^repository-code: .*\n", "", text, flags=re.MULTILINE)
    line = f'repository-code: "{address}"\n' if address else ""
    return re.sub(r"^(license: .*\n)", rf"\1{line}", without, flags=re.MULTILINE)


def tutorial(text: str, address: str | None, name: str) -> str:
    """Return a notebook whose first cell installs setrl, and says where it runs without a clone."""
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if not cell["id"].startswith(INSTALL)]
    notebook["cells"] = [cells[0], *_install_cells(address, name), *cells[1:]]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _install_cells(address: str | None, name: str) -> list[dict[str, Any]]:
    extra = EXTRAS.get(name, "cli,plot")
    source = f'"setrl[{extra}] @ git+{address}"' if address else f'-e "../..[{extra}]"'
    code = f"""\
# Without setrl, install it first{"" if address else ": from the clone that holds this notebook"}.
import importlib.util

if importlib.util.find_spec("setrl") is None:
    %pip install -q {source}"""
    install: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": INSTALL,
        "metadata": {},
        "outputs": [],
        "source": code.splitlines(keepends=True),
    }
    if not (address or "").startswith(GITHUB):
        return [install]
    where = f"{str(address).removeprefix(GITHUB)}/blob/main/docs/tutorials/{name}.ipynb"
    link = f"[Open in Colab](https://colab.research.google.com/github/{where})"
    colab = {"cell_type": "markdown", "id": f"{INSTALL}-colab", "metadata": {}, "source": [link]}
    return [colab, install]


def _between(text: str, start: str, end: str, lines: list[str]) -> str:
    """Return a text with other lines between two lines of it."""
    block = re.compile(rf"^{re.escape(start)}\n(?:.*\n)*?{re.escape(end)}$", re.MULTILINE)
    assert len(block.findall(text)) == 1
    new = "\n".join([start, *lines, end])
    return block.sub(lambda _: new, text)


if __name__ == "__main__":
    main()
