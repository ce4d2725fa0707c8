"""Labels → numbers, and back: what strategies, answers and families become in a column."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from setrl.samples.columns import READER_OF
from setrl.samples.values import DEGENERATE, Label, in_order


class Coder:
    """Numbers labels as they come, and says in the end what they stand for.

    The last numbers follow the order of the labels (`in_order`), so that the order of samples
    changes no bit of credit.

    >>> coder = Coder()
    >>> codes = coder.add(["formula", 3, "factor", "3", -1, None])
    >>> coder.in_order(codes), coder.names
    (array([ 2.,  0.,  1.,  0., -1., nan]), (3, 'factor', 'formula'))
    """

    def __init__(self, column: str = "strategies") -> None:
        self._read = READER_OF[column]
        self._code: dict[Label, float] = {None: math.nan}
        if column != "answers":  # −1 may be an answer
            self._code[DEGENERATE] = DEGENERATE
        self._first = len(self._code)

    def add(self, labels: Iterable[Any]) -> list[float]:
        """Return the numbers of some labels, in the order of first appearance."""
        code = self._code
        return [code[x] if x in code else self._give_code(x) for x in labels]

    def _give_code(self, label: Any) -> float:
        return self._code.setdefault(self._read(label), len(self._code) - self._first)

    @cached_property
    def names(self) -> tuple[Label, ...]:
        """The labels, in their order; asked for when all have come."""
        labels = [label for label, code in self._code.items() if code >= 0]
        return tuple(in_order(labels))

    @cached_property
    def _places(self) -> np.ndarray:
        """The place in `names` of each number that `add` gave; last, of `DEGENERATE`."""
        return np.array(
            [*np.argsort([self._code[label] for label in self.names]), DEGENERATE], float
        )

    def in_order(self, codes: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return numbers that `add` gave as places in `names`."""
        places = np.array(codes, np.float64)
        is_known = ~np.isnan(places)
        places[is_known] = self._places[places[is_known].astype(np.int64)]
        return places


def coded(
    labels: Iterable[Any], column: str = "strategies"
) -> tuple[np.ndarray, tuple[Label, ...]]:
    """Return the labels of a column as places in their names; unknown is NaN.

    −1 stays where it marks a sample of no strategy.

    >>> coded(["formula", 3, "factor", -1, None])
    (array([ 2.,  0.,  1., -1., nan]), (3, 'factor', 'formula'))
    """
    coder = Coder(column)
    codes = coder.add(labels)
    return coder.in_order(codes), coder.names


def by_first_appearance(labels: Iterable[Hashable]) -> tuple[Any, ...]:
    """Rename labels 0, 1, … in the order of their first samples; `DEGENERATE` and None stay.

    >>> by_first_appearance([7, -1, 3, None, 7])
    (0, -1, 1, None, 0)
    """
    number: dict[Hashable, Any] = {DEGENERATE: DEGENERATE, None: None}
    return tuple(number.setdefault(label, len(number) - 2) for label in labels)
