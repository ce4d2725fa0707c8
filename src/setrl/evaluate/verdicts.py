"""What curves and counts show in words: the same in tables, figures and reports.

A sentence about a curve over k says something of many k at once, so it follows the band that holds
for all k at once (`setrl.evaluate.bands`), never the intervals of single k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from setrl.evaluate.bands import Band
from setrl.evaluate.intervals import Difference
from setrl.support.wording import count, interval, plain, signed

WIDE = "effective_number"  # of strategies, right or wrong: what "uses fewer" is about
RIGHT = "correct_strategies"
STRATEGIES = (WIDE, RIGHT)


def place(band: Band | None, other: str) -> str:
    """Where over k a curve is above and where below another, from the band of their difference.

    >>> place(Band((1, 2, 3), (1, 0, -1), (0.5, -0.5, -1.5), (1.5, 0.5, -0.5), 2, 0.95), "B")
    'above B for k = 1 and below it for k = 3'
    """
    if band is None or not (band.above or band.below):
        return f"not distinguishable from {other} at any k"
    above, below = (_ks_text(ks, band) for ks in (band.above, band.below))
    if above and below:
        return f"above {other} {above} and below it {below}"
    return f"above {other} {above}" if above else f"below {other} {below}"


def _ks_text(ks: Sequence[int], band: Band) -> str:
    """Write some of a band's k in words; nothing without any k."""
    if not ks:
        return ""
    return "at every k" if len(ks) == len(band.ks) else f"for {runs(ks, band.ks)}"


def runs(ks: Sequence[int], of: Sequence[int] = ()) -> str:
    """Sorted k as ranges.

    Args:
        ks: Some of the k.
        of: All that were computed: two neighbours of these are in one range.

    >>> runs([1, 2, 3, 7, 9, 10]), runs([1, 2, 4], of=[1, 2, 4, 8])
    ('k = 1 to 3, 7, 9 to 10', 'k = 1 to 4')
    """
    spans = ranges(ks, of or range(max(ks) + 1))
    return "k = " + ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in spans)


def ranges(ks: Sequence[int], of: Sequence[int]) -> list[list[int]]:
    """Return the first and the last k of each run of neighbours among all k, `of`."""
    order = {k: index for index, k in enumerate(of)}
    spans: list[list[int]] = []
    for k in ks:
        if spans and order[k] == order[spans[-1][-1]] + 1:
            spans[-1][-1] = k
        else:
            spans.append([k, k])
    return spans


def strategies_in_words(
    model: str, other: str, differences: Mapping[str, Difference], band: Band | None
) -> str:
    """Whether one model uses fewer strategies than another, and whether it solves fewer problems.

    "Fewer" and "more" appear only where the interval of the paired difference excludes 0: of the
    effective number, of right strategies in as many samples as were compared, and, for problems,
    where the band of pass@k does at some k.

    Args:
        model: The model that the sentence is about.
        other: What it is compared with.
        differences: Metric → model minus other.
        band: The band of the difference of pass@k.

    Returns:
        One sentence; empty where strategies are not known of both.
    """
    right = _name_at_largest_k(RIGHT, differences)
    if right is None or WIDE not in differences:
        return ""
    k = right.partition("@")[2]
    wide = differences[WIDE].shown
    start = {
        "below": f"{model} uses fewer strategies than {other}",
        "above": f"{model} uses more strategies than {other}",
        "unclear": f"Whether {model} uses fewer strategies than {other} is not clear",
    }[wide]
    parts = [
        f"effective number {_means_and_gap_text(differences[WIDE])}",
        f"right strategies in {count(int(k), 'sample')} {_means_and_gap_text(differences[right])}",
    ]
    narrower = wide == "below" or (wide == "unclear" and differences[right].shown == "below")
    return f"{start}: {', '.join(parts)}; {_solved_text(other, band, narrower)}."


def _solved_text(other: str, band: Band | None, is_narrower: bool) -> str:
    """Whether it solves fewer problems."""
    where = f"its pass@k is {place(band, f'the pass@k of {other}')} (all k at once)"
    if band is None or not (band.above or band.below):
        return where
    if not band.below:
        but = "but it solves" if is_narrower else "it solves"
        return f"{but} no fewer problems: {where}, and nowhere shown to be below"
    return f"it solves fewer problems: {where}" if not band.above else where


def _means_and_gap_text(d: Difference) -> str:
    """Write both means and their difference, all on the same problems."""
    of = f", on {d.problems:,} of {count(d.problems + d.missing, 'problem')}" if d.missing else ""
    ends = interval(d.ends, digits=2)
    return f"{plain(d.first, 2)} against {plain(d.second, 2)} ({signed(d.value, 2)} {ends}{of})"


def _name_at_largest_k(metric: str, names: Mapping[str, object]) -> str | None:
    """Return the name of a curve's metric at its largest k."""
    ks = [int(name.partition("@")[2]) for name in names if name.partition("@")[0] == metric]
    return f"{metric}@{max(ks)}" if ks else None
