"""The tutorials: run them again, compare their printed text, and turn them into pages.

`python -m website.notebooks --check` runs every notebook of docs/tutorials and compares the text
that each cell prints with the text in the file; `--write` puts the new outputs into the file.
Pictures, and the outputs of cells with the tag `varies`, are not compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
VARIES = "varies"  # tag of a cell whose numbers depend on the processor: it is run, not compared
LIMIT_S = 600  # seconds for one cell; a tutorial takes less than a minute on a free core


def as_markdown(path: Path) -> tuple[str, dict[str, bytes]]:
    """Convert a notebook to a page in Markdown, and its pictures by name."""
    from nbconvert import MarkdownExporter

    text, resources = MarkdownExporter().from_filename(
        str(path), resources={"unique_key": path.stem, "output_files_dir": "."}
    )
    note = f"\n\n*This page is a notebook: [{path.name}](./{path.name}){{ download }}.*\n"
    title, _, rest = text.strip().partition("\n")
    return title + note + rest, resources["outputs"]


def run(path: Path) -> NotebookNode:
    """Run a notebook again in its own folder; return it with the new outputs."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    options: dict[str, Any] = {"timeout": LIMIT_S, "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources=where, **options).execute()
    for cell in notebook.cells:  # warnings name paths of this machine
        if "outputs" in cell:
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    return notebook


def printed(cell: NotebookNode) -> str:
    """Return the text that a cell printed or returned, without pictures."""
    parts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" not in data:
            parts.append(output.get("text") or data.get("text/plain", ""))
    return "".join(parts)


def differences(old: NotebookNode, new: NotebookNode) -> list[str]:
    """Describe each cell that now prints other text than before."""
    return [
        f"this cell:\n{now.source}\nprints:\n{printed(now)}\nbut the file has:\n{printed(before)}"
        for before, now in zip(old.cells, new.cells, strict=True)
        if printed(before) != printed(now) and VARIES not in now.metadata.get("tags", [])
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks; return 1 if one prints other text than its file has."""
    parser = argparse.ArgumentParser(description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="compare the outputs")
    mode.add_argument("--write", action="store_true", help="write the outputs")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    options = parser.parse_args(arguments)
    return max([_one(path, options.write) for path in options.notebooks], default=1)


def _one(path: Path, write: bool) -> int:
    start = time.monotonic()
    new = run(path)
    print(f"{path.name}: {time.monotonic() - start:.0f} s", flush=True)
    if write:
        nbformat.write(new, path)
        return 0
    found = differences(nbformat.read(path, as_version=4), new)
    print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
