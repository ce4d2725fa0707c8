"""The figures of published runs, from the numbers that their folders have.

The folders of docs/results have no samples and no steps, but summary.json has every mean with its
interval. Bands for all k at once need the samples, so these figures have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from setrl.evaluate.intervals import Difference, Estimate, IntervalConfig
from setrl.evaluate.looks import looks
from setrl.evaluate.summary import ArmDifference, ArmSummary, SplitSummary, Summary
from setrl.logs.run import CONFIG, Arm, Seed, number_or_nan
from setrl.show.report import page
from setrl.show.report.drawing import Chart
from setrl.show.report.run import ReportedRun
from setrl.support import files

NUMBERS = ("summary.json", CONFIG)
AGAIN = {"band": None, "first_loss": None}  # made from samples
Made = TypeVar("Made")


def charts(folder: Path) -> list[Chart]:
    """Return what the site draws of a published folder; nothing of a folder without a run."""
    return page.charts(read(folder)) if (folder / NUMBERS[0]).is_file() else []


def read(folder: Path) -> ReportedRun:
    """Return what a published folder has of its run."""
    found = files.read_json(folder / NUMBERS[0])
    run = ReportedRun(folder).knowing(record={})
    if "splits" not in found:
        arms = {name: _arm(folder, name, metrics) for name, metrics in found["arms"].items()}
        return run.knowing(kind="control", arms=arms)
    splits = {name: _split(record) for name, record in found["splits"].items()}
    names = dict.fromkeys(arm for split in splits.values() for arm in split.arms)
    summary = Summary(found["reference"], _filled(IntervalConfig, found["intervals"]), splits)
    return run.knowing(kind="comparison", arms={}, looks=looks(list(names)), summary=summary)


def _arm(folder: Path, name: str, metrics: Mapping[str, Any]) -> Arm:
    """Return an arm of a control run, with the evaluations of its training runs."""
    seeds = dict.fromkeys(seed for found in metrics.values() for seed in found["seeds"])
    outcomes = {
        int(seed): {metric: number_or_nan(of["seeds"].get(seed)) for metric, of in metrics.items()}
        for seed in seeds
    }
    return Arm(folder, name).knowing(
        seeds={
            n: Seed(folder, n).knowing(outcome=found, metrics={}) for n, found in outcomes.items()
        }
    )


def _split(record: Mapping[str, Any]) -> SplitSummary:
    arms = {
        name: _filled(ArmSummary, {"most": one["n"], **one}, metrics=_metrics(Estimate, one))
        for name, one in record["arms"].items()
    }
    differences = tuple(
        _filled(ArmDifference, one, metrics=_metrics(Difference, one))
        for one in record["differences"]
    )
    return SplitSummary(record["split"], arms, differences)


def _metrics(kind: type[Made], record: Mapping[str, Any]) -> dict[str, Made]:
    return {name: _filled(kind, one) for name, one in record["metrics"].items()}


def _filled(kind: type[Made], record: Mapping[str, Any], **instead: Any) -> Made:
    """Return a value of a dataclass from a record that may have more keys, or older ones."""
    record = {**record, **AGAIN, **instead}
    known = {one.name: record[one.name] for one in fields(kind) if one.name in record}  # type: ignore[arg-type]
    return kind(**{name: float("nan") if v is None and name not in AGAIN else v
                   for name, v in known.items()})  # fmt: skip
