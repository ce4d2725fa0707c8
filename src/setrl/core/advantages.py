"""`set_advantages`: what samples are → the credit of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import Estimator
from setrl.core.method import (
    STD_FLOOR,
    Adjustment,
    Advantages,
    AnyMethod,
    Method,
    MethodSum,
    Objective,
    Reduction,
    Scale,
    Shaping,
)
from setrl.samples.arrays import Array

__all__ = [
    "STD_FLOOR",
    "Advantages",
    "AnyMethod",
    "Method",
    "MethodSum",
    "require_method",
    "set_advantages",
]


def set_advantages(
    rewards_BN: Array,
    method: AnyMethod | None = None,
    *,
    correct: Array | None = None,
    strategies: Array | None = None,
    answers: Array | None = None,
    proxy: Array | None = None,
    pairs: Array | None = None,
    families: Array | None = None,
    second: Array | None = None,
    mask: Array | None = None,
    abstain: bool = False,
    objective: Objective | None = None,
    set_size: int | None = None,
    baseline: str | Baseline | None = None,
    reduction: Reduction | None = None,
    scale: Scale | None = None,
    shaping: Shaping | None = None,
    estimator: Estimator | None = None,
    adjustment: Adjustment | None = None,
    rng: np.random.Generator | int | None = None,
) -> Advantages:
    """Return the marginal set advantage of every sample: what it adds to the sets that hold it.

        Aᵢ = mean{f(S) : i∈S} − baseline,     S ⊂ {1…N}, |S| = K

    Set RL, Eq. 9 and Algorithm 1, by index and never by value, with the mean over a sample's sets
    unless `reduction="sum"`. Every set counts, exactly, where the objective has a closed form.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets:
            its advantage is 0.0, and its `usable_BN` False. `setrl credit` writes null for it.
        method: A value of `setrl.methods`, a `Method` of your own, or a sum of methods.
        correct, strategies, answers, proxy, pairs, families, second, mask, abstain: What else
            describes the samples, where the method reads it; see `setrl.Fields`.
        objective, set_size, baseline, reduction, scale, shaping, estimator, adjustment: The fields
            of a `setrl.Method`, instead of a method; only `objective` must be given.
        rng: A generator, or its seed; needed where sets are sampled.

    Returns:
        `Advantages`, arrays of the kind of `rewards_BN`.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    >>> import numpy as np
    >>> from setrl import methods, set_advantages
    >>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
    >>> adv = set_advantages(rewards, methods.poly_epo(set_size=2), strategies=strategies)
    >>> adv.values_BN.round(3)
    array([[ 0.   ,  0.   ,  0.167, -0.167]])
    """
    options = {
        "objective": objective,
        "set_size": set_size,
        "baseline": baseline,
        "reduction": reduction,
        "scale": scale,
        "shaping": shaping,
        "estimator": estimator,
        "adjustment": adjustment,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return require_method(method, given).advantages(
        rewards_BN,
        correct=correct,
        strategies=strategies,
        answers=answers,
        proxy=proxy,
        pairs=pairs,
        families=families,
        second=second,
        mask=mask,
        abstain=abstain,
        rng=rng,
    )


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
