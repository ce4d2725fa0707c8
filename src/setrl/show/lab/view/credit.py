"""Where the advantages of a log come from, and what a method makes the credit of a sample of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

import numpy as np

from setrl.core import methods
from setrl.core.method import Advantages, AnyMethod
from setrl.samples.samples import Samples
from setrl.theory.decomposition import decompose_group
from setrl.train import method_config

RTOL, FLOOR = 1e-5, 1e-8  # logs hold rounded numbers


@dataclass(frozen=True)
class Origin:
    """Where the advantages of a log come from.

    Attributes:
        kind: "loss": they entered the loss of a training run; "credit": `setrl credit` added them
            to the log, and nothing was trained; "log": the log does not say.
        config: The method as a config has it, among other keys; empty if it is unknown.
    """

    kind: Literal["loss", "credit", "log"] = "log"
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """The name of the method; None if it is unknown."""
        return None if self.method() is None else str(self.config["method"])

    @property
    def set_size(self) -> int | None:
        """K of the method; None if the method is unknown."""
        method = self.method()
        return None if method is None else method.set_size

    def method(self, set_size: int | None = None) -> AnyMethod | None:
        """Return the method, at the first step of a schedule; None if it is unknown.

        A log may come from someone else, so nothing that it names is imported: the user's own
        method is unknown here.

        Args:
            set_size: Another K, for a method that has one.
        """
        make = methods.by_name.get(str(self.config.get("method")))
        if make is None:
            return None
        parameters = signature(make).parameters
        size = {} if set_size is None or "set_size" not in parameters else {"set_size": set_size}
        try:
            given = {
                key: _first_of_schedule(value)
                for key, value in self.config.items()
                if key in parameters
            } | size
            return method_config.from_config({"method": self.config["method"], **given})
        except (ValueError, TypeError):  # of another version
            return None


def _first_of_schedule(value: Any) -> Any:
    """Return an argument, of a schedule its first value.

    Raises:
        ValueError: If it may name something to import.
    """
    if isinstance(value, Mapping) and "first" in value:
        value = value["first"]
    if isinstance(value, str) and value.isidentifier():
        return value
    if isinstance(value, int | float | None):
        return value
    if isinstance(value, list) and all(isinstance(item, int | float) for item in value):
        return value
    raise ValueError(f"an argument must be a name or a number, got {value!r}")


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
    return [
        name
        for name, credit_N in credits.items()
        if _gives_logged_advantages(origin, logged_N, credit_N)
    ]


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


def _gives_logged_advantages(origin: Origin, logged_N: np.ndarray, credit_N: np.ndarray) -> bool:
    if origin.kind == "loss":  # in a loss, a sample that is left out counts 0
        credit_N = np.where(np.isnan(credit_N) & (logged_N == 0), 0.0, credit_N)
    return bool(np.allclose(logged_N, credit_N, rtol=RTOL, atol=FLOOR, equal_nan=True))


def credit_of(method: AnyMethod, samples: Samples) -> np.ndarray:
    """Return what a method gives to each sample of a group, (N,); NaN if it leaves a sample out."""
    return _credit_of_first_prompt(method.advantages(samples))


def means(method: AnyMethod, samples: Samples) -> dict[str, Any]:
    """Return the mean scores of sets that a method compares, as JSON."""
    advantages = method.advantages(samples)
    return {
        "values": _credit_of_first_prompt(advantages).tolist(),
        "with": advantages.with_BN[0].tolist(),
        "without": advantages.without_BN[0].tolist(),
        "all": float(advantages.mean_B[0]),
        "set_size": method.set_size,
        "baseline": str(getattr(method, "baseline", None)),
        "is_scaled": method.scale is not None,
        "is_shaped": getattr(method, "shaping", None) is not None,
    }


def _credit_of_first_prompt(advantages: Advantages) -> np.ndarray:
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
