"""`python -m studies.published FOLDER …`: draw the figures of published runs again.

The folders of docs/results have no samples, but summary.json has every mean with its interval.
Bands for all k at once need the samples, so the figures have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import tyro

from setrl.evaluate.intervals import Difference, Estimate, IntervalConfig
from setrl.evaluate.looks import looks
from setrl.evaluate.summary import ArmDifference, ArmSummary, SplitSummary, Summary
from setrl.show.report.drawing import Chart
from setrl.show.report.figures_evaluation import frontier, pass_at_k
from setrl.show.report.run import RunData
from setrl.show.report.style import LIGHT
from setrl.support import files
from setrl.support.files.run_folder import read_config

AGAIN = {"band": None, "first_loss": None}  # made from samples
Made = TypeVar("Made")


def read(folder: Path) -> RunData:
    """Return what a published folder has of its run."""
    found = files.read_json(folder / "summary.json")
    splits = {name: _split(record) for name, record in found["splits"].items()}
    arms = dict.fromkeys(arm for split in splits.values() for arm in split.arms)
    summary = Summary(found["reference"], _filled(IntervalConfig, found["intervals"]), splits)
    config = read_config(folder)
    return RunData(folder, "comparison", {}, config, {}, looks(list(arms)), summary)


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


def draw(data: RunData) -> list[Chart]:
    """Return the figures that show intervals: pass@k over k, and the frontier, of each split."""
    return [draw(data, split) for split in data.splits for draw in (pass_at_k, frontier)]


def main(folders: tyro.conf.Positional[tuple[Path, ...]]) -> None:
    """Draw the figures of published runs again, into their folders.

    Args:
        folders: Of docs/results.
    """
    for folder in folders:
        for chart in draw(read(folder)):
            path = folder / f"{chart.name}.png"
            chart.draw(LIGHT).savefig(path, metadata={"Title": chart.headline})
            print(path)


if __name__ == "__main__":
    tyro.cli(main)
