"""Set objectives: (rewards, clusters, answers, …) of a set → its score.

Each name here makes a value. Values are frozen, so that two of the same are equal, and compose:

>>> from setrl import objectives
>>> objectives.polychromic() == objectives.polychromic()
True
>>> blend = objectives.max() + 0.1 * objectives.mean() * objectives.distinct_share()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from setrl.objectives.base import Objective, SetMeans
from setrl.objectives.composition import Product, Sum, multiply
from setrl.objectives.custom import FromFunction
from setrl.objectives.diversity import (
    Differ,
    Distinct,
    DistinctCorrect,
    DistinctShare,
    ExtraShare,
    MixedShare,
)
from setrl.objectives.pairs import PairwiseDistance, Volume
from setrl.objectives.polychromic import Polychromic
from setrl.objectives.ranks import LStatistic, Max
from setrl.objectives.rarest import RarestCorrect
from setrl.objectives.rewards import AnyCorrect, Mean
from setrl.objectives.selection import BestOf
from setrl.objectives.soft import SmoothMax, SoftAny
from setrl.objectives.statistics import (
    CVaR,
    GiniMeanDifference,
    Median,
    Minimum,
    Quantile,
    TopMean,
    TrimmedMean,
    WinsorisedMean,
)
from setrl.objectives.votes import Majority

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


def product(left: Objective, right: Objective) -> Sum | Product:
    """left(S) · right(S), as `left * right`; exact where a closed form is known."""
    return multiply(left, right)


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
    "from_function",
    "gini_mean_difference",
    "l_statistic",
    "majority",
    "max",
    "mean",
    "median",
    "minimum",
    "mixed_share",
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
    "winsorised_mean",
]
