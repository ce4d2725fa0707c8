"""The claims ledger: statements of the source documents and our own, checked by running code.

To add a claim, write a function that yields trials in the file of its section and put `@claim` over
it; the function's docstring is the statement. See `claims.claims`.

>>> import claims
>>> finding = claims.examine(claims.find("tutorial-number-of-sets")[0])
>>> finding.concluded.value, finding.evidence
('holds', 'N=32, n=8')
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from claims import (
    beyond_audit,
    beyond_centred,
    beyond_counts,
    beyond_set_size,
    beyond_water_filling,
    maxpo,
    maxpo_cost,
    maxpo_variance,
    note_algorithms,
    note_estimator,
    note_polychromic,
    note_propositions,
    note_scaffold,
    note_sequential,
    note_single_turn,
    note_specular,
    report,
    summaries,
    tutorial_examples,
    tutorial_method,
    tutorial_objective,
)
from claims.claims import Claim, Finding, Verdict, examine
from setrl.support import names

__all__ = ["CLAIMS", "Claim", "Finding", "Verdict", "examine", "find", "report", "verify"]

SECTIONS = (
    note_sequential,
    note_single_turn,
    note_estimator,
    note_scaffold,
    note_polychromic,
    note_propositions,
    note_specular,
    note_algorithms,
    tutorial_method,
    tutorial_objective,
    tutorial_examples,
    summaries,
    maxpo,
    maxpo_cost,
    maxpo_variance,
    beyond_centred,
    beyond_set_size,
    beyond_water_filling,
    beyond_counts,
    beyond_audit,
)

CLAIMS: tuple[Claim, ...] = tuple(
    value for section in SECTIONS for value in vars(section).values() if isinstance(value, Claim)
)


def find(*starts: str) -> tuple[Claim, ...]:
    """Return the claims whose ids start with any of `starts`, in the ledger's order; else all.

    Raises:
        ValueError: If no id has a start; the message names the start and a near miss.
    """
    for start in starts:
        if not any(row.id.startswith(start) for row in CLAIMS):
            names.look_up("claim", start, {row.id: row for row in CLAIMS})
    return tuple(row for row in CLAIMS if not starts or row.id.startswith(starts))


def verify(
    only: Sequence[str] = (),
    *,
    json_path: Path | str | None = None,
    markdown_path: Path | str | None = None,
    texts_path: Path | str | None = None,
    echo: Callable[[str], None] = print,
) -> bool:
    """Run the checks, print their results, and return whether every verdict is confirmed.

    Args:
        only: Starts of ids, such as "maxpo" or "note-prop"; empty: all claims.
        json_path: File for the findings as JSON.
        markdown_path: File for the page of documentation.
        texts_path: File for all texts of the claims.
        echo: Function that receives the table.

    Returns:
        Whether every check reached the verdict that its claim carries.
    """
    findings = [examine(row) for row in find(*only)]
    if only:
        echo(report.explained(findings) + "\n")
    echo(report.table(findings))
    if json_path is not None:
        text = json.dumps(report.as_json(findings), indent=2, ensure_ascii=False)
        Path(json_path).write_text(text + "\n", encoding="utf-8")
    if markdown_path is not None:
        Path(markdown_path).write_text(report.markdown(findings), encoding="utf-8")
    if texts_path is not None:
        Path(texts_path).write_text(report.explained(findings) + "\n", encoding="utf-8")
    return all(finding.confirmed for finding in findings)
