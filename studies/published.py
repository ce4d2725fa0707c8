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
from setrl.show.report import page
from setrl.show.report.drawing import Chart
from setrl.show.report.run import ArmRun, RunData
from setrl.support import files
from setrl.support.files.run_folder import CONFIG, read_config

NUMBERS = ("summary.json", CONFIG)
AGAIN = {"band": None, "first_loss": None}  # made from samples
Made = TypeVar("Made")


def charts(folder: Path) -> list[Chart]:
    """Return what the site draws of a published folder; nothing of a folder without a run."""
    return page.charts(read(folder)) if (folder / NUMBERS[0]).is_file() else []


def read(folder: Path) -> RunData:
    """Return what a published folder has of its run."""
    found = files.read_json(folder / NUMBERS[0])
    config = read_config(folder)
    if "splits" not in found:
        arms = {arm: _seeds(metrics) for arm, metrics in found["arms"].items()}
        nothing = Summary(None, IntervalConfig(), {})
        return RunData(folder, "control", {}, config, arms, looks(list(arms)), nothing)
    splits = {name: _split(record) for name, record in found["splits"].items()}
    names = dict.fromkeys(arm for split in splits.values() for arm in split.arms)
    summary = Summary(found["reference"], _filled(IntervalConfig, found["intervals"]), splits)
    return RunData(folder, "comparison", {}, config, {}, looks(list(names)), summary)


def _seeds(metrics: Mapping[str, Any]) -> tuple[ArmRun, ...]:
    """Return the training runs of an arm of a control run, as far as their evaluations."""
    seeds = dict.fromkeys(seed for found in metrics.values() for seed in found["seeds"])
    return tuple(
        ArmRun(int(seed), {}, {name: _number(found["seeds"].get(seed))
                                   for name, found in metrics.items()})
        for seed in seeds
    )  # fmt: skip


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


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
