"""The figures of a report, in the order in which it shows them."""

from __future__ import annotations

from setrl.report import figures_evaluation, figures_training
from setrl.report.data import RunData
from setrl.report.drawing import Plate
from setrl.report.headlines import ordered_splits


def plates(data: RunData) -> list[Plate]:
    """The figures that the run has data for."""
    splits = ordered_splits(data.summary)
    return [
        *(figures_evaluation.pass_at_k(data, split) for split in splits),
        *figures_training.learning(data),
        *figures_training.strategy_shares(data),
        *(figures_evaluation.frontier(data, split) for split in splits),
        *figures_training.time(data),
    ]
