"""The tables of a report: evaluation, paired differences, training; control runs have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from setrl.evaluate.by_task import ByTask, Value, task_rows
from setrl.evaluate.intervals import Difference, Estimate
from setrl.evaluate.outcomes import OverSeeds, metric_names
from setrl.evaluate.summary import ArmDifference, ArmSummary, SplitSummary
from setrl.show.report.headlines import (
    Verdict,
    credit_share,
    first_and_last,
    headline_k,
    pass_ks,
    read_alike,
)
from setrl.show.report.over_steps import RESETS
from setrl.show.report.run import GIVEN, ReportedRun
from setrl.support.wording import MISSING, in_words, interval, percent, plain, signed

DIGITS = {100: 1, 1: 2}  # after the point, of per cent and of counts of strategies


@dataclass(frozen=True)
class Cell:
    """A number, and the small lines under it.

    Attributes:
        text: The number, as the page shows it.
        details: The small lines.
        value: What a column is sorted by; None if the number is missing.
        shows: What the paired difference behind the number shows; "fact" without a difference.
    """

    text: str
    details: tuple[str, ...] = ()
    value: float | None = None
    shows: Verdict = "fact"


NONE = Cell(MISSING)


@dataclass(frozen=True)
class Table:
    """A table with a heading for each row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def tables(run: ReportedRun) -> list[Table]:
    """Return the tables that the run has data for."""
    if run.kind == "control":
        all_tables = [control_table(run)]
    else:
        all_tables = [evaluation_table(run, split) for split in run.splits]
        all_tables += [difference_table(run, split) for split in run.splits]
        all_tables.append(training_table(run))
        all_tables += [table for split in run.splits for table in task_tables(run, split)]
    is_log = GIVEN in run.summary.splits
    full = [table for table in all_tables if table.rows]
    return [_without_empty_columns(table) for table in full] if is_log else full


def _without_empty_columns(table: Table) -> Table:
    """Leave out what no log holds, such as answers or strategies."""
    places = [i for i in range(len(table.columns)) if any(row[1][i] != NONE for row in table.rows)]
    columns = tuple(table.columns[i] for i in places)
    rows = ((name, tuple(cells[i] for i in places)) for name, cells in table.rows)
    return Table(table.caption, columns, tuple(rows))


def evaluation_table(run: ReportedRun, split: SplitSummary) -> Table:
    """Every arm's metrics with intervals; with several seeds, each seed's value.

    A number shows what the paired difference to the reference shows.
    """
    k = headline_k(split)
    ks = sorted({1, min(8, k), k, max(pass_ks(arm.metrics)[-1] for arm in split.arms.values())})
    shares = [*(f"pass@{each}" for each in ks), f"majority@{k}"]
    numbers = [f"strategies@{k}", f"correct_strategies@{k}", "effective_number"]
    columns: dict[str, tuple[Callable[[float], str], int]] = {
        **dict.fromkeys(shares, (percent, 100)),
        **dict.fromkeys(numbers, (lambda value: plain(value, 2), 1)),
    }
    reference = run.summary.reference

    def to_reference(arm: str, metric: str) -> Difference | None:
        difference = split.difference(arm, reference) if reference else None
        return _difference_if_known(difference, metric) if difference else None

    rows = tuple(
        (
            run.looks[arm].label,
            tuple(_estimate_cell(summary, to_reference(arm, name), name, *how)
                  for name, how in columns.items()),
        )
        for arm, summary in split.arms.items()
    )  # fmt: skip
    intervals = run.summary.intervals.in_words(split.seeds)
    caption = f"Means with {intervals}" if split.split == GIVEN else (
        f"{split.split} split: means with {intervals}{', each seed' if split.seeds > 1 else ''}"
    )  # fmt: skip
    return Table(caption, tuple(map(in_words, columns)), rows)


def difference_table(run: ReportedRun, split: SplitSummary) -> Table:
    """Paired differences with their intervals; without rows if there is nothing to compare."""
    k = headline_k(split)
    scales = {
        **dict.fromkeys(["pass@1", f"pass@{k}", f"majority@{k}"], 100),
        **dict.fromkeys([f"correct_strategies@{k}", "effective_number"], 1),
    }
    rows = []
    for difference in split.differences:
        cells = [
            _difference_cell(_difference_if_known(difference, metric), scale)
            for metric, scale in scales.items()
        ]
        rows.append((_difference_name(run, difference), tuple(cells)))
    columns = [f"{name}, points" if scale == 100 else name for name, scale in scales.items()]
    start = "P" if split.split == GIVEN else f"{split.split} split: p"
    caption = (
        f"{start}aired differences with intervals, of pass@{k} for all k at once; on the problems "
        "and with as many samples as both have"
    )
    return Table(caption, tuple(map(in_words, columns)), tuple(rows))


def task_tables(run: ReportedRun, split: SplitSummary) -> list[Table]:
    """Tabulate each arm and each paired difference by task, as `setrl compare` does."""
    start = "By task" if split.split == GIVEN else f"{split.split} split by task"
    arms = {run.looks[name].label: arm.by_task for name, arm in split.arms.items()}
    gaps = {
        _difference_name(run, difference): difference.by_task for difference in split.differences
    }
    both = (
        _task_table(f"{start}: means with intervals", arms, _task_cell),
        _task_table(
            f"{start}: paired differences in points, each by itself",
            gaps,
            lambda _, gap: _difference_cell(gap, 100),
        ),
    )
    return [table for table in both if table.rows]


def _task_table(
    caption: str, of: Mapping[str, ByTask[Value] | None], cell: Callable[[str, Value], Cell]
) -> Table:
    rows_by_name = {
        name: task_rows(by_task, (), cell) for name, by_task in of.items() if by_task is not None
    }
    columns = next((titles for titles, _ in rows_by_name.values()), [])
    rows = tuple(
        (f"{task}: {name}", (Cell(f"{problems:,}", value=problems), *cells))
        for of_task in zip(*(rows for _, rows in rows_by_name.values()), strict=True)
        for name, (task, problems, cells) in zip(rows_by_name, of_task, strict=True)
    )
    return Table(caption, ("problems", *columns), rows)


def _task_cell(_metric: str, estimate: Estimate) -> Cell:
    return Cell(percent(estimate.value), (interval(estimate.ends, 100),), estimate.value)


def _difference_name(run: ReportedRun, difference: ArmDifference) -> str:
    return f"{run.looks[difference.arm].label} − {run.looks[difference.against].label}"


def training_table(run: ReportedRun) -> Table:
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
    for arm in run.trained:
        ends = [(first_and_last(run, arm, key), show) for key, show in columns.values()]
        cells = [_number_cell(end[1], show) if end else NONE for end, show in ends]
        share = _number_cell(credit_share(run, arm), lambda x: percent(x, 2))
        rows.append((run.looks[arm].label, (*cells, share)))
    caption = "Training: means over the last tenth of the steps and all seeds"
    return Table(caption, (*columns, "credit / step"), tuple(rows))


def control_table(run: ReportedRun) -> Table:
    """Every metric of the evaluated arms of a control run, and what they cost, over how many seeds.

    A vine starts at a state that is set back: its steps count, and it needs no reset.
    """
    metrics = metric_names(run.outcomes)
    costs = {"steps": "step", "resets": RESETS}
    rows = tuple(
        (
            run.looks[arm].label,
            (
                *(_outcome_cell(run.outcome(arm, metric)) for metric in metrics),
                *(_cost_cell(run, arm, key) for key in costs.values()),
                Cell(str(len(outcomes)), value=len(outcomes)),
            ),
        )
        for arm, outcomes in run.outcomes.items()
    )
    caption = "Evaluation of the last policy: mean ± standard error over seeds"
    return Table(caption, (*map(in_words, metrics), *costs, "seeds"), rows)


def _cost_cell(run: ReportedRun, arm: str, key: str) -> Cell:
    """Return the last value of a count, as a mean over seeds."""
    last = [seed.metrics[key][-1] for seed in run.seeds(arm) if len(seed.metrics.get(key, ()))]
    return _number_cell(np.mean(last), lambda x: f"{x:,.0f}") if last else NONE


def _outcome_cell(mean: OverSeeds) -> Cell:
    if np.isnan(mean.value):
        return NONE
    error = () if np.isnan(mean.stderr) else (f"± {_shown_digits(mean.stderr)}",)
    return Cell(_shown_digits(mean.value), error, mean.value)


def _number_cell(value: float, show: Callable[[float], str]) -> Cell:
    return NONE if np.isnan(value) else Cell(show(value), value=value)


def _shown_digits(value: float) -> str:
    """Three decimals, fewer for large numbers."""
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f}"


def _estimate_cell(
    arm: ArmSummary, difference: Difference | None, metric: str,
    show: Callable[[float], str], scale: int,
) -> Cell:  # fmt: skip
    estimate: Estimate | None = arm.metrics.get(metric)
    if estimate is None:
        return NONE
    digits = DIGITS[scale]
    details = [interval(estimate.ends, scale, digits), *_note_missing_problems(estimate)]
    if len(arm.seeds) > 1:
        values = ", ".join(plain(scale * value, digits) for value in estimate.per_seed)
        details.append(f"seeds {values}")
    shows = _judge_shown_difference(difference, scale) if difference else "fact"
    return Cell(show(estimate.value), tuple(details), estimate.value, shows)


def _difference_if_known(difference: ArmDifference, metric: str) -> Difference | None:
    return read_alike(difference, metric) if metric in difference.metrics else None


def _difference_cell(difference: Difference | None, scale: int) -> Cell:
    if difference is None:
        return NONE
    digits = DIGITS[scale]
    return Cell(
        signed(scale * difference.value, digits),
        (interval(difference.ends, scale, digits), *_note_missing_problems(difference)),
        difference.value,
        _judge_shown_difference(difference, scale),
    )


def _note_missing_problems(estimate: Estimate | Difference) -> Iterator[str]:
    """Say of how many problems a mean is, where some have no value."""
    if estimate.missing:
        yield f"{estimate.problems:,} of {estimate.problems + estimate.missing:,} problems"


def _judge_shown_difference(difference: Difference, scale: int) -> Verdict:
    """Judge a difference; one that is 0 in the digits of the table shows nothing."""
    is_seen = round(scale * difference.value, DIGITS[scale]) != 0
    return difference.shown if is_seen else "unclear"
