"""How far a judge can be trusted: its agreement with itself, with another judge and with the truth.

All measures here describe one group; `setrl.show.report` computes means and intervals over groups.

Labels are names only: a labeling is a partition, and renaming its labels changes nothing here.
A degenerate sample (−1) is in no pair. In what is counted over pairs (the adjusted Rand index, the
pairwise scores) it is therefore the same as a sample with a label that no other has; `flips`
distinguishes the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, count
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.core.advantages import AnyMethod
from setrl.judges.base import Group, Judge, Judgement
from setrl.judges.partition import load, together
from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE
from setrl.support.files.progress import watched

Labeling = Sequence[int]
NO_SIGNAL = 1e-12  # an advantage of this size is rounding error, and counts as 0
MEASURES = (
    "adjusted_rand",
    "precision",
    "recall",
    "f1",
    "flips",
    "signs_changed",
    "advantage_change",
)
Measured = dict[str, list[float]]
"""A measure's value for each group, NaN where it is undefined."""


@dataclass(frozen=True)
class JudgeFindings:
    """The measures of a judge, group by group.

    Attributes:
        groups: G, how many were judged.
        orders: R, how many times each was judged.
        unknown: Judgements without labels, of the G·R.
        strategies: Number of strategies of each group in its given order; NaN where unknown.
        itself: Mean over pairs of orders.
        pairwise: The given order against a judge of pairs, which is the reference. Pairs cannot
            show that a sample is degenerate, so here such a sample has its own label.
        gold: Mean over orders, against the labels of the file, which are the reference.
        labels: The labels of each group's samples in every order; None where unknown.
    """

    groups: int
    orders: int
    unknown: int
    strategies: list[float]
    itself: Measured
    pairwise: Measured = field(default_factory=dict)
    gold: Measured = field(default_factory=dict)
    labels: list[list[Labeling | None]] = field(default_factory=list)


def audit(
    groups: Sequence[Group],
    judge_for: Callable[[int], Judge],
    *,
    orders: int = 5,
    seed: int = 0,
    pairwise: Judge | None = None,
    gold: Sequence[Labeling | None] | None = None,
    rewards: Sequence[Sequence[float]] | None = None,
    method: AnyMethod | None = None,
) -> JudgeFindings:
    """Judge all groups in several orders of their samples, and compare.

    Args:
        groups: The groups to judge.
        judge_for: The judge for the r-th order. A judge that shuffles samples itself (`LMJudge`)
            needs another seed for each order; others can be the same.
        orders: R; the first is the given order.
        seed: The seed of the other orders.
        pairwise: Another judge, which the first is compared with.
        gold: The right labels of each group; None where they are unknown.
        rewards: The rewards of each group, for the change of advantages; NaN for a missing one.
        method: The method that computes the advantages, such as `methods.poly_epo(K)`.
    """
    if orders < 1:
        raise ValueError(f"orders must be at least 1, got {orders}")
    labelings_GR = rejudge(groups, judge_for, orders, seed)
    pairwise_labelings = (
        [_labels_if_complete(judgement) for judgement in pairwise.judge(groups)]
        if pairwise
        else None
    )
    tables: dict[str, list[dict[str, float]]] = {"itself": [], "pairwise": [], "gold": []}
    for place, labelings in enumerate(labelings_GR):
        pairwise_labels = pairwise_labelings[place] if pairwise_labelings else None
        truth = gold[place] if gold else None
        credit = _GroupCredit(method, rewards[place] if rewards else None)
        in_pairs = [
            _give_degenerate_own_labels(labelings[0]),
            _give_degenerate_own_labels(pairwise_labels),
        ]
        credit.prepare([*labelings, *in_pairs, truth])
        complete = [labels for labels in labelings if labels is not None]
        tables["itself"].append(_mean_measures(combinations(complete, 2), credit))
        tables["pairwise"].append(_mean_measures([in_pairs], credit))
        tables["gold"].append(_mean_measures([(labels, truth) for labels in complete], credit))
    return JudgeFindings(
        groups=len(groups),
        orders=orders,
        unknown=sum(labels is None for labelings in labelings_GR for labels in labelings),
        strategies=[_count_strategies(labelings[0]) for labelings in labelings_GR],
        itself=_values_by_measure(tables["itself"]),
        pairwise=_values_by_measure(tables["pairwise"]) if pairwise else {},
        gold=_values_by_measure(tables["gold"]) if gold else {},
        labels=labelings_GR,
    )


def rejudge(
    groups: Sequence[Group], judge_for: Callable[[int], Judge], orders: int, seed: int
) -> list[list[Labeling | None]]:
    """Judge each group in R orders: labels, G × R, each in the group's own order."""
    labelings_GR: list[list[Labeling | None]] = [[] for _ in groups]
    for number in watched(range(orders), "judge", orders, unit="order"):
        shuffles = [
            _order_of_samples(number, seed, place, group) for place, group in enumerate(groups)
        ]
        asked = [
            Group.of_texts(group.prompt, tuple(group.texts[i] for i in order))
            for group, order in zip(groups, shuffles, strict=True)
        ]
        judged = judge_for(number).judge(asked)
        for labelings, order, judgement in zip(labelings_GR, shuffles, judged, strict=True):
            labelings.append(
                _labels_in_given_order(_labels_if_complete(judgement.read(len(order))), order)
            )
    return labelings_GR


def signs_changed(values_N: NDArray[np.float64], reference_N: NDArray[np.float64]) -> float:
    """Share of samples whose advantage has another sign (−, 0 or +); NaN for no samples."""
    return (
        float(np.mean(_signs_without_noise(values_N) != _signs_without_noise(reference_N)))
        if len(values_N)
        else nan
    )


def advantage_change(values_N: NDArray[np.float64], reference_N: NDArray[np.float64]) -> float:
    """Return ‖a − b‖ / √((‖a‖² + ‖b‖²)/2), the same for both orders of a and b.

    0 for equal advantages, √2 for orthogonal ones or where one of the two is 0, 2 for opposite
    ones; NaN where both are 0.
    """
    size = np.sqrt((values_N @ values_N + reference_N @ reference_N) / 2)
    return float(np.linalg.norm(values_N - reference_N) / size) if size > NO_SIGNAL else nan


def _signs_without_noise(values_N: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sign(np.where(np.abs(values_N) <= NO_SIGNAL, 0.0, values_N))


class _GroupCredit:
    """The advantages of one group under several labelings."""

    def __init__(self, method: AnyMethod | None, rewards: Sequence[float] | None):
        self._method, self._rewards = method, rewards
        self._values: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def prepare(self, labelings: Sequence[Labeling | None]) -> None:
        """Compute them for all labelings at once; none where too few samples have a reward."""
        if self._method is None or self._rewards is None:
            return
        if len(self._rewards) <= self._method.set_size:
            return
        distinct = list({tuple(labels) for labels in labelings if labels is not None})
        if not distinct:
            return
        rewards_LN = np.tile(np.asarray(self._rewards, dtype=float), (len(distinct), 1))
        advantages = self._method.advantages(rewards_LN, strategies=np.array(distinct))
        for row, labels in enumerate(distinct):
            if not advantages.skipped_B[row]:
                self._values[labels] = advantages.values_BN[row][advantages.usable_BN[row]]

    def compare(self, labels: Labeling, reference: Labeling) -> dict[str, float]:
        """Measure how the first labeling changes the advantages of the reference."""
        ours, theirs = self._values.get(tuple(labels)), self._values.get(tuple(reference))
        if ours is None or theirs is None:
            return {"signs_changed": nan, "advantage_change": nan}
        return {
            "signs_changed": signs_changed(ours, theirs),
            "advantage_change": advantage_change(ours, theirs),
        }


def _mean_measures(
    pairs: Iterable[Sequence[Labeling | None]], credit: _GroupCredit
) -> dict[str, float]:
    """Every measure's mean over pairs of labelings, leaving out pairs for which it is undefined."""
    rows = [
        asdict(agreement(first, second)) | credit.compare(first, second)
        for first, second in pairs
        if first is not None and second is not None
    ]
    values = {measure: [row[measure] for row in rows] for measure in MEASURES}
    defined = {key: [value for value in column if value == value] for key, column in values.items()}
    return {key: float(np.mean(column)) if column else nan for key, column in defined.items()}


def _values_by_measure(rows: Sequence[dict[str, float]]) -> Measured:
    return {measure: [row[measure] for row in rows] for measure in MEASURES}


def _count_strategies(labels: Labeling | None) -> float:
    return nan if labels is None else float(len({label for label in labels if label >= 0}))


def _give_degenerate_own_labels(labels: Labeling | None) -> Labeling | None:
    """Each degenerate sample with its own label."""
    if labels is None:
        return None
    unused = count(max(labels, default=0) + 1)
    return tuple(next(unused) if label == DEGENERATE else label for label in labels)


def _order_of_samples(number: int, seed: int, place: int, group: Group) -> NDArray[np.int64]:
    """Return the r-th order of a group's samples; the first order is the given one."""
    if number == 0:
        return np.arange(len(group.texts))
    return np.random.default_rng([seed, number, place]).permutation(len(group.texts))


def _labels_if_complete(judgement: Judgement) -> Labeling | None:
    """Return the labels of a group; None if that of a sample is unknown: pairs need both."""
    labels_N = judgement.labels_N
    return None if labels_N is None or None in labels_N else labels_N  # type: ignore[return-value]


def _labels_in_given_order(labels: Labeling | None, order: NDArray[np.int64]) -> Labeling | None:
    return labels and by_first_appearance(np.array(labels)[np.argsort(order)].tolist())


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
    first, second, both = _count_pairs_together(labels_N, reference_N)
    return Agreement(
        adjusted_rand=_adjusted_rand(labels_N, reference_N),
        precision=_share_or_nan(both, first),
        recall=_share_or_nan(both, second),
        f1=_share_or_nan(2 * both, first + second),
        flips=flips(labels_N, reference_N),
    )


def flips(labels_N: Labeling, reference_N: Labeling) -> float:
    """Share of samples whose label must change for the partitions to be equal, in [0, 1].

        1 − max over matchings m of #{i : m(labelᵢ) = referenceᵢ} / N

    m pairs labels of the one with labels of the other, each at most once (an assignment
    problem); degenerate matches only degenerate. NaN without samples.
    """
    first_N, second_N = _checked_labelings(labels_N, reference_N)
    if not len(first_N):
        return nan
    degenerate = int(((first_N == DEGENERATE) & (second_N == DEGENERATE)).sum())
    named_N = (first_N != DEGENERATE) & (second_N != DEGENERATE)
    shared_CC = _load_sklearn_metrics().cluster.contingency_matrix(
        first_N[named_N], second_N[named_N]
    )
    assign = load("scipy.optimize", "judge").linear_sum_assignment
    matched = int(shared_CC[assign(shared_CC, maximize=True)].sum())
    return 1.0 - (matched + degenerate) / len(first_N)


def _count_pairs_together(labels_N: Labeling, reference_N: Labeling) -> tuple[int, ...]:
    """Pairs of samples that are together in the first, in the second, and in both labelings."""
    first_NN, second_NN = map(together, _checked_labelings(labels_N, reference_N))
    grids = (first_NN, second_NN, first_NN & second_NN)
    return tuple(int(np.triu(grid_NN, k=1).sum()) for grid_NN in grids)


def _adjusted_rand(*labelings_N: Labeling) -> float:
    """Return scikit-learn's index, where each degenerate sample has a label that no other has."""
    alone_N = -1 - np.arange(len(labelings_N[0]))
    named = [
        np.where(np.equal(labels_N, DEGENERATE), alone_N, labels_N) for labels_N in labelings_N
    ]
    return _load_sklearn_metrics().adjusted_rand_score(*named) if len(alone_N) > 1 else nan


def _load_sklearn_metrics() -> Any:
    return load("sklearn.metrics", "judge")


def _checked_labelings(labels_N: Labeling, reference_N: Labeling) -> tuple[NDArray, NDArray]:
    first_N, second_N = np.asarray(labels_N, dtype=int), np.asarray(reference_N, dtype=int)
    if first_N.ndim != 1 or first_N.shape != second_N.shape:
        raise ValueError(
            f"labelings must be of the same samples, got {first_N.shape} and {second_N.shape}"
        )
    return first_N, second_N


def _share_or_nan(part: int, whole: int) -> float:
    return part / whole if whole else nan
