"""What a method's credit of each sample of a group is made of: scores of sets, and their parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setrl.core.method import Advantages, AnyMethod
from setrl.samples.samples import Samples
from setrl.show.lab.view.origin import Origin
from setrl.theory.decomposition import decompose_group

RTOL, FLOOR = 1e-5, 1e-8  # logs hold rounded numbers


def methods_in_log(
    origin: Origin, logged_N: np.ndarray, credits: Mapping[str, np.ndarray]
) -> list[str]:
    """Return the methods that give the advantages of the log: none, one, or several that agree.

    Args:
        origin: Where the advantages come from.
        logged_N: The advantages of the log; NaN where unknown.
        credits: Name of a method → what it gives.
    """
    if np.isnan(logged_N).all():
        return []
    return [name for name, credit_N in credits.items() if _agree(origin, logged_N, credit_N)]


def explained_method(
    origin: Origin,
    logged_N: np.ndarray,
    in_log: Sequence[str],
    credits: Mapping[str, np.ndarray],
    chosen: str | None,
) -> str | None:
    """Return the name of the method whose credit is explained; None if it is unknown.

    It is the method of the log, or else the only method that gives what the log has. If the log
    has no advantages, it is the chosen one, Poly-EPO or GRPO.

    Args:
        origin: Where the advantages come from.
        logged_N: The advantages of the log; NaN where unknown.
        in_log: The methods that give them.
        credits: Name of a method → what it gives.
        chosen: The name of the method that a reader chose.
    """
    if np.isnan(logged_N).all():
        return next((name for name in (chosen, "poly_epo", "grpo") if name in credits), None)
    if origin.name is not None:
        return origin.name
    if len(in_log) == 1 and logged_N.any():
        return in_log[0]
    return chosen if chosen in credits else None


def _agree(origin: Origin, logged_N: np.ndarray, credit_N: np.ndarray) -> bool:
    if origin.kind == "loss":  # in a loss, a sample that is left out counts 0
        credit_N = np.where(np.isnan(credit_N) & (logged_N == 0), 0.0, credit_N)
    return bool(np.allclose(logged_N, credit_N, rtol=RTOL, atol=FLOOR, equal_nan=True))


def credit_of(method: AnyMethod, samples: Samples) -> np.ndarray:
    """Return what a method gives to each sample of a group, (N,); NaN if it leaves a sample out."""
    return _credit(method.advantages(samples))


def means(method: AnyMethod, samples: Samples) -> dict[str, Any]:
    """Return the mean scores of sets that a method compares, as JSON."""
    advantages = method.advantages(samples)
    return {
        "values": _credit(advantages).tolist(),
        "with": advantages.with_BN[0].tolist(),
        "without": advantages.without_BN[0].tolist(),
        "all": float(advantages.mean_B[0]),
        "set_size": method.set_size,
        "baseline": str(getattr(method, "baseline", None)),
        "is_scaled": method.scale is not None,
        "is_shaped": getattr(method, "shaping", None) is not None,
    }


def _credit(advantages: Advantages) -> np.ndarray:
    known_BN = advantages.usable_BN & ~advantages.skipped_B[:, None]
    return np.asarray(np.where(known_BN, advantages.values_BN, math.nan)[0])


def parts(samples: Samples, k: int) -> dict[str, Any]:
    """Eq. 15 of Poly-EPO's advantages: three parts for each sample, which add up to the total."""
    group = decompose_group(samples.rewards, set_size=k, strategies=samples.strategies)
    reward = (group.reward_with - group.reward) * group.diversity_with
    diversity = group.reward * (group.diversity_with - group.diversity)
    return {
        "reward": reward[0].tolist(),
        "diversity": diversity[0].tolist(),
        "covariance": group.covariance_part[0].tolist(),
        "total": group.advantages[0].tolist(),
        "reward_with": group.reward_with[0].tolist(),
        "diversity_with": group.diversity_with[0].tolist(),
        "all": [float(mean[0, 0]) for mean in (group.reward, group.diversity, group.covariance)],
    }
