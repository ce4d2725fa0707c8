"""A strategy in a log: the one meaning that every command gives to a label."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setrl.samples.types import Strategy

DEGENERATE = -1
"""The label of a sample that is in no cluster, as noise is in scikit-learn."""

NULL = "null"  # what --degenerate calls a label that is null or missing
POLY_EPO_DEGENERATE = 100  # the label of degenerate samples in the published code of Poly-EPO
DEGENERATE_NOTE = (
    "the labels have 100 and small numbers: if it marks degenerate samples, as in Poly-EPO's "
    "code, give --degenerate 100; now it counts as one more cluster"
)


def strategy_of(value: Any, degenerate: str | None = None) -> Strategy:
    """Return the strategy that a value in a log names.

    Null and NaN are unknown, unless `degenerate` is "null". −1 and the label `degenerate` mean that
    the sample is in no cluster. A number and its digits are one label.

    >>> [strategy_of(one) for one in (3.0, "3", "factoring", None, -1)]
    [3, 3, 'factoring', None, -1]
    >>> strategy_of(100, degenerate="100"), strategy_of(None, degenerate="null")
    (-1, -1)
    """
    if value is None or value != value:
        return DEGENERATE if degenerate == NULL else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if isinstance(value, str) else str(value)
    if text == degenerate or text == "-1":
        return DEGENERATE
    return int(text) if text.isdecimal() and str(int(text)) == text else sys.intern(text)


def strategy_in(record: Mapping[str, Any], key: str | None, degenerate: str | None) -> Strategy:
    """Return the strategy under a key of a record, where a missing label is null."""
    return None if key is None else strategy_of(record.get(key), degenerate)


def numbered(strategies: Sequence[Strategy]) -> list[float]:
    """Return labels as small numbers in the order of first appearance.

    A degenerate sample stays −1, and an unknown strategy becomes NaN.

    >>> numbered(["b", 7, -1, None, "b"])
    [0.0, 1.0, -1.0, nan, 0.0]
    """
    numbers: dict[Strategy, float] = {None: float("nan"), DEGENERATE: float(DEGENERATE)}
    for one in strategies:
        numbers.setdefault(one, float(len(numbers) - 2))
    return [numbers[one] for one in strategies]


def names_of(strategies: Iterable[Strategy]) -> list[str | None]:
    """Return labels as text; None for a sample in no cluster and for an unknown strategy."""
    return [None if one is None or one == DEGENERATE else str(one) for one in strategies]


class MarksOf100:
    """A search for the label 100 among small ones: degenerate samples in Poly-EPO's code.

    All labels but 100 must be whole numbers from 0 to the size of the group, as a judge gives them.

    >>> MarksOf100.found_in([[1, 2, 100], [1, 1, 2]]), MarksOf100.found_in([[12, 40, 100]])
    (True, False)
    """

    def __init__(self) -> None:
        self._possible, self._seen = True, False

    @classmethod
    def found_in(cls, groups: Iterable[Sequence[Strategy]]) -> bool:
        """Return the answer for the labels of some groups."""
        marks = cls()
        for labels in groups:
            marks.add(labels)
        return marks.found

    def add(self, labels: Sequence[Strategy]) -> None:
        """Take the labels of a group into account."""
        known = [one for one in labels if one is not None and one != DEGENERATE]
        others = [one for one in known if one != POLY_EPO_DEGENERATE]
        if any(not isinstance(one, int) or not 0 <= one <= len(labels) < 100 for one in others):
            self._possible = False
        self._seen = self._seen or 0 < len(others) < len(known)

    @property
    def found(self) -> bool:
        """Whether a label 100 seems to mark degenerate samples."""
        return self._possible and self._seen
