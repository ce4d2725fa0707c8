"""What the search of the built site finds first, as its own script ranks it. Needs Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

FIRST = {
    "SetGRPOTrainer": ("reference/trl.html", "trl.html"),
    "pass@k": ("glossary.html", "evaluation.html"),
    "vines": ("resettable.html", "poly-ppo.html"),
    "judge": ("judges.html", "reference/judges.html"),
    "concave counts": ("methods.html", "reference/methods.html"),
    "poly_epo": ("reference/methods.html", "methods.html"),
    "compare": ("from-problems.html", "reference/evaluation.html", "cli.html"),
    "verl": ("verl.html",),
    "grader": ("grader.html", "rewards.html", "reference/grader.html"),
    "audit": ("audit.html", "reference/audit.html"),
}
"""Query → the pages that it finds first, in any order."""


def first_hits(site: Path, queries: Sequence[str]) -> list[list[str]]:
    """Return for each query the ten pages that the site shows first, without their anchors."""
    script = Path(__file__).with_suffix(".js")
    ran = subprocess.run(
        ["node", str(script), str(site), *queries], capture_output=True, text=True, check=True
    )
    return [[hit.partition("#")[0] for hit in hits] for hits in json.loads(ran.stdout)]


def faults(site: Path) -> Iterator[str]:
    """Yield each query whose first hits are not its pages; none where there is no Node."""
    if shutil.which("node") is None:
        return
    for (query, pages), hits in zip(FIRST.items(), first_hits(site, list(FIRST)), strict=True):
        if set(hits[: len(pages)]) != set(pages):
            found = ", ".join(hits[: len(pages)]) or "nothing"
            yield f"search for {query}: finds {found} first, not {', '.join(pages)}"
