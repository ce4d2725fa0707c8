"""The tutorials: run them again, compare what they print, and turn them into pages.

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
VARIES = "varies"  # tag of a cell whose figures depend on the processor: it is run, not compared
LIMIT_S = 600  # of one cell; a tutorial takes less than a minute on a free core


def as_markdown(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as a page in Markdown, and its pictures by name."""
    from nbconvert import MarkdownExporter

    text, resources = MarkdownExporter().from_filename(
        str(path), resources={"unique_key": path.stem, "output_files_dir": "."}
    )
    note = f"\n\n*This page is a notebook: [{path.name}](./{path.name}){{ download }}.*\n"
    title, _, rest = text.strip().partition("\n")
    return title + note + rest, resources["outputs"]


def run(path: Path) -> NotebookNode:
    """The notebook with the outputs of a new run, in its own folder."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    options: dict[str, Any] = {"timeout": LIMIT_S, "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources=where, **options).execute()
    for cell in notebook.cells:  # warnings name the paths of this machine
        if "outputs" in cell:
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    return notebook


def printed(cell: NotebookNode) -> str:
    """The text that a cell printed or returned; pictures are left out."""
    parts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" not in data:
            parts.append(output.get("text") or data.get("text/plain", ""))
    return "".join(parts)


def differences(old: NotebookNode, new: NotebookNode) -> list[str]:
    """What cells print now and printed before, where the two differ."""
    return [
        f"this cell:\n{now.source}\nprints:\n{printed(now)}\nbut the file has:\n{printed(before)}"
        for before, now in zip(old.cells, new.cells, strict=True)
        if printed(before) != printed(now) and VARIES not in now.metadata.get("tags", [])
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks; 1 if one prints what its file does not have."""
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
