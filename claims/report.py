"""The ledger's findings as a table to print, as JSON and as a page of documentation."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from claims.claims import DOCUMENTS, Finding, Part, Verdict, write

SCHEMA_VERSION = 1
SHOWN = (
    Verdict.HOLDS,
    Verdict.UP_TO_SCALE,
    Verdict.READING,
    Verdict.FAILS,
    Verdict.DEFINITION,
)

OPENING = """\
# The claims ledger

This page lists every definition, lemma, proposition, example and worked number of the documents
that this library was built from, and whether it holds. The last part lists what we found beyond
them. Every entry has a check, which runs with

    make verify

A check does not use the verdict below; the verdict is confirmed if the trials of the check alone
lead to it. Nearly all arithmetic is exact, in fractions, by enumeration over small action sets, and
shares no code with the library. A check of finitely many cases is evidence for a general statement,
not a proof. Empirical results of the papers cannot be checked here and are left out.

Every statement is read in the same way:

- What its document assumes anywhere is assumed: n ≥ 2, n < N, an f that does not depend on the
  order of the samples, rewards in [0, 1] under the polychromic objective.
- A statement that fails only where what it is about is missing *holds*, and these cases are named.
  They are: all rewards equal, a diversity that is the same for every set that scores, a single
  set (K = 1), no correct action, an advantage or a covariance of exactly 0.
- A statement that something can happen, or may happen, needs one case. All others are taken to be
  general and need every case.
- A statement that needs a further condition, which its document does not state, *fails*, and the
  condition is given.
- Where the words of the document allow two readings and one of them holds, or where the statement
  goes further than the document, the verdict is *reading*: the strict reading is the statement and
  has its counterexample, and the kind reading stands beside it.
- A statement *holds up to scale* if all that is missing is a positive factor which is the same for
  every policy and every score.

A statement fails, or its strict reading does, only with a counterexample, the first one in a search
from small cases to large ones, and with a corrected statement or a kind reading that held in every
case tried.

N is the number of samples of a prompt, n (K in the MaxPO review, which has B samples) the size of a
set, π the policy, u and v the mean scores of the sets with and without a sample, w that of the sets
of n − 1 without it, U that of all, A the marginal set advantage, Λ the scaffold value.

This page is written by `python -m claims --markdown docs/claims.md`; do not edit it.
"""


def table(findings: Sequence[Finding]) -> str:
    """One line for each claim, what each unconfirmed check found, the counts and the summary."""
    width = max((len(finding.claim.id) for finding in findings), default=0)
    lines = [
        f"{'ok' if f.confirmed else 'NO':3}{f.concluded.value:18}{f.claim.id:{width + 2}}"
        f"{textwrap.shorten(f.claim.statement, 70, placeholder=' …')}"
        for f in findings
    ]
    counts = Counter(finding.concluded for finding in findings)
    verdicts = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
    seconds = sum(finding.seconds for finding in findings)
    mismatches = map(_mismatch, _wrong(findings))
    return "\n".join([*lines, *mismatches, f"{verdicts}; {seconds:.0f} s", summary(findings)])


def summary(findings: Sequence[Finding]) -> str:
    """How many claims there are, and whether all are confirmed or which are not."""
    wrong = [finding.claim.id for finding in _wrong(findings)]
    result = f"{len(wrong)} not confirmed: {', '.join(wrong)}" if wrong else "all confirmed"
    return f"{len(findings)} claim{'s' * (len(findings) != 1)}: {result}"


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as plain data."""
    rows = [
        {
            "id": f.claim.id,
            "document": f.claim.document,
            "where": f.claim.where,
            "statement": f.claim.statement,
            "verdict": f.claim.verdict.value,
            "concluded": f.concluded.value,
            "confirmed": f.confirmed,
            "truth": f.claim.truth,
            "kind_reading": f.claim.kindly,
            "how": f.claim.how,
            "trials": {part.value: f.tallies[part].trials for part in Part},
            "failures": {part.value: f.tallies[part].failures for part in Part},
            "counterexample": f.counterexample,
            "evidence": f.evidence,
            "seconds": round(f.seconds, 3),
        }
        for f in findings
    ]
    return {"schema_version": SCHEMA_VERSION, "confirmed": not _wrong(findings), "claims": rows}


def markdown(findings: Sequence[Finding]) -> str:
    """The page docs/claims.md: counts by verdict, then the claims of each document."""
    pages = [OPENING, _counts(findings)]
    for document in DOCUMENTS:
        mine = [finding for finding in findings if finding.claim.document == document]
        if mine:
            pages += [f"## {document}\n", *map(_entry, mine)]
    return "\n".join(pages)


def _counts(findings: Sequence[Finding]) -> str:
    heads = " | ".join(verdict.value for verdict in SHOWN)
    lines = [f"| | claims | {heads} |", "|---" * (len(SHOWN) + 2) + "|"]
    for document in (*DOCUMENTS, None):
        verdicts = [
            f.concluded for f in findings if document is None or f.claim.document == document
        ]
        cells = " | ".join(str(verdicts.count(verdict)) for verdict in SHOWN)
        lines.append(f"| {document or '**all**'} | {len(verdicts)} | {cells} |")
    return "\n".join(lines) + "\n"


def _entry(finding: Finding) -> str:
    row = finding.claim
    if finding.confirmed:
        verdict = f"**{finding.concluded.value.capitalize()}.**"
    else:
        verdict = f"**Not confirmed: {_mismatch(finding)}.**"
    lines = [f"### {row.where}", "", f"`{row.id}` · {verdict} {row.statement}", ""]
    if row.kindly:
        lines += [f"- Kind reading, which holds: {row.kindly}"]
    if row.truth:
        lines += [f"- {_truth_label(row.verdict)}: {row.truth}"]
    if row.counterexample:
        lines += [f"- First counterexample: {finding.counterexample}"]
    lines += [f"- Checked: {row.how} ({_count(finding.trials)})", ""]
    return "\n".join(lines)


def _count(trials: int) -> str:
    return f"{trials:,} trial" + "s" * (trials != 1)


def _truth_label(verdict: Verdict) -> str:
    labels = {Verdict.FAILS: "What is true", Verdict.UP_TO_SCALE: "Scale"}
    return labels.get(verdict, "More exactly")


def _wrong(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.confirmed]


def _mismatch(finding: Finding) -> str:
    """What a row says, what its check came to, and the first trials that did not hold."""
    failures = "; ".join(
        f"{part.value}: {tally.failures} of {tally.trials} failed, "
        f"first {write(tally.first_failure or {})}"
        for part, tally in finding.tallies.items()
        if tally.failures
    )
    return (
        f"{finding.claim.id} says {finding.claim.verdict.value!r}, its check "
        f"{finding.concluded.value!r}" + (f" ({failures})" if failures else "")
    )
