"""Metrics and differences by task, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from setrl.evaluate.by_task import ByTask, Value
from setrl.evaluate.intervals import Difference, Estimate
from setrl.evaluate.metrics import METRICS, by_metric
from setrl.evaluate.text import with_interval
from setrl.support.wording import WIDTH, in_a_row, interval, signed, table

Cell = TypeVar("Cell")

SHOWN = ("pass", "majority")  # by default
MACRO = "macro average"


def task_table(by_task: ByTask[Estimate] | None, metrics: Sequence[str] = ()) -> str:
    """Write the metrics of each task, at both ends of a curve; empty if there is one task."""
    return "" if by_task is None else _table(by_task, metrics, "by task", with_interval)


def difference_table(by_task: ByTask[Difference] | None, metrics: Sequence[str] = ()) -> str:
    """Write the differences B − A of each task, and where they are known to be above or below 0."""
    if by_task is None:
        return ""
    verdicts = (_verdict(by_task, name) for name in _ends(by_task, metrics))
    head = _table(by_task, metrics, "B − A by task", _difference)
    return "\n".join([head, *filter(None, verdicts)])


def _table(
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
    names = _ends(by_task, metrics)
    rows = [
        (task, by_task.problems[task], [cell(name, found[name]) for name in names])
        for task, found in by_task.tasks.items()
    ]
    cells = [cell(name, by_task.macro[name]) for name in names]
    return [*map(_title, names)], [*rows, (MACRO, sum(by_task.problems.values()), cells)]


def _ends(by_task: ByTask[Value], metrics: Sequence[str]) -> list[str]:
    """Return the metrics that are shown, at the first and the last place of their curve."""
    known = by_metric(list(by_task.macro))
    chosen = known if "all" in metrics else [one for one in metrics or SHOWN if one in known]
    return [name for one in chosen for name in dict.fromkeys((known[one][0], known[one][-1]))]


def _title(name: str) -> str:
    metric, _, place = name.partition("@")
    return f"{METRICS[metric].label}@{place}" if place else METRICS[metric].label


def _difference(name: str, found: Difference) -> str:
    shown = METRICS[name.partition("@")[0]]
    scale, digits, unit = (100, 1, " points") if shown.share else (1, shown.digits, "")
    value = signed(scale * found.value, digits) + unit
    return f"{value} {'[—]' if math.isnan(found.low) else interval(found.ends, scale, digits)}"


def _verdict(by_task: ByTask[Difference], name: str) -> str:
    """Say on which tasks B is above or below A, each looked at by itself."""
    of = {task: found[name] for task, found in by_task.tasks.items()}
    above = [task for task, found in of.items() if found.low > 0]
    below = [task for task, found in of.items() if found.high < 0]
    said = [
        f"{where} A on {in_a_row(tasks)}"
        for where, tasks in (("above", above), ("below", below))
        if tasks
    ]
    if not said:
        return ""
    return (f"{_title(name)}: B is {' and '.join(said)}, each looked at by itself: of "
            f"{len(of)} tasks, one may differ by chance.")  # fmt: skip
