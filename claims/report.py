"""The ledger's findings as a table to print, as JSON and as a page of documentation."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from claims.claims import BEYOND, DOCUMENTS, Finding, Part, Verdict, write
from claims.highlights import HIGHLIGHTS

SCHEMA_VERSION = 1
IN_PLURAL = {  # what rows are called → of several rows
    "holds": "hold",
    "holds by construction": "hold by construction",
    "holds up to scale": "hold up to scale",
    "reading": "depend on the reading",
    "fails": "fail",
    "inconsistent": "are inconsistent",
    "misprint": "are misprints",
    "analogy": "are analogies",
    "pseudocode": "are pseudocode",
    "definition": "are definitions",
}

OPENING = """\
# Which claims of the papers hold

A program checked {number} claims about set RL: {sources} of the sources, of which {failing} fail,
and {own} of our own. In all:

{counts}

The page has every definition, lemma, proposition, example and worked number of

- the *Set RL note* (Hamid, Orney, Sadigh, Finn and Goodman): the theory;
- a *tutorial* on Poly-EPO and two short *summaries* of its paper;
- a *review* of the MaxPO paper, with what it quotes of the abstract, figures and appendix.

[The documents](#the-documents) says where these are. The last section has our own results. **Not
covered** are the papers themselves: Polychromic Objectives (arXiv:2509.25424), Poly-EPO
(arXiv:2604.17654) and MaxPO (arXiv:2606.06080). Claims that only
these papers make are not on this page, and a program cannot check their results of training.

    make verify                          # checks all of them
    python -m claims note-prop-2.6       # claims whose ids start so; needs only `pip install -e .`

"""

READING = """\
## How to read an entry

An entry has its place in the document, its id, the verdict, and the claim in our words, with the
quantity that is compared. The check compares by the relation and the number of this sentence. The
lines below it say what is true instead, the first counterexample and in how many trials the claim
fails, and what was checked. The verdicts:

- **Holds.** True in every case that was checked. Exceptions without content are named: all rewards
  equal, the same diversity for every set that scores, a single set, no correct action, an
  advantage or a covariance of exactly 0.
- **Holds by construction.** True by the definition of what is compared: the check finds nothing
  that could be otherwise.
- **Holds up to scale.** True after multiplication with a positive factor, the same for every policy
  and every score. The factor is given.
- **Depends on the reading.** The words allow two readings, or the claim goes further than the
  document. The strict reading has a counterexample; the other reading holds and is given.
- **Fails.** False, or true only under a condition that the document does not state. There is a
  counterexample, and a corrected claim that held in every case checked.
- **Inconsistent**, **misprint**, **analogy**, **pseudocode.** It fails too, but not as a result
  that its authors mean: the document says otherwise elsewhere, a symbol is wrong, it explains by a
  likeness, or a listing is a sketch.
- **Definition.** What the document defines, written in full.

N is the number of samples of a prompt and n the size of a set. The MaxPO review writes B for N and
K for n, and our own results write K for n; in the other sections, K sets are K of the C(N, n) sets.
π is the policy. u and v are the mean scores of the sets with and without a sample. w is the mean
score of the sets of n − 1 samples without it, and U the mean score of all sets. A is the marginal
set advantage, Λ the scaffold value. The [glossary](glossary.md) explains these terms.

## How far to trust it

- The check does not see the verdict. It computes trials, and the verdict must follow from them.
- Nearly all arithmetic is exact, in fractions, by enumeration over small sets of actions, and
  shares no code with the library.
- Finitely many cases are evidence for a general claim, not a proof. [Some
  proofs](theory-proofs.md) are written out.
- What a document assumes anywhere is assumed everywhere: n ≥ 2, n < N, an f that ignores the order
  of the samples, rewards in [0, 1] for the polychromic objective. Where a claim holds with an
  assumption that the document makes elsewhere (the range of d in Definition 4.1 of the note) and
  fails with the document's own practical choice, it depends on the reading.
- A claim is checked in the strength in which the document makes it.
- A claim that something can happen needs one case. Every other claim needs all cases.

This page is written by `python -m claims --markdown docs/claims.md`; do not edit it.

## The documents

What was checked:

- **Set RL note.** Jubayer Ibn Hamid, Ifdita Hasan Orney, Dorsa Sadigh, Chelsea Finn and Noah
  Goodman (Stanford University), *Set Reinforcement Learning: Principles and Approaches*. The text
  has no date; it cites Poly-EPO, of 2026. No public address is known to us.
- **Poly-EPO tutorial.** A web page on the paper of Poly-EPO. The text names no author, title or
  date; a page that begins with the same words is at
  <https://www.engineermaxxing.com/veanors/papers/poly-epo.html>.
- **Poly-EPO summaries.** Two web pages on the same paper, in English and in Chinese, without author
  or date. Pages that begin with the same words:
  <https://cname.openbayes.net/en/papers/2604.17654> and <https://hyper.ai/cn/papers/2604.17654>.
- **MaxPO review.** A review of that paper, written by a language model: Pith, *On Advantage
  Estimates for Max@K Policy Gradients*, 28 June 2026, <https://pith.science/paper/DQ2PYM75>.

The papers that these documents are about, which were not checked:

- Jubayer Ibn Hamid, Ifdita Hasan Orney, Ellen Xu, Chelsea Finn and Dorsa Sadigh, *Polychromic
  Objectives for Reinforcement Learning*, September 2025, <https://arxiv.org/abs/2509.25424>.
- Ifdita Hasan Orney, Jubayer Ibn Hamid, Shreya S Ramanujam, Shirley Wu, Hengyuan Hu, Noah Goodman,
  Dorsa Sadigh and Chelsea Finn, *Poly-EPO: Training Exploratory Reasoning Models*, April 2026,
  <https://arxiv.org/abs/2604.17654>.
- Shota Takashiro, Soichiro Nishimori, Paavo Parmas and six others, *On Advantage Estimates for
  Max@K Policy Gradients*, 4 June 2026, <https://arxiv.org/abs/2606.06080>.
"""


FAILING_MEANS = """\
Each line is a claim that is false as it is stated; its link leads to what is true. A word in
brackets says that it is a slip of another kind. The claims from docs/theory.md simplify our own
results, which that page states exactly."""


def table(findings: Sequence[Finding]) -> str:
    """Make a line per claim, the findings of unconfirmed checks, the counts and the summary."""
    width = max((len(finding.claim.id) for finding in findings), default=0)
    lines = [
        f"{'ok' if f.confirmed else 'NO':3}{f.name:23}{f.claim.id:{width + 2}}"
        f"{textwrap.shorten(f.claim.statement, 70, placeholder=' …')}"
        for f in findings
    ]
    counts = Counter(finding.name for finding in findings)
    verdicts = ", ".join(f"{count} {name}" for name, count in counts.items())
    seconds = sum(finding.seconds for finding in findings)
    mismatches = map(_mismatch, _wrong(findings))
    return "\n".join([*lines, *mismatches, f"{verdicts}; {seconds:.0f} s", summary(findings)])


def summary(findings: Sequence[Finding]) -> str:
    """Say how many claims there are, and whether all are confirmed or which are not."""
    wrong = [finding.claim.id for finding in _wrong(findings)]
    result = f"{len(wrong)} not confirmed: {', '.join(wrong)}" if wrong else "all confirmed"
    return f"{len(findings)} claim{'s' * (len(findings) != 1)}: {result}"


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Convert the findings to plain data."""
    rows = [
        {
            "id": f.claim.id,
            "document": f.claim.document,
            "where": f.claim.where,
            "statement": f.claim.statement,
            "quantity": f.claim.quantity and vars(f.claim.quantity),
            "verdict": f.claim.verdict.value,
            "name": f.claim.name,
            "concluded": f.concluded.value,
            "confirmed": f.confirmed,
            "truth": f.claim.truth,
            "kind_reading": f.claim.kindly,
            "how": f.claim.how,
            "trials": {part.value: f.tallies[part].trials for part in Part},
            "failures": {part.value: f.tallies[part].failures for part in Part},
            "counterexample": f.counterexample,
            "refuted": f.refuted,
            "evidence": f.evidence,
            "seconds": round(f.seconds, 3),
        }
        for f in findings
    ]
    return {"schema_version": SCHEMA_VERSION, "confirmed": not _wrong(findings), "claims": rows}


def markdown(findings: Sequence[Finding]) -> str:
    """Write docs/claims.md: what to know first, counts, then the claims of each document."""
    sources = [finding for finding in findings if finding.claim.document != BEYOND]
    opening = OPENING.format(
        number=len(findings),
        sources=len(sources),
        failing=sum(finding.name == Verdict.FAILS.value for finding in sources),
        own=len(findings) - len(sources),
        counts=_counts(findings),
    )
    pages = [opening + _highlights(findings), READING, _failing(findings)]
    for document in DOCUMENTS:
        mine = [finding for finding in findings if finding.claim.document == document]
        if mine:
            pages += [f"## {document}\n", *map(_entry, mine)]
    return "\n".join(pages)


def _highlights(findings: Sequence[Finding]) -> str:
    """Write the table of the claims to read first, out of the examined ones."""
    verdict = {f.claim.id: _name(f) for f in findings}
    rows = [
        f"| {row.says} | [{verdict[row.id]}](#{row.id}) | {row.in_short} |"
        for row in HIGHLIGHTS
        if row.id in verdict
    ]
    head = ["## The most important ones", "", "| claim | verdict | in short |", "|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def _failing(findings: Sequence[Finding]) -> str:
    """List the claims that fail, document by document, each with a link to its entry."""
    lines = ["## What fails", "", FAILING_MEANS, ""]
    for document in DOCUMENTS:
        rows = [
            f"- [{f.claim.id}](#{f.claim.id}){_in_brackets(f)}: {f.claim.statement}"
            for f in findings
            if f.claim.document == document and f.concluded is Verdict.FAILS
        ]
        if rows:
            lines += [f"{document}:", "", *rows, ""]
    return "\n".join(lines)


def _counts(findings: Sequence[Finding]) -> str:
    """Return the table of verdicts (rows) by document (columns), without empty rows."""
    named = Counter((f.name, f.claim.document) for f in findings)
    columns = [one for one in DOCUMENTS if any(document == one for _, document in named)]
    short = [one.partition(" (")[0] for one in columns]
    lines = [
        "| claims that | " + " | ".join([*short, "all"]) + " |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for name, words in IN_PLURAL.items():
        cells = [named[name, document] for document in columns]
        if any(cells):
            lines.append(f"| {words} | " + " | ".join(map(str, [*cells, sum(cells)])) + " |")
    return "\n".join(lines)


def _entry(finding: Finding) -> str:
    row = finding.claim
    if finding.confirmed:
        verdict = f"**{_name(finding).capitalize()}.**"
    else:
        verdict = f"**Not confirmed: {_mismatch(finding)}.**"
    lines = [
        f'<a id="{row.id}"></a>',
        "",
        f"### {row.where}",
        "",
        f"`{row.id}` · {verdict} {row.statement}",
        "",
    ]
    if row.kindly:
        lines += [f"- A reading that holds: {row.kindly}"]
    if row.truth:
        lines += [f"- {_truth_label(row.verdict)}: {row.truth}"]
    if row.counterexample:
        lines += [f"- First counterexample: {finding.counterexample} (fails in {finding.refuted})"]
    lines += [f"- Checked: {row.how} ({_count(finding.trials)})", ""]
    return "\n".join(lines)


def _name(finding: Finding) -> str:
    return "depends on the reading" if finding.concluded is Verdict.READING else finding.name


def _in_brackets(finding: Finding) -> str:
    return f" ({finding.claim.word})" if finding.claim.word else ""


def _count(trials: int) -> str:
    return f"{trials:,} trial" + "s" * (trials != 1)


def _truth_label(verdict: Verdict) -> str:
    labels = {Verdict.FAILS: "What is true", Verdict.UP_TO_SCALE: "Scale"}
    return labels.get(verdict, "More exactly")


def _wrong(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.confirmed]


def _mismatch(finding: Finding) -> str:
    """Say the verdict of a row, the conclusion of its check, and the first failed trials."""
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
