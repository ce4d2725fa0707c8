"""`set_advantages`: what samples are → the credit of each."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from setrl import names
from setrl.core.inputs import Array
from setrl.core.method import STD_FLOOR, Advantages, AnyMethod, Method, Sum

__all__ = [
    "STD_FLOOR",
    "Advantages",
    "AnyMethod",
    "Method",
    "Sum",
    "require_method",
    "set_advantages",
]


def set_advantages(
    rewards_BN: Array,
    method: AnyMethod | None = None,
    *,
    clusters: Array | None = None,
    answers: Array | None = None,
    proxy: Array | None = None,
    pairs: Array | None = None,
    families: Array | None = None,
    second: Array | None = None,
    mask: Array | None = None,
    abstain: bool = False,
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Advantages:
    """The marginal set advantage of every sample: the difference that it makes to its sets.

        Aᵢ = mean{f(S) : i∈S} − baseline,     S ⊂ {1…N}, |S| = K

    Set RL, Eq. 9 and Algorithm 1, by index and never by value, with the mean over a sample's sets
    unless `reduction="sum"`. Every set counts, exactly, where the objective has a closed form.

    Args:
        rewards_BN: (B, N) rewards; NaN or None marks a sample without one, which leaves the sets.
        method: A value of `setrl.methods`, a `Method` of your own, or a sum of methods.
        clusters: (B, N) labels of the strategies used, integers or names; −1 is in no cluster, NaN
            or None unknown.
        answers: (B, N) final answers, numbers or strings.
        proxy: (B, N) the number by which a selector chooses.
        pairs: (B, N, N) a number for each pair of samples.
        families: (B, N) labels of the families of strategies, as clusters.
        second: (B, N) another reward, for objectives of two.
        mask: (B, N) bool, False where a prompt has no such sample (ragged groups).
        abstain: Whether a sample without an answer (None or NaN) stays in the sets and votes for
            nobody. By default it leaves the sets.
        rng: A generator, or its seed; needed where sets are sampled.
        **options: In place of a method, the fields of one: `objective`, and where they differ from
            the defaults `set_size`, `baseline`, `reduction`, `scale`, `shaping`, `estimator`,
            `adjustment`.

    Returns:
        `Advantages`, arrays of the kind of `rewards_BN`.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    >>> import numpy as np
    >>> from setrl import objectives, set_advantages
    >>> rewards, strategies = np.array([[1.0, 1, 1, 0]]), np.array([[0, 0, 1, 2]])
    >>> poly = objectives.polychromic()
    >>> adv = set_advantages(rewards, objective=poly, set_size=2, clusters=strategies)
    >>> adv.values_BN.round(3)
    array([[ 0.   ,  0.   ,  0.167, -0.167]])
    """
    method = require_method(method, options)
    fields = {"clusters": clusters, "answers": answers, "proxy": proxy, "pairs": pairs}
    more = {"families": families, "second": second}
    return method.advantages(rewards_BN, mask=mask, abstain=abstain, rng=rng, **fields, **more)


def require_method(method: AnyMethod | None, options: dict[str, Any] | None = None) -> AnyMethod:
    """The method, or the one that the options make in its place.

    Raises:
        ValueError: If it is no method (such as a name), or if both or neither are given.
    """
    if method is None and options and "objective" in options:
        for key in options:
            names.look_up("argument", key, {part.name: part for part in dataclasses.fields(Method)})
        return Method(**{"name": "unnamed", **options})
    if not isinstance(method, AnyMethod):
        raise ValueError(
            "method must be a value such as methods.poly_epo(set_size=4), or objective=... must be "
            f"given in its place; got {method!r}"
        )
    if options:
        raise ValueError(
            f"a method has its own {', '.join(options)}: use dataclasses.replace(method, ...)"
        )
    return method
