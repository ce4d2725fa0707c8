"""How far two labelings of the same samples agree.

Labels are names only: a labeling is a partition, and renaming its labels changes nothing here.
A degenerate sample (−1) is in no pair. In what is counted over pairs (the adjusted Rand index, the
pairwise scores) it is therefore the same as a sample with a label that no other has; `flips`
distinguishes the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.judges.partition import load, together
from setrl.samples.values import DEGENERATE

Labeling = Sequence[int]


@dataclass(frozen=True)
class Agreement:
    """One labeling against another, the reference.

    Attributes:
        adjusted_rand: Rand index corrected for chance (Hubert and Arabie, Journal of Classification
            2, 1985): (both − e) / ((first + second)/2 − e) with e = first · second / pairs, where
            `first`, `second` and `both` count the pairs together in one, in the other and in both.
            1 for the same partition, 0 expected for random ones with parts of these sizes, below 0
            for worse. Two partitions for which it is 0/0, both all together or both all apart, are
            equal: 1. NaN for fewer than two samples.
        precision: Of the pairs that are together, the share that the reference has together; NaN
            without such pairs.
        recall: Of the pairs that the reference has together, the share that are together; NaN
            without such pairs.
        f1: 2·both / (pairs together in one + in the other), `both` = together in both; the same
            whichever is the reference. NaN if no pair is together in either.
        flips: See `flips`.
    """

    adjusted_rand: float
    precision: float
    recall: float
    f1: float
    flips: float


def agreement(labels_N: Labeling, reference_N: Labeling) -> Agreement:
    """All measures at once.

    >>> agreement([0, 0, 1, 1], [0, 0, 0, 1])
    Agreement(adjusted_rand=0.0, precision=0.5, recall=0.333..., f1=0.4, flips=0.25)

    Raises:
        ValueError: If the labelings are not equally long.
    """
    first, second, both = _pair_counts(labels_N, reference_N)
    return Agreement(
        adjusted_rand=_adjusted_rand(labels_N, reference_N),
        precision=_share(both, first),
        recall=_share(both, second),
        f1=_share(2 * both, first + second),
        flips=flips(labels_N, reference_N),
    )


def flips(labels_N: Labeling, reference_N: Labeling) -> float:
    """Share of samples whose label must change for the partitions to be equal, in [0, 1].

        1 − max over matchings m of #{i : m(labelᵢ) = referenceᵢ} / N

    m pairs labels of the one with labels of the other, each at most once (an assignment
    problem); degenerate matches only degenerate. NaN without samples.
    """
    first_N, second_N = _checked(labels_N, reference_N)
    if not len(first_N):
        return nan
    degenerate = int(((first_N == DEGENERATE) & (second_N == DEGENERATE)).sum())
    named_N = (first_N != DEGENERATE) & (second_N != DEGENERATE)
    shared_CC = _metrics().cluster.contingency_matrix(first_N[named_N], second_N[named_N])
    assign = load("scipy.optimize", "judge").linear_sum_assignment
    matched = int(shared_CC[assign(shared_CC, maximize=True)].sum())
    return 1.0 - (matched + degenerate) / len(first_N)


def _pair_counts(labels_N: Labeling, reference_N: Labeling) -> tuple[int, ...]:
    """Pairs of samples that are together in the first, in the second, and in both labelings."""
    first_NN, second_NN = map(together, _checked(labels_N, reference_N))
    grids = (first_NN, second_NN, first_NN & second_NN)
    return tuple(int(np.triu(grid_NN, k=1).sum()) for grid_NN in grids)


def _adjusted_rand(*labelings_N: Labeling) -> float:
    """Return scikit-learn's index, where each degenerate sample has a label that no other has."""
    alone_N = -1 - np.arange(len(labelings_N[0]))
    named = [
        np.where(np.equal(labels_N, DEGENERATE), alone_N, labels_N) for labels_N in labelings_N
    ]
    return _metrics().adjusted_rand_score(*named) if len(alone_N) > 1 else nan


def _metrics() -> Any:
    return load("sklearn.metrics", "judge")


def _checked(labels_N: Labeling, reference_N: Labeling) -> tuple[NDArray, NDArray]:
    first_N, second_N = np.asarray(labels_N, dtype=int), np.asarray(reference_N, dtype=int)
    if first_N.ndim != 1 or first_N.shape != second_N.shape:
        raise ValueError(
            f"labelings must be of the same samples, got {first_N.shape} and {second_N.shape}"
        )
    return first_N, second_N


def _share(part: int, whole: int) -> float:
    return part / whole if whole else nan
