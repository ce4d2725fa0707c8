"""The figures of a report, in the order in which it shows them."""

from __future__ import annotations

from setrl.report import figures_evaluation, figures_training
from setrl.report.drawing import Chart
from setrl.report.run import RunData


def charts(data: RunData) -> list[Chart]:
    """The figures that the run has data for."""
    if data.kind == "control":
        return [*figures_evaluation.control_frontier(data), *figures_training.control_curves(data)]
    return [
        *(figures_evaluation.pass_at_k(data, split) for split in data.splits),
        *figures_training.learning(data),
        *figures_training.strategy_shares(data),
        *(figures_evaluation.frontier(data, split) for split in data.splits),
        *figures_training.time(data),
    ]
