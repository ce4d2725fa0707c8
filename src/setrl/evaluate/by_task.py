"""Metrics and differences by task, and their macro average, in which each task weighs the same.

With T tasks, the value v_t of each and its standard error s_t over the P_t problems of the task:

    macro average = Σ v_t / T      SE² = Σ s_t² / T²      low = value − √Σ (v_t − low_t)²·f_t² / T

and high in the same way, from the ends of the tasks' intervals (Zou and Donner, Statistics in
Medicine 27, 2008). f_t = t_ν/t_{P_t − 1}, with Welch and Satterthwaite's

    ν = (Σ s_t²)² / Σ (s_t⁴/(P_t − 1))

Where few problems make no interval longer, this is value ± t_ν·SE. The tasks are fixed, and the
problems are a draw from each. Tables of text are at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from setrl.evaluate.estimators import Floats
from setrl.evaluate.intervals import (
    Difference,
    Estimate,
    IntervalConfig,
    mean_over_problems,
    paired_difference,
    t_quantile,
)
from setrl.evaluate.metrics import METRICS, bounds_of, by_metric, with_interval
from setrl.support.wording import WIDTH, in_a_row, interval, signed, table

Cell = TypeVar("Cell")

SHOWN = ("pass", "majority")  # by default
MACRO = "macro average"
Value = TypeVar("Value", bound=Estimate | Difference)


@dataclass(frozen=True)
class ByTask(Generic[Value]):
    """The metrics of each task.

    Attributes:
        problems: Task → its number of problems.
        tasks: Task → metric → its value.
        macro: Metric → its mean over tasks. It has an interval where every task has two problems
            with a value, and only one training seed was read.
    """

    problems: dict[str, int]
    tasks: dict[str, dict[str, Value]]
    macro: dict[str, Value]


def estimates_by_task(
    tasks_P: Sequence[str], values: Mapping[str, Floats], config: IntervalConfig
) -> ByTask[Estimate] | None:
    """Return metrics by task; None where there is only one task.

    Args:
        tasks_P: The task of each problem; empty where there is only one.
        values: Metric → its values, (R, P).
        config: How intervals are made.
    """

    def of(metric: str, rows: Sequence[int]) -> Estimate:
        values_RP = values[metric][:, rows]
        return mean_over_problems(values_RP, config, bounds_of(metric, [values_RP]))

    several = any(len(values_RP) > 1 for values_RP in values.values())
    return _values_by_task_and_macro(
        tasks_P, list(values), of, math.nan if several else config.level
    )


def differences_by_task(
    tasks_P: Sequence[str], values: Mapping[str, tuple[Floats, Floats]], config: IntervalConfig
) -> ByTask[Difference] | None:
    """Return differences by task, the second run minus the first; None where there is one task.

    Args:
        tasks_P: The task of each problem; empty where there is only one.
        values: Metric → the values of both runs, (R, P) each.
        config: How intervals are made.
    """

    def of(metric: str, rows: Sequence[int]) -> Difference:
        first_RP, second_RP = values[metric]
        pair = second_RP[:, rows], first_RP[:, rows]
        return paired_difference(*pair, config, bounds_of(metric, pair))

    several = any(len(values_RP) > 1 for pair in values.values() for values_RP in pair)
    return _values_by_task_and_macro(
        tasks_P, list(values), of, math.nan if several else config.level
    )


def _values_by_task_and_macro(
    tasks_P: Sequence[str],
    metrics: Sequence[str],
    of: Callable[[str, Sequence[int]], Value],
    level: float,
) -> ByTask[Value] | None:
    if len({*tasks_P}) < 2:
        return None
    rows: dict[str, list[int]] = {}
    for row, task in enumerate(tasks_P):
        rows.setdefault(task, []).append(row)
    tasks = {task: {metric: of(metric, rows[task]) for metric in metrics} for task in rows}
    macro = {
        metric: _macro_average([of_task[metric] for of_task in tasks.values()], level)
        for metric in metrics
    }
    return ByTask({task: len(rows_of_task) for task, rows_of_task in rows.items()}, tasks, macro)


def _macro_average(values_T: Sequence[Value], level: float) -> Value:
    """Return the mean of the values of tasks; NaN where one is unknown."""
    variances_T = np.array([task_value.stderr**2 for task_value in values_T])
    degrees_T = [max(1, task_value.problems - 1) for task_value in values_T]
    value = float(np.mean([task_value.value for task_value in values_T]))
    factor_T = _interval_factors(variances_T, degrees_T, level)
    below, above = (
        float(np.linalg.norm(factor_T * [abs(task_value.value - end) for task_value, end in zip(
            values_T, ends, strict=True)])) / len(values_T)
        for ends in zip(*(task_value.ends for task_value in values_T), strict=True)
    )  # fmt: skip
    total = {
        name: sum(getattr(task_value, name) for task_value in values_T)
        for name in ("problems", "missing")
    }
    return replace(
        values_T[0], value=value, low=value - below, high=value + above,
        stderr=math.sqrt(variances_T.sum()) / len(values_T), **total,
        **_mean_other_fields(values_T),
    )  # fmt: skip


def _mean_other_fields(values_T: Sequence[Value]) -> dict[str, Any]:
    """Return the means of what estimates or differences say besides their interval."""
    of_difference = ("improvement", "first", "second")
    keys = of_difference if isinstance(values_T[0], Difference) else ("per_seed",)
    means = {
        key: np.mean([getattr(task_value, key) for task_value in values_T], axis=0) for key in keys
    }
    return {
        key: float(mean) if mean.ndim == 0 else tuple(mean.tolist()) for key, mean in means.items()
    }


def _interval_factors(variances_T: Floats, degrees_T: Sequence[int], level: float) -> Floats:
    """Return t_ν/t_{P − 1} of each task; 1 where nothing varies, NaN without an interval."""
    if math.isnan(level) or np.isnan(variances_T).any():
        return np.full(len(variances_T), np.nan)
    if not variances_T.sum() > 0:
        return np.ones(len(variances_T))
    degrees = variances_T.sum() ** 2 / (variances_T**2 / degrees_T).sum()
    shared = t_quantile(max(1, math.floor(degrees)), level)
    return np.array([shared / t_quantile(task_degrees, level) for task_degrees in degrees_T])


def task_table(by_task: ByTask[Estimate] | None, metrics: Sequence[str] = ()) -> str:
    """Write the metrics of each task, at both ends of a curve; empty if there is one task."""
    return "" if by_task is None else _task_table_text(by_task, metrics, "by task", with_interval)


def difference_table(by_task: ByTask[Difference] | None, metrics: Sequence[str] = ()) -> str:
    """Write the differences B − A of each task, and where they are known to be above or below 0."""
    if by_task is None:
        return ""
    verdicts = (
        _tasks_that_differ_text(by_task, name) for name in _metrics_at_curve_ends(by_task, metrics)
    )
    head = _task_table_text(by_task, metrics, "B − A by task", _difference_text)
    return "\n".join([head, *filter(None, verdicts)])


def _task_table_text(
    by_task: ByTask[Value],
    metrics: Sequence[str],
    head: str,
    cell: Callable[[str, Value], str],
) -> str:
    titles, rows = task_rows(by_task, metrics, cell)
    shown = [[task, f"{problems:,}", *cells] for task, problems, cells in rows]
    return table([[head, "problems", *titles], *shown], (0, *range(2, len(titles) + 2)), WIDTH)


def task_rows(
    by_task: ByTask[Value], metrics: Sequence[str], cell: Callable[[str, Value], Cell]
) -> tuple[list[str], list[tuple[str, int, list[Cell]]]]:
    """Return the titles of metrics, and of each task and the macro average: problems and cells.

    Args:
        by_task: The values.
        metrics: Which are shown, each at both ends of its curve; by default the usual ones.
        cell: Writes the value of a metric.
    """
    names = _metrics_at_curve_ends(by_task, metrics)
    rows = [
        (task, by_task.problems[task], [cell(name, values[name]) for name in names])
        for task, values in by_task.tasks.items()
    ]
    cells = [cell(name, by_task.macro[name]) for name in names]
    return [*map(_metric_title, names)], [*rows, (MACRO, sum(by_task.problems.values()), cells)]


def _metrics_at_curve_ends(by_task: ByTask[Value], metrics: Sequence[str]) -> list[str]:
    """Return the metrics that are shown, at the first and the last place of their curve."""
    names_by_metric = by_metric(list(by_task.macro))
    chosen = (
        names_by_metric
        if "all" in metrics
        else [metric for metric in metrics or SHOWN if metric in names_by_metric]
    )
    return [
        name
        for metric in chosen
        for name in dict.fromkeys((names_by_metric[metric][0], names_by_metric[metric][-1]))
    ]


def _metric_title(name: str) -> str:
    metric, _, place = name.partition("@")
    return f"{METRICS[metric].label}@{place}" if place else METRICS[metric].label


def _difference_text(name: str, difference: Difference) -> str:
    shown = METRICS[name.partition("@")[0]]
    value = signed(shown.scale * difference.value, shown.digits) + " points" * shown.share
    ends = interval(difference.ends, shown.scale, shown.digits)
    return f"{value} {'[—]' if math.isnan(difference.low) else ends}"


def _tasks_that_differ_text(by_task: ByTask[Difference], name: str) -> str:
    """Say on which tasks B is above or below A, each looked at by itself."""
    differences = {task: values[name] for task, values in by_task.tasks.items()}
    above = [task for task, difference in differences.items() if difference.low > 0]
    below = [task for task, difference in differences.items() if difference.high < 0]
    parts = [
        f"{where} A on {in_a_row(tasks)}"
        for where, tasks in (("above", above), ("below", below))
        if tasks
    ]
    if not parts:
        return ""
    return (f"{_metric_title(name)}: B is {' and '.join(parts)}, each looked at by itself: of "
            f"{len(differences)} tasks, one may differ by chance.")  # fmt: skip
