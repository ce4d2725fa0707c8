"""Labels of strategies: names for people, numbers for methods; from functions and judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from setrl import DEGENERATE
from setrl.judges import Judgement
from setrl.samples.importers.trl import NO_STRATEGY
from setrl.samples.strategies import strategy_of
from setrl.tasks.domains.verifier import strategy_label

Label = str | int | None  # a name or an integer, −1 for degenerate; None for unknown

LARGEST = 2**53  # up to it, float64 holds every integer


def read_label(value: Any) -> Label:
    """Read one value of a cluster function, as a log's labels are read.

    >>> [read_label(one) for one in ("factor", 3, "3", -1, "-1", None)]
    ['factor', 3, 3, -1, -1, None]

    Raises:
        ValueError: If it is neither a name nor an integer of at least −1 nor None.
    """
    if value is None or isinstance(value, str):
        return strategy_of(value)
    try:
        number = float(value)
        if math.isnan(number):
            return None
        if number == int(number) and DEGENERATE <= number < LARGEST:
            return int(number)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # an array, a list, infinity
        pass
    raise ValueError(
        f"names or integers in [0, 2^53), −1 (degenerate) or None (unknown), got {value!r}"
    )


def numbered(labels: Sequence[Label]) -> np.ndarray:
    """Turn labels into numbers: integers stay, names get the integers above them, None becomes NaN.

    The order of the names does not depend on the order of the samples, so that credit does not
    depend on it either, to the last bit.

    >>> numbered(["factor", 3, "formula", -1, "factor"])
    array([ 5.,  3.,  4., -1.,  5.])
    """
    free = 1 + max((one for one in labels if isinstance(one, int)), default=DEGENERATE)
    names = sorted({one for one in labels if isinstance(one, str)}, key=_order)
    numbers = {name: max(free, 0) + place for place, name in enumerate(names)}
    values = [numbers[one] if isinstance(one, str) else one for one in labels]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def shown(label: Label) -> str | None:
    """Write a label for a table.

    >>> shown("factor"), shown(3), shown(-1)
    ('factor', '3', 'degenerate')
    """
    if label == DEGENERATE:
        return NO_STRATEGY
    return None if label is None else str(label)


def clusters_of(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """Return the clusters of judgements, (B, N); NaN for a prompt that could not be judged."""
    unknown = (None,) * num_samples
    return np.array([one.clusters_N or unknown for one in judgements], dtype=np.float64)


def families_of(judgements: Sequence[Judgement], num_samples: int) -> np.ndarray:
    """Return the families of judgements, (B, N); NaN for a prompt without families."""
    unknown = (None,) * num_samples
    return np.array([one.families_N or unknown for one in judgements], dtype=np.float64)


def labels_of(judgement: Judgement, num_samples: int) -> list[Label]:
    """Return the names that a judge gave to the samples of a prompt; numbers without names."""
    if judgement.clusters_N is None:
        return [None] * num_samples
    names = judgement.strategies or [None] * num_samples
    pairs = zip(names, judgement.clusters_N, strict=True)
    return [label if label == DEGENERATE else name or label for name, label in pairs]


def _order(name: str) -> tuple[int, str]:
    """Sort names as earlier versions did, whose numbers were hashes of three bytes."""
    return strategy_label(name), name
