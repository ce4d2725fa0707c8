"""Set objectives: (rewards, strategies, answers, …) of a set → its score.

Each name here makes a value. Values are frozen, so that two of the same are equal, print as they
are written, and compose:

>>> from setrl import objectives
>>> objectives.polychromic()
polychromic(diversity=distinct_share())
>>> objectives.max() + 0.1 * objectives.mean() * objectives.distinct_share()
max() + 0.1 * mean(of='rewards') * distinct_share()

One line here, its import under the name that users write, makes an objective public.
"""

# ruff: noqa: F401, N813

from __future__ import annotations

from collections.abc import Callable

from setrl.core.objectives.base import Objective, SetMeans, product
from setrl.core.objectives.custom import FromCounts as from_counts
from setrl.core.objectives.custom import FromFunction as from_function
from setrl.core.objectives.diversity import Differ as differ
from setrl.core.objectives.diversity import Distinct as distinct
from setrl.core.objectives.diversity import DistinctCorrect as distinct_correct
from setrl.core.objectives.diversity import DistinctShare as distinct_share
from setrl.core.objectives.diversity import ExtraShare as extra_share
from setrl.core.objectives.diversity import FamilyShare as family_share
from setrl.core.objectives.diversity import MixedShare as mixed_share
from setrl.core.objectives.diversity import Polychromic as polychromic
from setrl.core.objectives.pairs import PairwiseDistance as pairwise_distance
from setrl.core.objectives.ranks import GiniMeanDifference as gini_mean_difference
from setrl.core.objectives.ranks import LStatistic as l_statistic
from setrl.core.objectives.ranks import Max as max
from setrl.core.objectives.ranks import Median as median
from setrl.core.objectives.ranks import Minimum as minimum
from setrl.core.objectives.ranks import TopMean as top_mean
from setrl.core.objectives.rarest import RarestCorrect as rarest_correct
from setrl.core.objectives.rarest import RarestReward as rarest_reward
from setrl.core.objectives.rewards import AnyCorrect as any_correct
from setrl.core.objectives.rewards import Mean as mean
from setrl.core.objectives.selection import BestOf as best_of
from setrl.core.objectives.selection import TopByProxy as top_by_proxy
from setrl.core.objectives.sizes import OverSizes as over_sizes
from setrl.core.objectives.votes import Majority as majority
from setrl.core.objectives.votes import VoteShare as vote_share

by_name: dict[str, Callable[..., Objective]] = {
    name: make for name, make in vars().items() if callable(make) and name[0].islower()
}
"""Name → what makes the objective from its arguments."""


def __dir__() -> list[str]:
    """Return what is public: each objective once, under the name that makes it."""
    return ["Objective", "SetMeans", "by_name", *by_name]
