"""Set objectives: (rewards, clusters, answers, …) of a set → its score.

Each name here makes a value. Values are frozen, so that two of the same are equal, and compose:

>>> from setrl import objectives
>>> objectives.polychromic() == objectives.polychromic()
True
>>> blend = objectives.max() + 0.1 * objectives.mean() * objectives.distinct_share()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans
from setrl.core.objectives.composition import Product, Sum
from setrl.core.objectives.counts import FromCounts
from setrl.core.objectives.custom import FromFunction
from setrl.core.objectives.diversity import (
    Differ,
    Distinct,
    DistinctCorrect,
    DistinctShare,
    ExtraShare,
    MixedShare,
)
from setrl.core.objectives.pairs import PairwiseDistance, Volume
from setrl.core.objectives.polychromic import Polychromic
from setrl.core.objectives.ranks import LStatistic, Max
from setrl.core.objectives.rarest import RarestCorrect
from setrl.core.objectives.rewards import AnyCorrect, Mean
from setrl.core.objectives.selection import BestOf
from setrl.core.objectives.sizes import OverSizes
from setrl.core.objectives.soft import SmoothMax, SoftAny
from setrl.core.objectives.statistics import (
    CVaR,
    GiniMeanDifference,
    Median,
    Minimum,
    Quantile,
    TopMean,
    TrimmedMean,
    WinsorisedMean,
)
from setrl.core.objectives.votes import Majority, VoteShare

mean = Mean
max = Max
any_correct = AnyCorrect
top_mean = TopMean
minimum = Minimum
median = Median
trimmed_mean = TrimmedMean
winsorised_mean = WinsorisedMean
quantile = Quantile
cvar = CVaR
gini_mean_difference = GiniMeanDifference
best_of = BestOf
majority = Majority
vote_share = VoteShare
distinct = Distinct
distinct_correct = DistinctCorrect
rarest_correct = RarestCorrect
distinct_share = DistinctShare
extra_share = ExtraShare
mixed_share = MixedShare
differ = Differ
pairwise_distance = PairwiseDistance
volume = Volume
soft_any = SoftAny
smooth_max = SmoothMax
polychromic = Polychromic


def l_statistic(weights: Sequence[float]) -> LStatistic:
    """Σⱼ weights[j] · (j-th smallest reward of the set), for sets of len(weights)."""
    return LStatistic(tuple(float(weight) for weight in weights))


def over_sizes(objective: Objective, weights: Mapping[int, float]) -> OverSizes:
    """Σ weight · (the objective's mean over subsets of the size), one {size: weight} for each.

    >>> pass_at_1_and_8 = over_sizes(any_correct(), {1: 0.5, 8: 0.5})
    >>> pass_at_1_and_8.set_size
    8
    """
    return OverSizes(objective, tuple(weights), tuple(weights.values()))


def product(left: Objective, right: Objective) -> Sum | Product:
    """left(S) · right(S), as `left * right`; exact where a closed form is known."""
    return left * right


def from_counts(
    function: Callable[[np.ndarray], np.ndarray],
    threshold: float = 0.5,
    max_compositions: int = 100_000,
) -> FromCounts:
    """Any function of how many correct and wrong members of each cluster a set holds; exact.

    Args:
        function: Counts of shape (…, C + 1, 2) → scores (…). counts[…, c, 1] is the number of
            correct members of cluster c and counts[…, c, 0] that of wrong ones; the last row is of
            degenerate samples. Clusters come in no order, and there may be rows of zeros.
        threshold: A sample is correct if its reward is above it.
        max_compositions: Give up on the exact form where a prompt has more ways than this to take K
            members out of its (cluster, correct) cells, and score sets instead.

    >>> solved_twice = from_counts(lambda counts: (counts[..., :-1, 1] >= 2).sum(-1))
    """
    return FromCounts(function, threshold, max_compositions)


def from_function(
    function: Callable[..., np.ndarray],
    reads: tuple[str, ...] = ("rewards",),
    one_set_at_a_time: bool = False,
) -> FromFunction:
    """An objective of your own, scored over all sets where they are few and sampled sets else.

    Args:
        function: Fields of the set's members, arrays of shape (…, K) → scores (…). It must be
            symmetric in the members.
        reads: The names of the fields that it takes, in order: "rewards", "clusters", "answers",
            "proxy", "pairs".
        one_set_at_a_time: Call it with the fields of a single set, shape (K,); slower.

    >>> spread = from_function(lambda rewards: rewards.max(-1) - rewards.min(-1))
    """
    return FromFunction(function, tuple(reads), one_set_at_a_time)


by_name: dict[str, Callable[..., Objective]] = {
    "mean": mean,
    "max": max,
    "any_correct": any_correct,
    "top_mean": top_mean,
    "l_statistic": l_statistic,
    "minimum": minimum,
    "median": median,
    "trimmed_mean": trimmed_mean,
    "winsorised_mean": winsorised_mean,
    "quantile": quantile,
    "cvar": cvar,
    "gini_mean_difference": gini_mean_difference,
    "best_of": best_of,
    "majority": majority,
    "vote_share": vote_share,
    "distinct": distinct,
    "distinct_correct": distinct_correct,
    "rarest_correct": rarest_correct,
    "distinct_share": distinct_share,
    "extra_share": extra_share,
    "mixed_share": mixed_share,
    "differ": differ,
    "pairwise_distance": pairwise_distance,
    "volume": volume,
    "soft_any": soft_any,
    "smooth_max": smooth_max,
    "polychromic": polychromic,
    "product": product,
    "over_sizes": over_sizes,
}

__all__ = [
    "Objective",
    "SetMeans",
    "any_correct",
    "best_of",
    "by_name",
    "cvar",
    "differ",
    "distinct",
    "distinct_correct",
    "distinct_share",
    "extra_share",
    "from_counts",
    "from_function",
    "gini_mean_difference",
    "l_statistic",
    "majority",
    "max",
    "mean",
    "median",
    "minimum",
    "mixed_share",
    "over_sizes",
    "pairwise_distance",
    "polychromic",
    "product",
    "quantile",
    "rarest_correct",
    "smooth_max",
    "soft_any",
    "top_mean",
    "trimmed_mean",
    "volume",
    "vote_share",
    "winsorised_mean",
]
