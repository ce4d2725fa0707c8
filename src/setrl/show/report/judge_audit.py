"""The audit of a judge: means with intervals over groups, as JSON, as a table and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from setrl.core import methods
from setrl.evaluate.intervals import Bounds, mean_over_problems
from setrl.evaluate.judge_audit import JudgeFindings, Labeling
from setrl.judges.base import Group
from setrl.samples.labels import by_first_appearance
from setrl.show.lab import Page
from setrl.support import files
from setrl.support.wording import interval, markdown_table, percent, plain

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
RANGES = {"adjusted_rand": (-0.5, 1.0), "advantage_change": (0.0, 2.0)}  # of others, 0 to 1
PROMPT_SHOWN, TEXT_SHOWN = 160, 1200  # letters
MOST_EXAMPLES, MOST_SAMPLES = 5, 32
DIGITS = 6
WITHOUT_REFERENCE = ("precision", "recall")  # neither of two orders is the reference


def audit_record(
    findings: JudgeFindings,
    about: dict[str, Any],
    groups: Sequence[Group] = (),
    gold: Sequence[Labeling | None] | None = None,
) -> dict[str, Any]:
    """Collect an audit's numbers: the mean of each measure over groups, its interval, its groups.

    Args:
        findings: The measures of every group.
        about: Names of the judge, the file and the method, and the method's K.
        groups: What was judged, to be shown where the judge contradicts itself.
        gold: The right labels of each group.
    """
    comparisons = {
        name: {
            measure: _mean_over_groups(values, RANGES.get(measure, (0.0, 1.0)))
            for measure, values in getattr(findings, name).items()
            if not (name == "itself" and measure in WITHOUT_REFERENCE)
        }
        for name in COMPARISONS
        if getattr(findings, name)
    }
    return {
        "schema_version": SCHEMA_VERSION,
        **about,
        "groups": findings.groups,
        "orders": findings.orders,
        "judgements_unknown": findings.unknown,
        "strategies": _mean_over_groups(findings.strategies),
        "agreement": comparisons,
        "by_group": {
            name: {
                measure: _rounded_or_none(getattr(findings, name)[measure]) for measure in measures
            }
            for name, measures in comparisons.items()
        },
        "prompts": [group.prompt[:PROMPT_SHOWN] for group in groups],
        "examples": _contradiction_examples(findings, groups, gold),
    }


def _rounded_or_none(values: Sequence[float]) -> list[float | None]:
    return [round(value, DIGITS) if value == value else None for value in values]


def _contradiction_examples(
    findings: JudgeFindings, groups: Sequence[Group], gold: Sequence[Labeling | None] | None
) -> list[dict[str, Any]]:
    """Return the groups on which the judge contradicts itself most, with all its labels."""
    flips = list(enumerate(findings.itself.get("flips", [])))
    worst = sorted((flip for flip in flips if flip[1] > 0), key=lambda flip: (-flip[1], flip[0]))
    return [
        _contradiction_example(
            place, groups[place], findings.labels[place], gold[place] if gold else None
        )
        for place, _ in worst[:MOST_EXAMPLES]
        if place < len(groups)
    ]


def _contradiction_example(
    place: int, group: Group, labels_R: Sequence[Labeling | None], gold: Labeling | None
) -> dict[str, Any]:
    names_R = [None if labels is None else by_first_appearance(labels) for labels in labels_R]
    truth = None if gold is None else by_first_appearance(gold)
    return {
        "group": place,
        "prompt": _cut_text(group.prompt),
        "samples": [
            {
                "text": _cut_text(text),
                "labels": [None if names is None else int(names[n]) for names in names_R],
                "gold": None if truth is None else int(truth[n]),
            }
            for n, text in enumerate(group.texts[:MOST_SAMPLES])
        ],
    }


def _cut_text(text: str) -> str:
    return text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + " …"


def audit_in_words(record: dict[str, Any]) -> list[str]:
    """Write a few sentences for a reader who does not know the measures, most important first."""
    agreement, judge = record["agreement"], record["judge"]
    method = methods.labels.get(record["method"], record["method"])
    itself, gold = agreement.get("itself", {}), agreement.get("gold", {})
    lines = []
    if _has_value(itself.get("flips")):
        lines.append(f"When the judge “{judge}” sees the same samples in another order, "
                     f"{_share_text(itself['flips'])} of them change their strategy.")  # fmt: skip
    else:
        lines.append(f"How much the strategies of the judge “{judge}” depend on the order of the "
                     "samples is not known: no group was judged in two orders.")  # fmt: skip
    if _has_value(gold.get("flips")):
        lines.append(f"Compared with the gold labels, {_share_text(gold['flips'])} of the samples "
                     "are of another strategy.")  # fmt: skip
    if _has_value(itself.get("signs_changed")):
        lines.append(f"From one order to another, the advantages of {method} "
                     f"with K = {record['set_size']} change their sign for "
                     f"{_share_text(itself['signs_changed'])} of the samples.")  # fmt: skip
    asked = record["groups"] * record["orders"]
    lines.append(f"{record['judgements_unknown']} of {asked} judgements failed.")
    return lines


def _has_value(estimate: dict[str, Any] | None) -> bool:
    return estimate is not None and estimate["value"] is not None


def _share_text(estimate: dict[str, Any]) -> str:
    """Write a share, with its interval if several groups give one."""
    value = percent(estimate["value"])
    if estimate["low"] is None or estimate["groups"] < 2:
        return value
    low, high = (plain(100 * max(0.0, min(1.0, estimate[end]))) for end in ("low", "high"))
    return f"{value} [{low}, {high}]"


def audit_page(record: dict[str, Any]) -> str:
    """Write the audit as one HTML file, which asks no host for anything."""
    title = f"{record['judge']} on {record['file']}"
    data = {"kind": "audit", "name": title, "verdict": audit_in_words(record), "arms": [],
             "audit": record}  # fmt: skip
    return Page("report", f"{title} · setrl judge-audit", files.plain_json(data)).html()


def audit_markdown(record: dict[str, Any]) -> str:
    """Write the table of an audit; every number is computed from the record."""
    names = list(record["agreement"])
    head = ["agreement with", *(COMPARISONS[name] for name in names)]
    rows = [
        [title, *(_mean_text(record["agreement"][name].get(measure)) for name in names)]
        for measure, title in ROWS.items()
    ]
    judgements = record["groups"] * record["orders"]
    words = (
        f"Judge {record['judge']} on {record['file']}: {record['groups']} groups, each judged in "
        f"{record['orders']} orders; {record['judgements_unknown']} of {judgements} judgements "
        f"unknown; {_mean_text(record['strategies'])} strategies per group."
    )
    note = (
        "Mean over groups, with its 95% interval over groups in brackets. − means that a measure "
        "is undefined in every group; n counts the groups where it is defined, if some are left "
        f"out. Advantages are computed by {record['method']}, K = {record['set_size']}."
    )
    if pairs := record.get("pairs"):
        words += f" {pairs['questions']} questions about pairs, {pairs['unanswered']} unanswered."
    sentences = " ".join(audit_in_words(record))
    return "\n".join([words, "", sentences, "", markdown_table(head, rows), "", note]) + "\n"


def write_audit(
    findings: JudgeFindings,
    about: dict[str, Any],
    folder: Path,
    groups: Sequence[Group] = (),
    gold: Sequence[Labeling | None] | None = None,
) -> list[Path]:
    """Write audit.json, audit.md and audit.html into a folder.

    `audit_record` has the same arguments.
    """
    record = audit_record(findings, about, groups, gold)
    written = [folder / name for name in ("audit.json", "audit.md", "audit.html")]
    files.write_json(written[0], record)
    files.write_text(written[1], audit_markdown(record))
    files.write_text(written[2], audit_page(record))
    return written


def _mean_over_groups(values: list[float], bounds: Bounds | None = None) -> dict[str, Any]:
    """Return a mean over groups for JSON: an undefined number is null."""
    estimate = asdict(mean_over_problems(values, bounds=bounds))
    estimate["groups"] = estimate.pop("problems")
    del estimate["per_seed"]
    return {key: value if value == value else None for key, value in estimate.items()}


def _mean_text(estimate: dict[str, Any] | None) -> str:
    """Write a mean with its interval, and n if it is undefined in some groups."""
    if estimate is None:
        return ""
    if not estimate["groups"]:
        return "−"
    some = f" (n = {estimate['groups']})" if estimate["missing"] else ""
    value = plain(estimate["value"], 3)
    if estimate["groups"] < 2:
        return f"{value}{some}"
    return f"{value} {interval((estimate['low'], estimate['high']), digits=3)}{some}"
