"""The metrics of one model as text: a table for each axis, a line for each single number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from setrl.evaluation.metrics import METRICS, by_metric
from setrl.evaluation.summary import ArmSummary

USUAL = ("pass", "max", "best_of", "majority", "strategies", "correct_strategies", "cover",
         "effective_number", "top_share", "degenerate", "shared_prefix")  # fmt: skip
WIDTH = 22


def metric_table(arm: ArmSummary, metrics: Sequence[str] = (), of_domain: bool = True) -> str:
    """The metrics of one model, shares as per cent.

    Args:
        arm: The metrics; those that are undefined are left out.
        metrics: Which; by default the usual ones, "all" for all.
        of_domain: Whether a domain read answers and strategies. If not, and no sample has any,
            their metrics are left out: 0 would claim that they were read.
    """
    known = by_metric([name for name in arm.metrics if _is_known(arm, name)])
    wanted = METRICS if "all" in metrics else metrics or USUAL
    unread = set() if of_domain else _unread(arm)
    chosen = {metric: known[metric] for metric in wanted if metric in known.keys() - unread}
    axes = {METRICS[metric].axis for metric in chosen}
    tables = [
        _table(arm, {m: found for m, found in chosen.items() if METRICS[m].axis == axis})
        for axis in ("k", "τ", "position", "")
        if axis in axes
    ]
    temperature = "" if math.isnan(arm.temperature) else f", temperature {arm.temperature:g}"
    head = f"{arm.problems} problems × {arm.n} samples{temperature}, 95% intervals over problems"
    return "\n\n".join([head, *tables])


def _table(arm: ArmSummary, chosen: Mapping[str, Sequence[str]]) -> str:
    """The metrics of one axis, a line for each place; without an axis a line for each metric."""
    axis = METRICS[next(iter(chosen))].axis
    if not axis:
        width = max(len(METRICS[metric].label) for metric in chosen) + 2
        return "\n".join(f"{METRICS[m].label:<{width}}{_cell(arm, m)}" for m in chosen)
    places = dict.fromkeys(name.partition("@")[2] for found in chosen.values() for name in found)
    rows = [[axis, *(METRICS[metric].title for metric in chosen)]]
    for place in sorted(places, key=float):
        cells = [_cell(arm, f"{metric}@{place}") for metric in chosen]
        rows.append([place, *cells])
    return "\n".join("".join(f"{cell:<{WIDTH}}" for cell in row).rstrip() for row in rows)


def _unread(arm: ArmSummary) -> set[str]:
    """The metrics of what no sample has."""
    unread = set()
    if arm.metrics["degenerate"].value == 1:
        unread |= {"strategies", "correct_strategies", "degenerate", "top_share"}
    if arm.metrics["vote_share@1"].value == 0:
        unread |= {"majority", "vote_share"}
    return unread


def _is_known(arm: ArmSummary, metric: str) -> bool:
    return metric in arm.metrics and not math.isnan(arm.metrics[metric].value)


def _cell(arm: ArmSummary, name: str) -> str:
    if not _is_known(arm, name):
        return "—"
    shown, estimate = METRICS[name.partition("@")[0]], arm.metrics[name]
    form = "{:.1%}" if shown.share else f"{{:.{shown.digits}f}}"
    value, low, high = map(form.format, (estimate.value, estimate.low, estimate.high))
    if math.isnan(estimate.low):
        return f"{value} [—]"  # of one problem
    return f"{value} [{low.removesuffix('%')}, {high.removesuffix('%')}]"
