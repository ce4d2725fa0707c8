"""One way to write a number, a share, an interval, a count and a table for people."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path

MISSING = "—"
WIDTH = 80  # letters of a line in a terminal
EXACT, SURE = 1e15, 9  # digits after the point that sums of many numbers have
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def signed(value: float, digits: int = 1) -> str:
    """Write a number with its sign (a true minus); zero has no sign.

    >>> signed(1.25), signed(-0.4), signed(0.01)
    ('+1.3', '−0.4', '0.0')
    """
    if math.isnan(value):
        return MISSING
    text = plain(abs(value), digits)
    return text if float(text) == 0 else f"{'+' if value > 0 else '−'}{text}"


def plain(value: float, digits: int = 1) -> str:
    """Write a number with a fixed number of digits; a dash where it is undefined.

    A half goes away from 0: 51.25 is 51.3 however its sum was rounded.

    >>> plain(8.94), plain(51.25), plain(-0.01), plain(float("nan"))
    ('8.9', '51.3', '0.0', '—')
    """
    if math.isnan(value):
        return MISSING
    text = f"{value:.{digits}f}"
    if abs(value) < EXACT:  # beyond, numbers have no digits after the point
        half_up = Decimal(round(value, SURE)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        text = f"{half_up:f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def printable(text: str, keep: str = "") -> str:
    r"""Write control characters, which terminals obey, as JSON writes them; newlines, tabs stay.

    So are halves of characters, which names of files hold where they are not UTF-8.

    >>> printable("red: \x1b[31m"), printable("two\nlines\r", keep="\r")
    ('red: \\u001b[31m', 'two\nlines\r')
    """
    return _UNPRINTABLE.sub(lambda m: m[0] if m[0] in keep else f"\\u{ord(m[0]):04x}", text)


def in_words(name: str) -> str:
    """Write a name of a config or a file as words.

    >>> in_words("correct_strategies@32")
    'correct strategies@32'
    """
    return name.replace("_", " ")


def percent_tick(value: float, _position: int | None = None) -> str:
    """Write a share as per cent, in as few digits as it needs, for an axis.

    >>> percent_tick(0.5), percent_tick(0.985)
    ('50%', '98.5%')
    """
    return f"{100 * value:g}%"


def percent(value: float, digits: int = 1) -> str:
    """Write a share as per cent.

    >>> percent(0.974)
    '97.4%'
    """
    return MISSING if math.isnan(value) else f"{plain(100 * value, digits)}%"


def interval(ends: tuple[float, float], scale: float = 1.0, digits: int = 1) -> str:
    """Write the ends of an interval.

    >>> interval((0.021, 0.173), scale=100), interval((-0.5, 2.0))
    ('[2.1, 17.3]', '[−0.5, 2.0]')
    """
    low, high = (plain(scale * end, digits) for end in ends)
    return f"[{low}, {high}]"


def points(value: float, ends: tuple[float, float]) -> str:
    """Write a difference of shares in percentage points, with its interval.

    >>> points(0.098, (0.021, 0.173))
    '+9.8 points [2.1, 17.3]'
    """
    return f"{signed(100 * value)} points {interval(ends, 100)}"


def between(fewest: int, most: int) -> str:
    """Write a number that problems may differ in.

    >>> between(8, 8), between(3, 30)
    ('8', '3 to 30')
    """
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


@cache
def plural(noun: str) -> str:
    """Return the noun for several things.

    >>> plural("seed"), plural("strategy"), plural("way")
    ('seeds', 'strategies', 'ways')
    """
    return re.sub(r"(?<![aeiou])y$", "ie", noun) + "s"


def count(number: int, noun: str) -> str:
    """Write a number of things.

    >>> count(1, "seed"), count(2000, "seed")
    ('1 seed', '2,000 seeds')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def are(number: int) -> str:
    """Return the verb for a number of things.

    >>> are(1), are(2)
    ('is', 'are')
    """
    return "is" if number == 1 else "are"


def have(number: int) -> str:
    """Return the verb for a number of things.

    >>> have(1), have(2)
    ('has', 'have')
    """
    return "has" if number == 1 else "have"


def size(number: int, noun: str, fewest: int, most: int) -> str:
    """Write how many problems or prompts there are, and the samples of each.

    >>> size(1, "problem", 1, 1), size(20, "prompt", 3, 8)
    ('1 problem × 1 sample', '20 prompts × 3 to 8 samples')
    """
    return f"{count(number, noun)} × {between(fewest, most)} sample{'s' if most != 1 else ''}"


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each path: without folders and endings, where names still differ.

    >>> short_names([Path("logs/a.jsonl"), Path("logs/b.json.gz")])
    ['a', 'b']
    """
    short = [path.name.partition(".")[0] or str(path) for path in paths]
    return [
        name if short.count(name) == 1 else str(path)
        for name, path in zip(short, paths, strict=True)
    ]


def in_a_row(names: Sequence[str]) -> str:
    """Write names in a row.

    >>> in_a_row(["A"]), in_a_row(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def first_of(names: Sequence[str], most: int = 5) -> str:
    """Write the first names, and how many more there are.

    >>> first_of(["A", "B", "C"], most=2)
    'A, B and 1 more'
    """
    unnamed = len(names) - most
    return ", ".join(names[:most]) + (f" and {unnamed} more" if unnamed > 0 else "")


def chosen_range(
    chosen: Sequence[float | None], ks: Sequence[float | None], axis: str = "k"
) -> str:
    """Say which of the sorted places of an axis are chosen; nothing for a metric without an axis.

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


def table(
    rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), width: float = math.inf
) -> str:
    """Write rows as aligned columns; columns without any text are left out.

    >>> print(table([["split", "problems"], ["train", "9"]]))
    split  problems
    train         9

    Args:
        rows: Cells, equally many in each row; the first row is the head.
        left: The columns that are aligned to the left; −1 is the last one.
        width: What is wider becomes several tables, which all have the first column.
    """
    columns = list(zip(*rows, strict=True))
    to_left = {place % len(columns) for place in left}
    aligned = [
        [cell.ljust(longest) if place in to_left else cell.rjust(longest) for cell in column]
        for place, column in enumerate(columns)
        if (longest := max(map(len, column)))
    ]
    return "\n\n".join(
        "\n".join("  ".join(line).rstrip() for line in zip(*part, strict=True))
        for part in _columns_that_fit(aligned, width)
    )


def _columns_that_fit(columns: Sequence[Sequence[str]], width: float) -> list[list[Sequence[str]]]:
    """Return columns side by side up to a width, after the first one; at least one of them."""
    parts = [[*columns[:1]]]
    for column in columns[1:]:
        wide = sum(len(placed[0]) + 2 for placed in parts[-1]) + len(column[0])
        if wide > width and len(parts[-1]) > 1:
            parts.append([columns[0]])
        parts[-1].append(column)
    return parts


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Write a table in Markdown; | inside a cell is escaped.

    >>> print(markdown_table(["arm", "pass@1"], [["a|b", "0.5"]]))
    | arm | pass@1 |
    | --- | --- |
    | a\|b | 0.5 |
    """
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join([lines[0], f"| {' | '.join(['---'] * len(head))} |", *lines[1:]])


def wrapped(text: str, width: int = WIDTH) -> str:
    """Break sentences at a width, never inside a number; lines with columns stay.

    >>> print(wrapped("B is above A: +4.4 points [1.2, 7.6].", width=30))
    B is above A: +4.4 points
    [1.2, 7.6].
    """
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    start = re.match(r"\w  (?!.*  )|", line)  # of a line about A or B
    indent = " " * len(start[0]) if start else ""
    if len(line) <= width or "  " in line[len(indent) :]:
        return line
    whole = re.sub(
        r"[+−]?[\d.,]+ points|\[[^\]]*\]|\w = [\d.]+",
        lambda part: part[0].replace(" ", "\xa0"),
        line,
    )
    lines = textwrap.wrap(
        whole, width, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent
    )
    return "\n".join(lines).replace("\xa0", " ")
