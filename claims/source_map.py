"""`python -m claims.source_map docs/sources.md`: where what the sources describe is.

The rows are in `claims/sources.txt`. Each row names what runs: names of setrl, which must be in the
reference, and commands, whose files and options must exist.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from claims import CLAIMS
from claims.claims import Claim, Verdict

ROOT = Path(__file__).parents[1]
ROWS = Path(__file__).with_name("sources.txt")
STATES = ("trained", "shown", "in theory", "not here")

OPENING = """\
# Where what the sources describe is

Every definition, equation, algorithm, lemma, example, figure, table, ablation, environment and
practical advice of the five sources ([who wrote them](claims.md#the-documents)), in their order:
{rows} rows, of which {states}.

- **What runs** is a name of `setrl`, or a command. Tests import every name, and look up every
  command, page and heading.
- **Ledger**: what [the program that checks claims](claims.md) concludes.
- **Trained**: the page has training runs. **Shown**: a measurement, a picture or a worked example.
  **In theory**: computed exactly, for policies over a few actions.

This page is written by `python -m claims.source_map docs/sources.md` from `claims/sources.txt`; do
not edit it.
"""


@dataclass(frozen=True)
class Row:
    """One thing that a source describes.

    Attributes:
        source: The name of the source.
        place: Section, equation or number in it.
        what: What it is.
        runs: Names of setrl, and commands with "$ " before them.
        state: One of `STATES`.
        page: Where it is described, relative to docs; the reason for what is not here.
        claims: Rows of the ledger about it.
    """

    source: str
    place: str
    what: str
    runs: tuple[str, ...]
    state: str
    page: str
    claims: tuple[Claim, ...]


def read(text: str) -> list[Row]:
    """Read the rows of `claims/sources.txt`."""
    source, rows = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            source = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            rows.append(_row(source, line))
    return rows


def _row(source: str, line: str) -> Row:
    place, what, runs, where, ids = (part.strip() for part in line.split("|"))
    of_id = {claim.id: claim for claim in CLAIMS}
    state, _, page = where.partition(":" if where.startswith("not here") else ",")
    if state not in STATES:
        raise ValueError(f"{place}: a state is one of {', '.join(STATES)}, got {state!r}")
    listed = tuple(one.strip() for one in runs.split(";"))
    return Row(
        source, place, what, listed, state, page.strip(), tuple(of_id[i] for i in ids.split())
    )


def reference() -> dict[str, str]:
    """Return the page of docs/reference for each documented name."""
    return _reference()


@cache
def _reference() -> dict[str, str]:
    return {
        name: page.name
        for page in sorted((ROOT / "docs" / "reference").glob("*.md"))
        for name in re.findall(r"^::: setrl\.(\S+)", page.read_text("utf-8"), re.MULTILINE)
    }


def link(name: str) -> str:
    """Link to a name's entry in the reference, or to the entry of the class that has it.

    Raises:
        ValueError: If neither is there.
    """
    entry = entry_of(name)
    return f"[`{name}`](reference/{reference()[entry]}#setrl.{entry})"


def entry_of(name: str) -> str:
    """Return the name by which the reference documents what a short name stands for.

    A class is documented where it is defined, such as `control.sb3.vines.Vines`.
    """
    for known in (name, name.rpartition(".")[0]):
        ending = f".{known.rpartition('.')[2]}"
        found = [one for one in reference() if one.endswith(ending) and one.count(".") > 1]
        if known in reference() or len(found) == 1:
            return known if known in reference() else found[0]
    raise ValueError(f"setrl.{name} is not in docs/reference")


def markdown(rows: list[Row]) -> str:
    """Write docs/sources.md."""
    counts = Counter(row.state for row in rows)
    states = ", ".join(f"{counts[state]} {state}" for state in STATES)
    pages = [OPENING.format(rows=len(rows), states=states)]
    for source in dict.fromkeys(row.source for row in rows):
        pages += [
            f"## {source}\n",
            "\n".join(_table(row for row in rows if row.source == source)),
            "",
        ]
    return "\n".join(pages)


def _table(rows: Iterator[Row]) -> Iterator[str]:
    yield "| place | what | what runs | ledger | here |"
    yield "|---|---|---|---|---|"
    for row in rows:
        runs = "<br>".join(map(_runs, row.runs))
        ledger = "<br>".join(f"[{verdict(claim)}](claims.md#{claim.id})" for claim in row.claims)
        here = f"not here: {row.page}" if row.state == "not here" else f"[{row.state}]({row.page})"
        yield f"| {row.place} | {row.what} | {runs} | {ledger} | {here} |"


def verdict(claim: Claim) -> str:
    """Return what a row of the ledger is called on its page."""
    return "depends on the reading" if claim.verdict is Verdict.READING else claim.name


def _runs(one: str) -> str:
    return f"`{one.removeprefix('$ ')}`" if one.startswith("$") else link(one)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(read(ROWS.read_text("utf-8"))), encoding="utf-8")
