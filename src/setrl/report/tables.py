"""The tables of a report: evaluation, paired differences, training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl.evaluation.intervals import Difference, Estimate
from setrl.evaluation.summary import ArmSummary, SplitSummary
from setrl.report.data import RunData
from setrl.report.headlines import credit_share, first_and_last, headline_k
from setrl.report.wording import MISSING, interval, percent, plain, signed


@dataclass(frozen=True)
class Cell:
    """A number, and what stands small under it, line by line."""

    text: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table with a heading for each row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def evaluation_table(data: RunData, split: SplitSummary) -> Table:
    """Every arm's metrics with intervals; with several seeds, each seed's value."""
    k = headline_k(split)
    ks = sorted({1, min(8, k), k, max(_largest_k(arm) for arm in split.arms.values())})
    shares = [*(f"pass@{each}" for each in ks), f"majority@{k}"]
    numbers = [f"strategies@{k}", f"correct_strategies@{k}", "effective_number"]
    columns = dict.fromkeys(shares, (percent, 100)) | dict.fromkeys(numbers, (plain, 1))
    rows = tuple(
        (
            data.looks[arm].label,
            tuple(_estimate(summary, name, *how) for name, how in columns.items()),
        )
        for arm, summary in split.arms.items()
    )
    level = f"{100 * data.summary.intervals.level:g}%"
    caption = f"{split.split} split: means over problems and seeds, {level} intervals, each seed"
    return Table(caption, tuple(map(_spoken, columns)), rows)


def difference_table(data: RunData, split: SplitSummary) -> Table | None:
    """Paired differences with their intervals; None when there is nothing to compare."""
    if not split.differences:
        return None
    k = headline_k(split)
    shares = ["pass@1", f"pass@{k}", f"majority@{k}"]
    numbers = [f"correct_strategies@{k}", "effective_number"]
    rows = []
    for found in split.differences:
        name = f"{data.looks[found.arm].label} − {data.looks[found.against].label}"
        cells = [_difference(found.metrics.get(metric), 100) for metric in shares]
        cells += [_difference(found.metrics.get(metric), 1) for metric in numbers]
        at_k = found.metrics.get(f"pass@{k}")
        cells.append(Cell(percent(at_k.improvement, 0) if at_k else MISSING))
        rows.append((name, tuple(cells)))
    columns = [*(f"{name}, points" for name in shares), *numbers, f"improvement, pass@{k}"]
    caption = f"{split.split} split: paired differences, first arm − second, with intervals"
    return Table(caption, tuple(map(_spoken, columns)), tuple(rows))


def training_table(data: RunData) -> Table | None:
    """The last tenth of the training of every arm; None when nothing was logged."""
    columns: dict[str, tuple[str, Callable[[float], str]]] = {
        "pass@1": ("reward/pass@1", percent),
        "strategies per prompt": ("strategies/per_prompt", plain),
        "correct": ("strategies/correct_per_prompt", plain),
        "commonest": ("strategies/top_share", percent),
        "wrong with advantage > 0": ("advantage/wrong_positive", percent),
        "correct with advantage < 0": ("advantage/correct_negative", percent),
        "dead groups": ("advantage/dead_groups", percent),
        "entropy": ("policy/entropy", lambda x: plain(x, 2)),
        "truncated": ("length/truncated", percent),
        "tokens/s": ("speed/tokens_per_second", lambda x: plain(x, 0)),
        "s a step": ("time/step", lambda x: plain(x, 2)),
    }
    rows = []
    for arm in data.arms:
        ends = [(first_and_last(data, arm, key), show) for key, show in columns.values()]
        cells = [Cell(show(end[1]) if end else MISSING) for end, show in ends]
        rows.append((data.looks[arm].label, (*cells, Cell(percent(credit_share(data, arm), 2)))))
    caption = "Training: means over the last tenth of the steps and all seeds"
    return Table(caption, (*columns, "credit / step"), tuple(rows)) if rows else None


def _estimate(arm: ArmSummary, metric: str, show: Callable[[float], str], scale: float) -> Cell:
    estimate: Estimate | None = arm.metrics.get(metric)
    if estimate is None or np.isnan(estimate.value):
        return Cell(MISSING)
    details = [interval(estimate, scale)]
    if len(arm.seeds) > 1:
        details.append("seeds " + ", ".join(plain(scale * value) for value in estimate.per_seed))
    return Cell(show(estimate.value), tuple(details))


def _difference(difference: Difference | None, scale: float) -> Cell:
    if difference is None or np.isnan(difference.value):
        return Cell(MISSING)
    return Cell(signed(scale * difference.value), (interval(difference, scale),))


def _largest_k(arm: ArmSummary) -> int:
    return max(int(name[5:]) for name in arm.metrics if name.startswith("pass@"))


def _spoken(metric: str) -> str:
    return metric.replace("_", " ")
