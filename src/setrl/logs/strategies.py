"""A label in a log, and the marks of samples of no strategy that users and other codes have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setrl.samples.values import DEGENERATE, Label, read_label

NULL = "null"  # what --degenerate calls a label that is null or missing
POLY_EPO_DEGENERATE = 100  # the label of degenerate samples in the published code of Poly-EPO
DEGENERATE_NOTE = (
    "the labels have 100 and small numbers: if it marks degenerate samples, as in Poly-EPO's "
    "code, give --degenerate 100; now it counts as one more strategy"
)


def strategy_of(value: Any, degenerate: str | None = None) -> Label:
    """Return the label that a value in a log is, where a user says what means no strategy.

    Null and NaN are unknown, unless `degenerate` is "null". −1 and the label `degenerate` mean that
    the sample is of no strategy.

    >>> strategy_of(100, degenerate="100"), strategy_of(None, degenerate="null")
    (-1, -1)

    Raises:
        ValueError: If it is not a label; see `read_label`.
    """
    label = read_label(value)
    if label is None:
        return DEGENERATE if degenerate == NULL else None
    return DEGENERATE if str(label) == degenerate else label


class MarksOf100:
    """A search for the label 100 among small ones: degenerate samples in Poly-EPO's code.

    All labels but 100 must be whole numbers from 0 to the size of the group, as a judge gives them.

    >>> marks = MarksOf100()
    >>> marks.add([1, 2, 100])
    >>> marks.found
    True
    """

    def __init__(self) -> None:
        self._possible, self._seen = True, False

    def add(self, labels: Sequence[Label]) -> None:
        """Take the labels of a group into account."""
        if not self._possible:
            return
        distinct = {*labels} - {None, DEGENERATE}
        others = distinct - {POLY_EPO_DEGENERATE}
        if any(
            not isinstance(label, int) or not 0 <= label <= len(labels) < 100 for label in others
        ):
            self._possible = False
        self._seen = self._seen or 0 < len(others) < len(distinct)

    @property
    def found(self) -> bool:
        """Whether a label 100 seems to mark degenerate samples."""
        return self._possible and self._seen
