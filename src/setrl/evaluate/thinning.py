"""Two sides with different numbers of samples: metrics that depend on the number, at the same one.

Most metrics at k have the same expected value for any number of samples. Cover@τ, the effective
number of strategies and the share of the commonest do not: of two equal models, the one with more
samples has more strategies. They are compared on as many samples of a problem as the side with
fewer has, averaged over random choices of these samples.

Axes: R seeds, P problems, N samples.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.evaluate.estimators import Floats
from setrl.evaluate.metrics import metric_values
from setrl.evaluate.samples import Evaluation

BY_NUMBER = ("cover", "effective_number", "top_share")  # their expected value depends on n
CHOICES = 32  # of the samples that stay
COLUMNS = ("rewards", "strategies", "answers", "proxy", "correct")

BothValues = tuple[Floats, Floats]  # of two sides, (R, P) each


def paired_values(
    first: Sequence[Evaluation],
    second: Sequence[Evaluation],
    of_first: Mapping[str, Floats],
    of_second: Mapping[str, Floats],
) -> dict[str, BothValues]:
    """Return the values of the metrics that two sides have, from as many samples where this counts.

    Args:
        first, second: One evaluation for each seed, on the same problems.
        of_first, of_second: Metric@x → values of all samples, (R, P).
    """
    both = {name: (of_first[name], of_second[name]) for name in of_first if name in of_second}
    asked = {metric for name in both if (metric := name.partition("@")[0]) in BY_NUMBER}
    sizes = [one.size_P for one in (*first, *second)]
    if not asked or all((size_P == sizes[0]).all() for size_P in sizes):
        return both
    fewest_P = np.min(sizes, axis=0)
    a, b = ([_averaged(one, fewest_P, asked) for one in side] for side in (first, second))
    return both | {
        name: (np.stack([one[name] for one in a]), np.stack([one[name] for one in b]))
        for name in both
        if name.partition("@")[0] in asked
    }


def thin(evaluation: Evaluation, n_P: NDArray[np.int64], rng: np.random.Generator) -> Evaluation:
    """Return n_P of the samples of each problem, chosen at random."""
    key_PN = np.where(evaluation.present_PN, rng.random(evaluation.present_PN.shape), 2)
    chosen_PN = key_PN.argsort(axis=1)[:, : n_P.max()]
    samples = evaluation.samples
    given = {name: value for name in COLUMNS if (value := getattr(samples, name)) is not None}
    mask = np.arange(n_P.max()) < n_P[:, None]
    kept: dict[str, Any] = {
        name: np.where(mask, np.take_along_axis(value, chosen_PN, 1), np.nan)
        for name, value in given.items()
    }
    return replace(evaluation, samples=replace(samples, **kept, mask=mask, texts=()))


def _averaged(
    evaluation: Evaluation, n_P: NDArray[np.int64], asked: Collection[str]
) -> dict[str, Floats]:
    if (evaluation.size_P == n_P).all():
        return metric_values(evaluation, [1], asked)
    rng = np.random.default_rng(0)
    every = [metric_values(thin(evaluation, n_P, rng), [1], asked) for _ in range(CHOICES)]
    return {name: _mean_of_known([values[name] for values in every]) for name in every[0]}


def _mean_of_known(every_CP: Sequence[Floats]) -> Floats:
    known_P = np.isfinite(every_CP).sum(axis=0)
    unknown = np.full(len(known_P), np.nan)
    return np.divide(np.nansum(every_CP, axis=0), known_P, out=unknown, where=known_P > 0)
