"""Set objectives: (rewards, clusters, answers) of a set → its score.

Each name here makes a value. Values are frozen, so that two of the same are equal:

>>> from setrl import objectives
>>> objectives.polychromic() == objectives.polychromic()
True
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setrl.objectives.base import Objective, SetMeans
from setrl.objectives.clusters import Distinct
from setrl.objectives.custom import FromFunction
from setrl.objectives.polychromic import Polychromic
from setrl.objectives.rewards import AnyCorrect, Max, Mean

mean = Mean
max = Max
any_correct = AnyCorrect
distinct = Distinct
polychromic = Polychromic


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
    "distinct": distinct,
    "polychromic": polychromic,
}

__all__ = [
    "Objective",
    "SetMeans",
    "any_correct",
    "by_name",
    "distinct",
    "from_function",
    "max",
    "mean",
    "polychromic",
]
