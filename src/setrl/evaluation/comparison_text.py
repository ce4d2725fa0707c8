"""A comparison as text: a table for each metric, and sentences computed from it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from setrl.evaluation.comparison import SUPPORT, Comparison, Row
from setrl.evaluation.metrics import METRICS
from setrl.evaluation.power import problems_needed
from setrl.evaluation.support import SupportDynamics

MISSING = "—"
SUPPORT_COLUMNS = ("k", "preserved", "expanded", "shrunk", "out", "SRR", "", "NDR", "", "SDS", "",
                   "NSCR", "")  # fmt: skip


def text(comparison: Comparison) -> str:
    """The whole comparison: what was compared, tables, sentences."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    tables = [f"{METRICS[metric].title}\n{_table(comparison.of(metric))}" for metric in metrics]
    tables += [_support_table(item, rows) for item, rows in comparison.support.items()]
    notes = [sentence for metric in metrics for sentence in sentences(comparison, metric)]
    shown = {*metrics, *([SUPPORT] if comparison.support else [])}
    more = [metric for metric in comparison.available if metric not in shown]
    parts = [_head(comparison), *tables, "\n".join(notes)]
    parts += [f"other values of --metrics: {', '.join(more)}"] if more else []
    return "\n\n".join(part for part in parts if part)


def sentences(comparison: Comparison, metric: str) -> list[str]:
    """Conclusions from the rows of a metric: where A is above or below B, what can be detected."""
    rows = comparison.of(metric)
    return [_verdict(rows, metric), *_detectable(comparison, rows)]


def _head(comparison: Comparison) -> str:
    lines = [
        f"{letter}  {name}: {_count(n, 'sample')} a problem, temperature {_number(t, 2)}"
        + (f", {_count(seeds, 'seed')}" if seeds > 1 else "")
        for letter, name, n, t, seeds in zip(
            "AB",
            (comparison.first, comparison.second),
            comparison.samples,
            comparison.temperatures,
            comparison.seeds,
            strict=True,
        )
    ]
    over = "problems and seeds" if max(comparison.seeds) > 1 else "problems"
    lines.append(
        f"{_count(comparison.problems, 'problem')}, {comparison.split}; "
        f"{100 * comparison.intervals.level:g}% {comparison.intervals.method} intervals over {over}"
    )
    first, second = comparison.temperatures
    if first != second and not math.isnan(first + second):
        lines.append("The temperatures differ, which alone can make the runs differ.")
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> str:
    cells = [[METRICS[rows[0].metric].axis, "A", "B", "A − B", "", "P(A above B)", "detectable"]]
    for row in rows:
        scale = _scale(row.metric)
        d, (unit, digits) = row.difference, ("%", 1) if scale == 100 else ("", 2)
        cells.append(
            [
                "" if row.k is None else f"{row.k:g}",
                _number(scale * row.first.value, digits) + unit,
                _number(scale * row.second.value, digits) + unit,
                _signed(scale * d.value),
                f"[{_number(scale * d.low, 2)}, {_number(scale * d.high, 2)}]",
                _number(d.improvement, 2),
                _number(scale * row.detectable, 2),
            ]
        )
    return _aligned(cells)


def _support_table(item: str, rows: Sequence[SupportDynamics]) -> str:
    """Which items of A's support are in B's."""
    cells = [list(SUPPORT_COLUMNS)]
    for row in rows:
        numbers = [_number(x, 1) for x in (row.preserved, row.expanded, row.shrunk, row.out)]
        ratios = [
            text
            for r in (row.retention, row.discovery, row.dynamics, row.net_change)
            for text in (_number(r.value, 3), f"[{_number(r.low, 2)}, {_number(r.high, 2)}]")
        ]
        cells.append([f"{row.k}", *numbers, *ratios])
    what = "problems that are solved" if item == "problems" else "correct strategies"
    return f"support from A to B, {what}\n{_aligned(cells)}"


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    """Lines of cells under each other; empty columns are left out."""
    used = [column for column in zip(*cells, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in used]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*used, strict=True)
    )


def _verdict(rows: Sequence[Row], metric: str) -> str:
    """Where A is above B, below it, or cannot be distinguished from it."""
    above = [row.k for row in rows if row.difference.low > 0]
    below = [row.k for row in rows if row.difference.high < 0]
    ks, axis, name = [row.k for row in rows], METRICS[metric].axis, METRICS[metric].title
    parts = [f"{word} B{_range(chosen, ks, axis)}" for word, chosen in
             (("above", above), ("below", below)) if chosen]  # fmt: skip
    if not parts:
        where = f" at any {axis}" if axis else ""
        return f"{name}: A and B cannot be distinguished on these problems{where}."
    rest = [k for k in ks if k not in above and k not in below]
    more = f"; they cannot be distinguished{_range(rest, ks, axis)}" if rest else ""
    return f"{name}: A is {' and '.join(parts)}{more}."


def _detectable(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    """What differences these problems can detect at the smallest and the largest k."""
    result = []
    for row in dict.fromkeys((rows[0], rows[-1])):
        name = METRICS[row.metric].label + ("" if row.k is None else f"@{row.k:g}")
        if math.isnan(row.detectable):
            result.append(
                f"{name}: all problems differ by the same amount, so the power is unknown."
            )
            continue
        text = (
            f"{name}: with these {_count(comparison.problems, 'problem')} a true difference of "
            f"{_amount(row, row.detectable)} or more is detected in 4 of 5 comparisons"
        )
        difference = row.difference
        if not difference.excludes_zero and difference.value and max(comparison.seeds) == 1:
            wanted = problems_needed(difference.value, difference.stderr, difference.problems)
            text += f"; one of {_amount(row, abs(difference.value))} needs {wanted:,} problems"
        result.append(text + ".")
    return result


def _amount(row: Row, value: float) -> str:
    scale = _scale(row.metric)
    return f"{_number(scale * value, 2 if scale * value < 0.1 else 1)}" + (
        " points" if scale == 100 else ""
    )


def _scale(metric: str) -> int:
    return 100 if METRICS[metric].share else 1


def _number(value: float, digits: int) -> str:
    """A number with a fixed number of digits, a true minus, and a dash where it is undefined.

    >>> _number(-0.04, 1), _number(-2.0, 1), _number(float("nan"), 1)
    ('0.0', '−2.0', '—')
    """
    if math.isnan(value):
        return MISSING
    shown = f"{value:.{digits}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown.replace("-", "−")


def _signed(value: float) -> str:
    """A difference with its sign; zero has none."""
    shown = _number(value, 2)
    return f"+{shown}" if value > 0 and float(shown) else shown


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _range(chosen: Sequence[float | None], ks: Sequence[float | None], axis: str) -> str:
    """Words for a choice among sorted places of an axis; empty for a metric without an axis.

    >>> _range([8, 16], [1, 2, 4, 8, 16], "k"), _range([1], [1, 2], "k")
    (' for k ≥ 8', ' at k = 1')
    >>> _range([2, 8], [1, 2, 4, 8, 16], "k"), _range([None], [None], "")
    (' at k = 2, 8', '')
    """
    if not axis:
        return ""
    if list(chosen) == list(ks):
        return f" at every {axis}"
    if len(chosen) > 1 and list(chosen) == list(ks[-len(chosen) :]):
        return f" for {axis} ≥ {chosen[0]:g}"
    if len(chosen) > 1 and list(chosen) == list(ks[: len(chosen)]):
        return f" for {axis} ≤ {chosen[-1]:g}"
    return f" at {axis} = " + ", ".join(f"{k:g}" for k in chosen)
