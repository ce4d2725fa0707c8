"""Numbers as text: one way to write a share, a difference, an interval, a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from setrl.evaluation.intervals import Difference, Estimate
from setrl.groups.fields import between as between

MISSING = "—"


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign (a true minus); zero has none.

    >>> signed(1.25), signed(-0.4), signed(0.01)
    ('+1.2', '−0.4', '0.0')
    """
    if math.isnan(value):
        return MISSING
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text


def plain(value: float, digits: int = 1) -> str:
    """A number with a fixed number of digits; a dash where it is undefined.

    >>> plain(8.94), plain(-0.01), plain(float("nan"))
    ('8.9', '0.0', '—')
    """
    if math.isnan(value):
        return MISSING
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def in_words(name: str) -> str:
    """A name of a config or a file as words.

    >>> in_words("correct_strategies@32")
    'correct strategies@32'
    """
    return name.replace("_", " ")


def percent_tick(value: float, _position: int | None = None) -> str:
    """A share as per cent, in as few digits as it needs, beside an axis.

    >>> percent_tick(0.5), percent_tick(0.985)
    ('50%', '98.5%')
    """
    return f"{100 * value:g}%"


def percent(value: float, digits: int = 1) -> str:
    """A share as per cent.

    >>> percent(0.974)
    '97.4%'
    """
    return MISSING if math.isnan(value) else f"{plain(100 * value, digits)}%"


def points(difference: Difference) -> str:
    """A difference of shares in percentage points, with its interval.

    >>> points(Difference(0.098, 0.021, 0.173, 0.04, 0.7, 100, 0))
    '+9.8 points [2.1, 17.3]'
    """
    low, high = plain(100 * difference.low), plain(100 * difference.high)
    return f"{signed(100 * difference.value)} points [{low}, {high}]"


def interval(estimate: Estimate | Difference, scale: float = 1.0, digits: int = 1) -> str:
    """The interval alone.

    >>> interval(Difference(0.098, 0.021, 0.173, 0.04, 0.7, 100, 0), scale=100)
    '[2.1, 17.3]'
    """
    return f"[{plain(scale * estimate.low, digits)}, {plain(scale * estimate.high, digits)}]"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number of things.

    >>> count(1, "seed"), count(2000, "seed"), count(2, "strategy", "strategies")
    ('1 seed', '2,000 seeds', '2 strategies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def short_names(paths: Sequence[Path]) -> list[str]:
    """A name for each path: without folders and endings, where that tells them apart.

    >>> short_names([Path("logs/a.jsonl"), Path("logs/b.json.gz")])
    ['a', 'b']
    """
    short = [path.name.partition(".")[0] or str(path) for path in paths]
    return [
        name if short.count(name) == 1 else str(path)
        for name, path in zip(short, paths, strict=True)
    ]


def in_a_row(names: Sequence[str]) -> str:
    """Names in a row.

    >>> in_a_row(["A"]), in_a_row(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def chosen_range(
    chosen: Sequence[float | None], ks: Sequence[float | None], axis: str = "k"
) -> str:
    """Words for a choice among sorted places of an axis; empty for a metric without an axis.

    >>> chosen_range([8, 16], [1, 2, 4, 8, 16]), chosen_range([1], [1, 2])
    (' for k ≥ 8', ' at k = 1')
    >>> chosen_range([2, 8], [1, 2, 4, 8, 16]), chosen_range([None], [None], "")
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


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A table of texts; | inside a cell is escaped.

    >>> print(markdown_table(["arm", "pass@1"], [["a|b", "0.5"]]))
    | arm | pass@1 |
    | --- | --- |
    | a\|b | 0.5 |
    """
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join([lines[0], f"| {' | '.join(['---'] * len(head))} |", *lines[1:]])
