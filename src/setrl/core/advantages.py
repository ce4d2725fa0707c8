"""`set_advantages`, `grouped_advantages`: what samples are → the credit of each.

Grouped, a batch is flat: M samples in any order, each with the id of its prompt, as trainers keep
them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from setrl.core.credit.baselines import Baseline
from setrl.core.credit.estimators import Estimator
from setrl.core.inputs import Fields
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
from setrl.samples.arrays import Array, keeps_integers, like, read_array
from setrl.samples.values import NUMBERS
from setrl.support import names

FLAT = [name for name in Fields.__annotations__ if name not in ("pairs", "mask")]
Place = tuple[np.ndarray, np.ndarray]  # row and column in a (B, N) array
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
    arguments = {name: value for name, value in options.items() if value is not None}
    return require_method(method, arguments).advantages(
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


def grouped_advantages(
    rewards_M: Array,
    groups_M: Array | Sequence[Any],
    method: AnyMethod,
    *,
    rng: np.random.Generator | int | None = None,
    **fields: Unpack[Fields],
) -> Array:
    """Return the advantages of a flat batch, in which each sample names its prompt.

    They are the `set_advantages` of the prompts' samples, in the order of the batch. Prompts may
    have different numbers of samples; those with too few usable ones get 0, and are counted in a
    warning.

    Args:
        rewards_M: (M,) rewards; NaN or None for a sample without one.
        groups_M: (M,) what the samples of a prompt share and no other prompt has, such as verl's
            uid: numbers or strings.
        method: A value of `setrl.methods`.
        rng: A generator, or its seed; needed where sets are sampled.
        **fields: Strategies, answers and whatever else the method reads, (M,) each; see
            `setrl.Fields`. `pairs` and `mask` have no flat form.

    Returns:
        (M,) float64, of the kind of `rewards_M`.

    Raises:
        ValueError: Naming the argument, its value, and what would be right.

    Warns:
        UserWarning: If prompts have too few usable samples: their advantages are 0.

    >>> from setrl import methods
    >>> rewards, prompts = np.array([1.0, 1.0, 0.0, 0.0]), ["a", "b", "a", "b"]
    >>> grouped_advantages(rewards, prompts, methods.dr_grpo())
    array([ 0.5,  0.5, -0.5, -0.5])
    """
    require_method(method)
    arguments: dict[str, Any] = {**fields}
    abstain = arguments.pop("abstain", False)
    for name in arguments:
        names.look_up("argument", name, dict.fromkeys(FLAT))
    groups = _read_flat_column("groups", groups_M)
    flat = _read_flat_fields({"rewards": rewards_M, **arguments}, len(groups))
    if not len(groups):
        return like(np.zeros(0), rewards_M)
    places = _find_places(groups)
    # At least as wide as the method needs: small groups are not a mistake of the caller.
    shape = places[0].max() + 1, max(places[1].max() + 1, method.fewest_samples)
    dense: dict[str, Any] = {
        name: _fill_table(values_M, places, shape) for name, values_M in flat.items()
    }
    advantages = method.advantages(dense.pop("rewards"), rng=rng, abstain=abstain, **dense)
    if advantages.skipped_B.any():
        warnings.warn(_describe_small_groups(method, advantages), stacklevel=2)
    return like(advantages.values_BN[places], rewards_M)


def _read_flat_fields(fields: Mapping[str, Array | None], length: int) -> dict[str, np.ndarray]:
    """Return the given fields, (M,) each; refuse one of another length than the groups."""
    flat = {
        name: _read_flat_column(name, value) for name, value in fields.items() if value is not None
    }
    for name, values_M in flat.items():
        if len(values_M) != length:
            raise ValueError(
                f"{name} must have the length {length} of groups_M, got {len(values_M)}"
            )
    return flat


def _describe_small_groups(method: AnyMethod, advantages: Advantages) -> str:
    small, groups = int(advantages.skipped_B.sum()), len(advantages.skipped_B)
    largest = advantages.usable_BN[advantages.skipped_B].sum(axis=1).max()
    return (
        f"{small} of {groups} groups {'gets' if small == 1 else 'get'} advantages of 0: "
        f"{method.name} with set_size={method.set_size} needs {method.fewest_samples} usable "
        f"samples, and the largest of these groups has {largest}"
    )


def _read_flat_column(name: str, value: Array) -> np.ndarray:
    array = read_array(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape (M,), one for each sample; got {array.shape}")
    return array


def _find_places(groups_M: np.ndarray) -> Place:
    """Row: groups in the order of their first samples; column: samples of a group in theirs."""
    sizes: dict[Any, int] = {}
    columns = []
    for group in groups_M.tolist():
        columns.append(sizes.get(group, 0))
        sizes[group] = columns[-1] + 1
    row_of = {group: row for row, group in enumerate(sizes)}
    rows = [row_of[group] for group in groups_M.tolist()]
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)


def _fill_table(values_M: np.ndarray, places: Place, shape: tuple[int, int]) -> np.ndarray:
    """Return the values as (B, N), NaN or None where a group has no such sample."""
    kind = values_M.dtype.kind
    fits_float = kind == "f" or (kind in NUMBERS and keeps_integers(values_M))
    table_BN = np.full(shape, np.nan if fits_float else None)
    table_BN[places] = values_M
    return table_BN
