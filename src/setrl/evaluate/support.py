"""What training did to the set of things that a model can solve: empirical support dynamics.

An item (a problem, or a correct strategy of one) is in a model's support when a correct sample of
it is among k. Between a base and a trained model it is then

    preserved (P)       in both
    expanded (E)        in the trained one's only
    shrunk (S)          in the base's only
    out of support (O)  in neither

    SRR  = P/(P+S)                    support retention: how much of the base's support is kept
    NDR  = E/(P+E)                    net discovery: the share of the trained one's that is new
    SDS  = 2·SRR·NDR/(SRR+NDR) = 2PE/(P² + 2PE + ES)              support dynamics: both at once
    NSCR = (E−S)/(P+E+S)              net change: the growth of the support, over all that is in
                                      either, since E−S = (P+E) − (P+S)

Wu et al., "The Invisible Leash" (arXiv:2507.14843), count the items in all n samples. We give the
expected counts for k samples of each model: unbiased for every k ≤ n, and equal to theirs for
k = n. Compare models with different n at the same k: just more samples look like a larger support.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from setrl.evaluate.estimators import Counts, Floats, pass_at_k
from setrl.evaluate.intervals import IntervalConfig, WithInterval, resampling_weights
from setrl.evaluate.samples import Evaluation

SupportItem = Literal["problems", "strategies"]


@dataclass(frozen=True)
class SupportDynamics:
    """How a trained model's support differs from the support of its base, at k samples of each.

    Attributes:
        k: Samples of each model.
        preserved, expanded, shrunk, out: Expected number of items of each kind.
        retention: SRR; NaN when the base's support is empty.
        discovery: NDR; NaN when the trained model's support is empty.
        dynamics: SDS; 0 when nothing is preserved or nothing new, NaN when either of the two
            above is.
        net_change: NSCR; NaN when both supports are empty.
    """

    k: int
    preserved: float
    expanded: float
    shrunk: float
    out: float
    retention: WithInterval
    discovery: WithInterval
    dynamics: WithInterval
    net_change: WithInterval


def support_dynamics(
    base_count_PC: ArrayLike,
    trained_count_PC: ArrayLike,
    n_base: int,
    n_trained: int,
    k: int | None = None,
    config: IntervalConfig | None = None,
) -> SupportDynamics:
    """Preserved, expanded, shrunk and unreached items of two models.

    With hit(m) = 1 − C(n−m, k)/C(n, k), an item with m correct samples of the base and m′ of the
    trained model adds hit·hit′ to the preserved, (1−hit)·hit′ to the expanded, and so on.

    Args:
        base_count_PC: Correct samples of the base model: (P,) of each problem, or (P, C) of each
            strategy of each problem. An item that no model can reach pads (it is out of support).
        trained_count_PC: Correct samples of the trained model, of the same items.
        n_base: Samples of the base per problem.
        n_trained: Samples of the trained model per problem.
        k: Samples of each model; by default as many as both have.
        config: How intervals are made: a bootstrap over problems.

    Raises:
        ValueError: When the shapes differ, or k is beyond either n.

    >>> found = support_dynamics([4, 2, 0, 0], [4, 0, 1, 0], n_base=4, n_trained=4)
    >>> found.preserved, found.expanded, found.shrunk, found.out
    (1.0, 1.0, 1.0, 1.0)
    >>> found.retention.value, found.net_change.value
    (0.5, 0.0)
    """
    size = min(n_base, n_trained) if k is None else k
    kinds_P4 = _kinds(base_count_PC, trained_count_PC, n_base, n_trained, size)
    return _dynamics(kinds_P4, size, config)


def _kinds(
    base_count_PC: ArrayLike,
    trained_count_PC: ArrayLike,
    n_base: ArrayLike,
    n_trained: ArrayLike,
    size: int,
) -> Floats:
    """Return E[items preserved, expanded, shrunk, out] of each problem, (P, 4)."""
    in_base = pass_at_k(base_count_PC, n_base, size)
    in_trained = pass_at_k(trained_count_PC, n_trained, size)
    if in_base.shape != in_trained.shape:
        raise ValueError(f"both models must have the same items, got {in_base.shape} "
                         f"and {in_trained.shape}")  # fmt: skip
    kinds = (
        in_base * in_trained,
        (1 - in_base) * in_trained,
        in_base * (1 - in_trained),
        (1 - in_base) * (1 - in_trained),
    )
    return np.stack([kind.reshape(len(in_base), -1).sum(axis=1) for kind in kinds], axis=1)


def _dynamics(kinds_P4: Floats, size: int, config: IntervalConfig | None) -> SupportDynamics:
    intervals = _intervals(kinds_P4, config or IntervalConfig())
    return SupportDynamics(size, *kinds_P4.sum(axis=0).tolist(), *intervals)


def support_of(
    bases: Sequence[Evaluation],
    trained: Sequence[Evaluation],
    of: SupportItem = "problems",
    k: int | None = None,
    config: IntervalConfig | None = None,
) -> SupportDynamics:
    """Support dynamics between evaluations of the same problems in the same order.

    With several training runs (seeds) the expected numbers are means over all pairs of a base and a
    trained model. The intervals are over problems, and do not show how seeds differ.

    Args:
        bases: Evaluations of the model before training, one for each seed.
        trained: Evaluations of the model after training, one for each seed.
        of: What is counted: problems that are solved, or correct strategies of each problem,
            matched by their names.
        k: Samples of each model; by default as many as all have.
        config: How intervals are made.

    Raises:
        ValueError: When the problems differ, or k is beyond an n.
    """
    if any(evaluation.ids != bases[0].ids for evaluation in (*bases, *trained)):
        raise ValueError("both evaluations must have the same problems in the same order")
    size = min(e.n for e in (*bases, *trained)) if k is None else k
    kinds_P4 = [
        _kinds(*_item_counts(base, other, of), base.sizes, other.sizes, size)
        for base in bases
        for other in trained
    ]
    return _dynamics(np.mean(kinds_P4, axis=0), size, config)


def _item_counts(base: Evaluation, trained: Evaluation, of: SupportItem) -> tuple[Counts, Counts]:
    if of == "problems":
        return base.correct_count_P, trained.correct_count_P
    names = tuple(dict.fromkeys(base.strategy_names + trained.strategy_names))
    return _correct_by_name(base, names), _correct_by_name(trained, names)


def _correct_by_name(evaluation: Evaluation, names: tuple[str, ...]) -> Counts:
    """Correct samples of each problem that use each of the named strategies, (P, C)."""
    place = {name: column for column, name in enumerate(names)}
    column_of = np.array([place[name] for name in evaluation.strategy_names], dtype=np.int64)
    counts_PC = np.zeros((len(evaluation), len(names)), dtype=np.int64)
    problem, sample = np.nonzero(evaluation.correct_PN & (evaluation.strategies_PN >= 0))
    column = column_of[evaluation.strategies_PN[problem, sample]]
    np.add.at(counts_PC, (problem, column), 1)
    return counts_PC


def _intervals(kinds_P4: Floats, config: IntervalConfig) -> list[WithInterval]:
    """Return the four ratios with bootstrap intervals over problems."""
    values = _ratios(kinds_P4.sum(axis=0))
    if len(kinds_P4) < 2:
        return [WithInterval(float(value), float("nan"), float("nan")) for value in values]
    weights_DP = resampling_weights(len(kinds_P4), config.resamples, config.seed, 0)
    draws_D4 = _ratios(np.maximum(weights_DP @ kinds_P4, 0.0))
    tail = (1 - config.level) / 2
    results = []
    for value, draws in zip(values, draws_D4.T, strict=True):
        known = draws[~np.isnan(draws)]
        low, high = np.quantile(known, [tail, 1 - tail]) if len(known) else (np.nan, np.nan)
        results.append(WithInterval(float(value), float(low), float(high)))
    return results


def _ratios(kinds: Floats) -> Floats:
    """SRR, NDR, SDS, NSCR of P, E, S, O along the last axis; NaN where they are undefined."""
    preserved, expanded, shrunk, _ = np.moveaxis(kinds, -1, 0)
    retention = _share(preserved, preserved + shrunk)
    discovery = _share(expanded, preserved + expanded)
    both = preserved**2 + 2 * preserved * expanded + expanded * shrunk
    dynamics = np.where(both > 0, _share(2 * preserved * expanded, both), 0.0)
    dynamics = np.where(np.isnan(retention + discovery), np.nan, dynamics)
    net_change = _share(expanded - shrunk, preserved + expanded + shrunk)
    return np.stack([retention, discovery, dynamics, net_change], axis=-1)


def _share(part: Floats, whole: Floats) -> Floats:
    undefined = np.full(np.shape(whole), np.nan)
    return np.divide(part, whole, out=undefined, where=np.asarray(whole) > 0)
