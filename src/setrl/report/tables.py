"""The tables of a report: evaluation, paired differences, training; control runs have one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from setrl.evaluation.intervals import Difference, Estimate
from setrl.evaluation.outcomes import Outcome, metric_names
from setrl.evaluation.summary import ArmSummary, SplitSummary
from setrl.report.headlines import credit_share, first_and_last, headline_k, pass_ks
from setrl.report.run import GIVEN, RunData
from setrl.wording import MISSING, in_words, interval, percent, plain, signed

DIGITS = {100: 1, 1: 2}  # after the point, of per cent and of counts of strategies


@dataclass(frozen=True)
class Cell:
    """A number, and the small lines under it."""

    text: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table with a heading for each row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def tables(data: RunData) -> list[Table]:
    """Return the tables that the run has data for."""
    if data.kind == "control":
        found = [control_table(data)]
    else:
        found = [evaluation_table(data, split) for split in data.splits]
        found += [difference_table(data, split) for split in data.splits]
        found.append(training_table(data))
    return [table for table in found if table.rows]


def evaluation_table(data: RunData, split: SplitSummary) -> Table:
    """Every arm's metrics with intervals; with several seeds, each seed's value."""
    k = headline_k(split)
    ks = sorted({1, min(8, k), k, max(pass_ks(arm.metrics)[-1] for arm in split.arms.values())})
    shares = [*(f"pass@{each}" for each in ks), f"majority@{k}"]
    numbers = [f"strategies@{k}", f"correct_strategies@{k}", "effective_number"]
    columns: dict[str, tuple[Callable[[float], str], int]] = {
        **dict.fromkeys(shares, (percent, 100)),
        **dict.fromkeys(numbers, (_two_digits, 1)),
    }
    rows = tuple(
        (
            data.looks[arm].label,
            tuple(_estimate(summary, name, *how) for name, how in columns.items()),
        )
        for arm, summary in split.arms.items()
    )
    intervals = data.summary.intervals.in_words(split.seeds)
    caption = f"Means with {intervals}" if split.split == GIVEN else (
        f"{split.split} split: means with {intervals}{', each seed' if split.seeds > 1 else ''}"
    )  # fmt: skip
    return Table(caption, tuple(map(in_words, columns)), rows)


def difference_table(data: RunData, split: SplitSummary) -> Table:
    """Paired differences with their intervals; without rows if there is nothing to compare."""
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
    start = "P" if split.split == GIVEN else f"{split.split} split: p"
    caption = f"{start}aired differences, first arm − second, with intervals"
    return Table(caption, tuple(map(in_words, columns)), tuple(rows))


def training_table(data: RunData) -> Table:
    """Tabulate the last tenth of each arm's training; without rows if nothing was logged."""
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
        "s per step": ("time/step", lambda x: plain(x, 2)),
    }
    rows = []
    for arm in data.trained:
        ends = [(first_and_last(data, arm, key), show) for key, show in columns.values()]
        cells = [Cell(show(end[1]) if end else MISSING) for end, show in ends]
        rows.append((data.looks[arm].label, (*cells, Cell(percent(credit_share(data, arm), 2)))))
    caption = "Training: means over the last tenth of the steps and all seeds"
    return Table(caption, (*columns, "credit / step"), tuple(rows))


def control_table(data: RunData) -> Table:
    """Every metric of the evaluated arms of a control run, and how many seeds were evaluated."""
    metrics = metric_names(data.outcomes)
    rows = tuple(
        (
            data.looks[arm].label,
            (*(_outcome(data.outcome(arm, metric)) for metric in metrics), Cell(str(len(found)))),
        )
        for arm in data.arms
        if (found := data.evaluations(arm))
    )
    caption = "Evaluation of the last policy: mean ± standard error over seeds"
    return Table(caption, (*map(in_words, metrics), "seeds"), rows)


def _outcome(found: Outcome) -> Cell:
    if np.isnan(found.value):
        return Cell(MISSING)
    error = () if np.isnan(found.stderr) else (f"± {_digits(found.stderr)}",)
    return Cell(_digits(found.value), error)


def _digits(value: float) -> str:
    """Three decimals, fewer for large numbers."""
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f}"


def _estimate(arm: ArmSummary, metric: str, show: Callable[[float], str], scale: int) -> Cell:
    estimate: Estimate | None = arm.metrics.get(metric)
    if estimate is None:
        return Cell(MISSING)
    digits = DIGITS[scale]
    details = [interval(estimate.ends, scale, digits)]
    if len(arm.seeds) > 1:
        values = ", ".join(plain(scale * value, digits) for value in estimate.per_seed)
        details.append(f"seeds {values}")
    return Cell(show(estimate.value), tuple(details))


def _difference(difference: Difference | None, scale: int) -> Cell:
    if difference is None:
        return Cell(MISSING)
    digits = DIGITS[scale]
    return Cell(
        signed(scale * difference.value, digits),
        (interval(difference.ends, scale, digits),),
    )


def _two_digits(value: float) -> str:
    return plain(value, 2)
