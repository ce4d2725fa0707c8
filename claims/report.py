"""The ledger's findings as a table to print, as JSON and as a page of documentation."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from claims.claims import BEYOND, DOCUMENTS, TUTORIAL, Finding, Part, Verdict, write
from claims.formulas import Formula
from claims.highlights import HIGHLIGHTS, Highlight

SCHEMA_VERSION = 1
CARDS = 5  # of the claims to read first
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
# Which claims about set RL hold

A program checked {number} claims about set RL, **not the papers themselves**: {sources} of one
note, two summaries, a tutorial without author and a review written by a language model ([who wrote
them](#the-documents)), and {own} of our own.
{verdict}
Of those that fail, {tutorial} are in the tutorial. Every definition, lemma, proposition, example
and worked number is there, and no result of training.

    make verify                          # checks all of them
    python -m claims note-prop-2.6       # claims whose ids start so, and how each was checked

The second needs only `pip install -e .`.

"""

READING = """\
## How to read an entry

Id, place in the document, verdict; then the claim in our words, with the quantity that the check
compares. Below it: what is true instead, or what limits a claim that holds, and the first
counterexample with the number of trials in which the claim fails. `python -m claims ID` adds how a
claim was checked.

In a counterexample f is the score of a set: *max of (2, 1, 0)* is the largest reward of a member,
where the actions 0, 1 and 2 have the rewards 2, 1 and 0; π has their probabilities. Each action has
a separate strategy and answer: *polychromic* is mean reward times (different actions)/n, *majority*
the mean reward of the actions that occur most often, *f_srl* the largest reward divided by the
number of times that its action occurs, and *differ* 1 if two members differ.

- **Holds.** True in every trial, except where nothing is to compare: all rewards equal, the same
  diversity for every set that scores, a single set, no correct action, an advantage or a covariance
  of exactly 0.
- *By construction.* True by the definition of what is compared.
- **Holds up to scale.** True times the given positive factor, the same for every policy and score.
- **Depends on the reading.** The words allow two readings, or go further than the document. The
  strict one has a counterexample; the other holds and is given.
- **Fails.** False, or true only under a condition that the document does not state.
- **Inconsistent**, **misprint**, **analogy**, **pseudocode.** Fails too, but not as a result that
  its authors mean: the document says otherwise elsewhere, a symbol is wrong, it explains by a
  likeness, or a listing is a sketch.

N is the number of samples of a prompt and n the size of a set. The MaxPO review writes B for N and
K for n, our own results K for n; elsewhere, K sets are K of the C(N, n) sets. A is the marginal set
advantage, Λ the scaffold value; the [glossary](glossary.md#letters) has u, v, w and U.

## How far to trust it

- The check sees neither verdict nor relation, and the formula of a claim is the one that is
  evaluated. A claim with another relation or number is not confirmed, nor one with more or fewer
  trials; [which mutants survive](results/ledger/README.md).
- Numbers in a sentence come from its check. **Nothing checks the other words**, nor formulas that
  are written in words: read the quantity.
- Nearly all arithmetic is exact, in fractions, by enumeration over small sets of actions, and
  shares no code with the library.
- Finitely many cases are evidence for a general claim, not a proof; [some are
  proved](theory-proofs.md).
- What a document assumes anywhere is assumed everywhere: n ≥ 2, n < N, an f that ignores the order
  of the samples, rewards in [0, 1] for the polychromic objective.

This page is written by `python -m claims --markdown docs/claims.md`; do not edit it.

## The documents

- **Set RL note.** Jubayer Ibn Hamid, Ifdita Hasan Orney, Dorsa Sadigh, Chelsea Finn and Noah
  Goodman (Stanford University), *Set Reinforcement Learning: Principles and Approaches*; no date,
  no public address known to us.
- **Poly-EPO tutorial.** A web page without author or date, like
  <https://www.engineermaxxing.com/veanors/papers/poly-epo.html>.
- **Poly-EPO summaries.** Two web pages, in English and Chinese, without author or date, like
  <https://cname.openbayes.net/en/papers/2604.17654> and <https://hyper.ai/cn/papers/2604.17654>.
- **MaxPO review.** Written by a language model: Pith, *On Advantage Estimates for Max@K Policy
  Gradients*, 28 June 2026, <https://pith.science/paper/DQ2PYM75>.

They are about *Polychromic Objectives for Reinforcement Learning*
(<https://arxiv.org/abs/2509.25424>), *Poly-EPO: Training Exploratory Reasoning Models*
(<https://arxiv.org/abs/2604.17654>) and *On Advantage Estimates for Max@K Policy Gradients*
(<https://arxiv.org/abs/2606.06080>).
"""


def table(findings: Sequence[Finding]) -> str:
    """Make a line per claim, the findings of unconfirmed checks, the counts and the summary."""
    width = max((len(finding.claim.id) for finding in findings), default=0)
    lines = [
        f"{'ok' if f.confirmed else 'NO':3}{f.name:23}{f.claim.id:{width + 2}}"
        f"{textwrap.shorten(f.statement, 70, placeholder=' …')}"
        for f in findings
    ]
    counts = Counter(finding.name for finding in findings)
    verdicts = ", ".join(f"{count} {name}" for name, count in counts.items())
    seconds = sum(finding.seconds for finding in findings)
    mismatches = map(_mismatch, _wrong(findings))
    return "\n".join([*lines, *mismatches, f"{verdicts}; {seconds:.0f} s", summary(findings)])


def explained(findings: Sequence[Finding]) -> str:
    """Say of each claim what it states, what is true instead and how it was checked."""
    return "\n\n".join(
        "\n".join([_source(f), *_details(f), f"- Checked: {f.say(f.claim.how)}"]) for f in findings
    )


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
            "statement": f.statement,
            "quantity": _sides(f) if f.claim.quantity else None,
            "verdict": f.claim.verdict.value,
            "name": f.claim.name,
            "concluded": f.concluded.value,
            "confirmed": f.confirmed,
            "truth": f.say(f.claim.truth),
            "kind_reading": f.say(f.claim.kindly),
            "how": f.say(f.claim.how),
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


def _sides(finding: Finding) -> dict[str, Any]:
    sides = vars(finding.claim.quantity)
    as_text = str | Formula | Fraction
    words = {name: str(side) for name, side in sides.items() if isinstance(side, as_text)}
    return {**sides, **{name: finding.say(word) for name, word in words.items()}}


def markdown(findings: Sequence[Finding]) -> str:
    """Write docs/claims.md: what to know first, counts, then the claims of each document."""
    sources = [finding for finding in findings if finding.claim.document != BEYOND]
    failing = Counter(f.claim.document for f in sources if f.name == Verdict.FAILS.value)
    opening = OPENING.format(
        number=len(findings),
        sources=len(sources),
        verdict=in_one_sentence(sources),
        tutorial=failing[TUTORIAL],
        own=len(findings) - len(sources),
    )
    counts = f"## In numbers\n\n{_counts(findings)}\n"
    pages = [opening + _highlights(findings), READING, _failing(findings), counts]
    for document in DOCUMENTS:
        mine = [finding for finding in findings if finding.claim.document == document]
        if mine:
            pages += [f"## {document}\n", *_entries(mine)]
    return "\n".join(pages)


def in_one_sentence(findings: Sequence[Finding]) -> str:
    """Say how many claims fail, are another kind of slip, or fail if they are read strictly."""
    verdicts = Counter(finding.claim.verdict for finding in findings)
    failing = sum(finding.name == Verdict.FAILS.value for finding in findings)
    slips = verdicts[Verdict.FAILS] - failing
    return (
        f"Of the {len(findings)} claims of the sources {failing} fail, {slips} more are slips\n"
        "(inconsistent, a misprint, an analogy or pseudocode), and "
        f"{verdicts[Verdict.READING]} have a counterexample\nunder their strict reading."
    )


def _highlights(findings: Sequence[Finding]) -> str:
    """Write cards of the first claims that do not hold as written, and a line of each other."""
    by_id = {finding.claim.id: finding for finding in findings}
    rows = [(row, by_id[row.id]) for row in HIGHLIGHTS if row.id in by_id]
    cards = [(row, f) for row, f in rows if f.claim.counterexample][:CARDS]
    others = [_in_a_line(row, f) for row, f in rows if (row, f) not in cards]
    listed = ["## More to know", "", *others, ""] if others else []
    return "\n".join([*(_card(row, f) for row, f in cards), *listed])


def _card(row: Highlight, finding: Finding) -> str:
    """Write a claim, its verdict and its counterexample."""
    lines = [
        f"### {row.says}",
        f"Verdict: {_linked(finding)}. {row.in_short}.",
        f"Counterexample ({finding.refuted}): `{finding.counterexample}`",
    ]
    return "\n\n".join(lines) + "\n"


def _in_a_line(row: Highlight, finding: Finding) -> str:
    return f"- {row.says}: {_linked(finding)}. {row.in_short}."


def _linked(finding: Finding) -> str:
    return f"[{_name(finding)}](#{finding.claim.id})"


def _failing(findings: Sequence[Finding]) -> str:
    """Link to the claims that fail; a word in brackets says that it is another kind of slip."""
    lines = ["## What fails", ""]
    for document in DOCUMENTS:
        rows = [
            f"[{f.claim.id}](#{f.claim.id}){_in_brackets(f)}"
            for f in findings
            if f.claim.document == document and f.concluded is Verdict.FAILS
        ]
        if rows:
            lines += [f"- {document}: {', '.join(rows)}"]
    return "\n".join([*lines, ""])


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


def _entries(findings: Sequence[Finding]) -> list[str]:
    """Write what does not simply hold in full, then a list of what does."""
    holding = [f for f in findings if f.confirmed and f.concluded is Verdict.HOLDS]
    full = [_entry(finding) for finding in findings if finding not in holding]
    lines = "\n".join(map(_line, holding))
    return [*full, f"These hold:\n\n{lines}\n"] if holding else full


def _line(finding: Finding) -> str:
    row = finding.claim
    word = f" *{row.word.removeprefix('holds ').capitalize()}.*" if row.word else ""
    line = f'- <a id="{row.id}"></a>**`{row.id}`** {row.where}. {finding.statement}{word}'
    return "\n".join([line, *(f"    {detail}" for detail in _details(finding))])


def _source(finding: Finding) -> str:
    row = finding.claim
    return f"{row.id}, {row.document}, {row.where}: {finding.statement}"


def _entry(finding: Finding) -> str:
    row = finding.claim
    lines = [
        f'<a id="{row.id}"></a>',
        "",
        f"**`{row.id}`** {row.where}. {_verdict(finding)} {finding.statement}",
        "",
        *_details(finding),
    ]
    return "\n".join([*lines, ""] if lines[-1] else lines)


def _verdict(finding: Finding) -> str:
    if finding.confirmed:
        return f"**{_name(finding).capitalize()}.**"
    return f"**Not confirmed: {_mismatch(finding)}.**"


def _details(finding: Finding) -> list[str]:
    """Say which reading holds, what is true, and the first counterexample: what there is."""
    row = finding.claim
    lines = [f"- Holds if read so: {finding.say(row.kindly)}"] if row.kindly else []
    lines += [f"- {_truth_label(row.verdict)}{finding.say(row.truth)}"] if row.truth else []
    if row.counterexample:
        lines += [f"- Counterexample ({finding.refuted}): {finding.counterexample}"]
    return lines


def _name(finding: Finding) -> str:
    return "depends on the reading" if finding.concluded is Verdict.READING else finding.name


def _in_brackets(finding: Finding) -> str:
    return f" ({finding.claim.word})" if finding.claim.word else ""


def _truth_label(verdict: Verdict) -> str:
    labels = {Verdict.FAILS: "True: ", Verdict.UP_TO_SCALE: "Scale: "}
    return labels.get(verdict, "")


def _wrong(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.confirmed]


def _mismatch(finding: Finding) -> str:
    """Say how a row and its check differ, and the first failed trials."""
    failures = "; ".join(
        f"{part.value}: {tally.failures} of {tally.trials} failed, "
        f"first {write(tally.first_failure or {})}"
        for part, tally in finding.tallies.items()
        if tally.failures
    )
    row = finding.claim
    pins = "".join(
        f"; {name}: the row {getattr(row, name)!r}, its check {getattr(finding, name)!r}"
        for name in ("counterexample", "tried", "nearest")
        if getattr(row, name) != getattr(finding, name)
    )
    return (
        f"{row.id} says {row.verdict.value!r}, its check {finding.concluded.value!r}"
        + (f" ({failures})" if failures else "")
        + pins
    )
