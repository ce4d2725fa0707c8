"""A comparison as text: a table for each metric, and sentences computed from it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from setrl.evaluation.comparison import Comparison, Row
from setrl.evaluation.power import problems_needed

SHARES = ("pass", "majority", "vote_share")  # shown as per cent, their differences as points
MISSING = "—"
NAMES = {
    "strategies": "strategies",
    "correct_strategies": "correct strategies",
    "vote_share": "vote share",
    "best_of": "best-of",
}


def text(comparison: Comparison) -> str:
    """The whole comparison: what was compared, tables, sentences."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    tables = [f"{_name(metric)}@k\n{_table(comparison.of(metric))}" for metric in metrics]
    said = [sentence for metric in metrics for sentence in sentences(comparison, metric)]
    return "\n\n".join([_head(comparison), *tables, "\n".join(said)])


def sentences(comparison: Comparison, metric: str) -> list[str]:
    """What the rows of a metric say: where A is above or below B, and what could be seen."""
    rows = comparison.of(metric)
    return [_place(rows, metric), *_seen(comparison, rows)]


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
        lines.append("The temperatures differ: so may the runs for that reason alone.")
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> str:
    cells = [["k", "A", "B", "A − B", "", "P(A above B)", "detectable"]]
    for row in rows:
        scale = _scale(row.metric)
        d, (unit, digits) = row.difference, ("%", 1) if scale == 100 else ("", 2)
        cells.append(
            [
                str(row.k),
                _number(scale * row.first.value, digits) + unit,
                _number(scale * row.second.value, digits) + unit,
                _signed(scale * d.value),
                f"[{_number(scale * d.low, 2)}, {_number(scale * d.high, 2)}]",
                _number(d.improvement, 2),
                _number(scale * row.detectable, 2),
            ]
        )
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _place(rows: Sequence[Row], metric: str) -> str:
    """For which k A is above B, below it, or not to be told from it."""
    above = [row.k for row in rows if row.difference.low > 0]
    below = [row.k for row in rows if row.difference.high < 0]
    ks = [row.k for row in rows]
    name = f"{_name(metric)}@k"
    parts = [f"{word} B {_range(chosen, ks)}" for word, chosen in
             (("above", above), ("below", below)) if chosen]  # fmt: skip
    if not parts:
        return f"{name}: these problems do not tell A from B at any k."
    told = set(above) | set(below)
    rest = [k for k in ks if k not in told]
    more = f"; not to be told apart {_range(rest, ks)}" if rest else ""
    return f"{name}: A is {' and '.join(parts)}{more}."


def _seen(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    """What differences these problems can show at the smallest and the largest k."""
    result = []
    for row in dict.fromkeys((rows[0], rows[-1])):
        name = f"{_name(row.metric)}@{row.k}"
        if math.isnan(row.detectable):
            result.append(f"{name}: all problems differ alike; nothing can be said of power.")
            continue
        text = (
            f"{name}: with these {_count(comparison.problems, 'problem')} a true difference of "
            f"{_amount(row, row.detectable)} or more is seen in 4 of 5 comparisons"
        )
        difference = row.difference
        if not difference.excludes_zero and difference.value and max(comparison.seeds) == 1:
            wanted = problems_needed(difference.value, difference.stderr, difference.problems)
            text += f"; one of {_amount(row, abs(difference.value))} takes {wanted:,} problems"
        result.append(text + ".")
    return result


def _amount(row: Row, value: float) -> str:
    scale = _scale(row.metric)
    return f"{_number(scale * value, 2 if scale * value < 0.1 else 1)}" + (
        " points" if scale == 100 else ""
    )


def _scale(metric: str) -> int:
    return 100 if metric in SHARES else 1


def _name(metric: str) -> str:
    return NAMES.get(metric, metric)


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


def _range(chosen: Sequence[int], ks: Sequence[int]) -> str:
    """Words for a choice among sorted ks.

    >>> _range([8, 16], [1, 2, 4, 8, 16]), _range([1], [1, 2]), _range([2, 8], [1, 2, 4, 8, 16])
    ('for k ≥ 8', 'at k = 1', 'at k = 2, 8')
    """
    if list(chosen) == list(ks):
        return "at every k"
    if len(chosen) > 1 and list(chosen) == list(ks[-len(chosen) :]):
        return f"for k ≥ {chosen[0]}"
    if len(chosen) > 1 and list(chosen) == list(ks[: len(chosen)]):
        return f"for k ≤ {chosen[-1]}"
    return "at k = " + ", ".join(map(str, chosen))
