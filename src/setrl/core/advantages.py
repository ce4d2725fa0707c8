"""`set_advantages`: what samples are → the credit of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, cast

import numpy as np

from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import Estimator
from setrl.core.method import (
    STD_FLOOR,
    Adjustment,
    Advantages,
    AnyMethod,
    Method,
    Objective,
    Reduction,
    Scale,
    Shaping,
    Sum,
)
from setrl.core.samples import Array, Fields
from setrl.support import names

__all__ = [
    "STD_FLOOR",
    "Advantages",
    "AnyMethod",
    "Method",
    "Sum",
    "require_method",
    "set_advantages",
]


class Keywords(Fields, total=False):
    """The keywords of `set_advantages`: the fields of samples and of a `Method`."""

    objective: Objective
    set_size: int
    baseline: str | Baseline
    reduction: Reduction
    scale: Scale | None
    shaping: Shaping | None
    estimator: Estimator | None
    adjustment: Adjustment | None


def set_advantages(
    rewards_BN: Array,
    method: AnyMethod | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    **given: Unpack[Keywords],
) -> Advantages:
    """Return the marginal set advantage of every sample: what it adds to the sets that hold it.

        Aᵢ = mean{f(S) : i∈S} − baseline,     S ⊂ {1…N}, |S| = K

    Set RL, Eq. 9 and Algorithm 1, by index and never by value, with the mean over a sample's sets
    unless `reduction="sum"`. Every set counts, exactly, where the objective has a closed form.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets:
            its advantage is 0.0, and its `usable_BN` False. `setrl credit` writes null for it.
        method: A value of `setrl.methods`, a `Method` of your own, or a sum of methods.
        rng: A generator, or its seed; needed where sets are sampled.
        **given: Clusters, answers and whatever else the method reads; see `setrl.Fields`. For
            your own objective, give `objective=…, set_size=…` instead of a method, and any other
            field of `setrl.Method`, such as `baseline=…`.

    Returns:
        `Advantages`, arrays of the kind of `rewards_BN`.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    >>> import numpy as np
    >>> from setrl import methods, set_advantages
    >>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
    >>> adv = set_advantages(rewards, methods.poly_epo(set_size=2), clusters=strategies)
    >>> adv.values_BN.round(3)
    array([[ 0.   ,  0.   ,  0.167, -0.167]])
    """
    for name in given:
        names.look_up("argument", name, Keywords.__annotations__)
    fields = {name: value for name, value in given.items() if name in Fields.__annotations__}
    options = {name: value for name, value in given.items() if name not in fields}
    method = require_method(method, options)
    return method.advantages(rewards_BN, rng=rng, **cast(Fields, fields))


def require_method(method: AnyMethod | None, options: Mapping[str, Any] | None = None) -> AnyMethod:
    """Return the method, or make one of the options.

    Raises:
        ValueError: If it is not a method (but a name, say), or if both or neither are given.
    """
    if method is None and options and "objective" in options:
        return Method(**{"name": "unnamed", **options})
    if not isinstance(method, AnyMethod):
        raise ValueError(
            "method must be a value such as methods.poly_epo(set_size=4), or give objective=... "
            f"instead; got {method!r}"
        )
    if options:
        raise ValueError(
            f"a method has its own {', '.join(options)}: use dataclasses.replace(method, ...)"
        )
    return method
