"""The audit of a judge: means with intervals over groups, as JSON and as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from setrl import files
from setrl.evaluation.intervals import mean_over_problems
from setrl.evaluation.judge_audit import Audit
from setrl.evaluation.wording import markdown_table

SCHEMA_VERSION = 1
COMPARISONS = {
    "itself": "other orders of the samples",
    "pairwise": "the judge of pairs",
    "gold": "the gold labels",
}
ROWS = {
    "adjusted_rand": "adjusted Rand index",
    "precision": "pairwise precision",
    "recall": "pairwise recall",
    "f1": "pairwise F1",
    "flips": "flips",
    "signs_changed": "signs of advantages changed",
    "advantage_change": "relative change of advantages",
}
WITHOUT_REFERENCE = ("precision", "recall")  # neither of two orders is the reference


def audit_record(found: Audit, about: dict[str, Any]) -> dict[str, Any]:
    """The numbers of an audit: every measure's mean over groups, and its interval.

    Args:
        found: The measures of every group.
        about: Names of the judge, the file and the method, and the method's K.
    """
    comparisons = {
        name: {
            measure: _estimate(values)
            for measure, values in getattr(found, name).items()
            if not (name == "itself" and measure in WITHOUT_REFERENCE)
        }
        for name in COMPARISONS
        if getattr(found, name)
    }
    return {
        "schema_version": SCHEMA_VERSION,
        **about,
        "groups": found.groups,
        "orders": found.orders,
        "judgements_unknown": found.unknown,
        "clusters": _estimate(found.clusters),
        "agreement": comparisons,
    }


def audit_markdown(record: dict[str, Any]) -> str:
    """The table of an audit; every number is computed from the record."""
    names = list(record["agreement"])
    head = ["agreement with", *(COMPARISONS[name] for name in names)]
    rows = [
        [title, *(_cell(record["agreement"][name].get(measure)) for name in names)]
        for measure, title in ROWS.items()
    ]
    judgements = record["groups"] * record["orders"]
    words = (
        f"Judge {record['judge']} on {record['file']}: {record['groups']} groups, each judged in "
        f"{record['orders']} orders; {record['judgements_unknown']} of {judgements} judgements "
        f"unknown; {_cell(record['clusters'])} clusters per group."
    )
    note = (
        "Mean over groups, with its 95% interval over groups in brackets. − means that a measure "
        "is undefined in every group; n counts the groups where it is defined, if some are left "
        f"out. Advantages are those of {record['method']}, K = {record['set_size']}."
    )
    if pairs := record.get("pairs"):
        words += f" {pairs['questions']} questions about pairs, {pairs['unanswered']} unanswered"
        if pairs["triples"]:
            words += f"; {pairs['intransitive']} of {pairs['triples']} triples are intransitive"
        words += "."
    return "\n".join([words, "", markdown_table(head, rows), "", note]) + "\n"


def write_audit(found: Audit, about: dict[str, Any], folder: Path) -> list[Path]:
    """Write audit.json, audit.md and, where Matplotlib is installed, audit.png into a folder."""
    record = audit_record(found, about)
    written = [folder / "audit.json", folder / "audit.md"]
    files.write_json(written[0], record)
    files.write_text(written[1], audit_markdown(record))
    try:
        from setrl.report.judge_audit_figure import draw_audit
    except ModuleNotFoundError:
        return written
    draw_audit(found, record, folder / "audit.png")
    return [*written, folder / "audit.png"]


def _estimate(values: list[float]) -> dict[str, Any]:
    """A mean over groups, as JSON: an undefined number is null."""
    found = asdict(mean_over_problems(values))
    found["groups"] = found.pop("problems")
    del found["per_seed"]
    return {key: value if value == value else None for key, value in found.items()}


def _cell(estimate: dict[str, Any] | None) -> str:
    """A mean with its interval, and n if it is undefined in some groups."""
    if estimate is None:
        return ""
    if not estimate["groups"]:
        return "−"
    some = f" (n = {estimate['groups']})" if estimate["missing"] else ""
    if estimate["groups"] < 2:
        return f"{estimate['value']:.3f}{some}"
    return f"{estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]{some}"
