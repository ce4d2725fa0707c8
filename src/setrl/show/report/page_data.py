"""What the script of a report's page reads: curves, examples and words, as JSON."""

from __future__ import annotations

import math
from typing import Any

from setrl.show.report.curves import (
    control_curves,
    control_times,
    evaluation_curves,
    frontier_points,
    share_curves,
    step_times,
    training_curves,
)
from setrl.show.report.headlines import headline_k, pass_at_k_title
from setrl.show.report.over_steps import outside_sweeps_or_middle, smoothing
from setrl.show.report.run import ReportedRun
from setrl.show.report.solved import solved_by_one
from setrl.show.report.style import LETTERS
from setrl.show.report.verdict import outcomes_of, verdict_in_words
from setrl.support.files.atomic import plain_json

DIGITS = 6  # significant ones: more than a plot or a table of a page shows


def page_data(run: ReportedRun) -> dict[str, Any]:
    """Everything that the page draws; numbers are rounded to six significant digits."""
    if run.kind == "control":
        return _rounded(plain_json(_control(run)))
    panels, constant = training_curves(run)
    found = {
        "kind": "comparison",
        "name": run.name,
        "reference": run.summary.reference,
        "level": run.summary.intervals.level,
        "verdict": verdict_in_words(run),
        "arms": [{"key": arm, **look.on_page()} for arm, look in run.looks.items()],
        "splits": [
            {"title": pass_at_k_title(run, split), **evaluation_curves(run, split)}
            for split in run.splits
        ],
        "training": panels,
        "constant": constant,
        "smoothing": smoothing(run),
        "shares": share_curves(run),
        "time": step_times(run),
        "frontiers": [frontier_points(run, s, headline_k(s)) for s in run.splits],
        "solved": [found for split in run.splits if (found := solved_by_one(run, split))],
        "letters": LETTERS,
        "views": run.views,
    }
    return _rounded(plain_json(found))


def _control(run: ReportedRun) -> dict[str, Any]:
    """Return what the page of a control run draws."""
    table = outcomes_of(run)
    return {
        "kind": "control",
        "name": run.name,
        "verdict": table.pop("verdict"),
        "arms": [{"key": arm, **look.on_page()} for arm, look in run.looks.items()],
        "outcomes": table,
        "training": control_curves(run),
        "shown_at_first": outside_sweeps_or_middle(list(run.trained)),
        "time": control_times(run),
    }


def _rounded(value: Any) -> Any:
    """Round every number in a value.

    >>> _rounded({"a": [0.12345678, 1234567.5, 3, None]})
    {'a': [0.123457, 1234570.0, 3, None]}
    """
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
