"""What happens to samples that were cut at the length limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from setrl.support.errors import ConfigError
from setrl.support.files.sections import refuse_other_choice

Policy = Literal["count", "mask", "punish"]


@dataclass(frozen=True)
class Truncation:
    """The reward of a sample that was cut before it ended.

    Attributes:
        policy: `count`: it has the reward of its text. `mask`: it has no reward, so that it leaves
            the sets, and a trainer takes it out of the loss too. `punish`: it has the reward
            `reward` instead of its own and counts as wrong; a sample whose own reward is unknown
            stays unknown.
        reward: What `punish` gives; None for the lower of 0 and the lowest reward of its group.

    >>> cut_BN = np.array([[False, True, True]])
    >>> Truncation("punish")(np.array([[1.0, 1.0, np.nan]]), cut_BN)
    array([[ 1.,  0., nan]])
    >>> Truncation("mask")(np.array([[1.0, 1.0, 0.0]]), cut_BN)
    array([[ 1., nan, nan]])
    """

    policy: Policy = "count"
    reward: float | None = None

    def __post_init__(self) -> None:
        refuse_other_choice("truncated", self.policy, Policy)
        if self.reward is None:
            return
        is_number = isinstance(self.reward, int | float) and not isinstance(self.reward, bool)
        if self.policy != "punish" or not is_number or not np.isfinite(self.reward):
            raise ConfigError(
                "a reward for truncated samples must be a finite number, as in "
                f"{{punish: -1.0}}, got {{{self.policy}: {self.reward!r}}}"
            )

    def __call__(self, rewards_BN: np.ndarray, truncated_BN: np.ndarray) -> np.ndarray:
        """Return the rewards of all samples, with the rewards of truncated samples changed."""
        if self.policy == "count":
            return rewards_BN
        if self.policy == "mask":
            return np.where(truncated_BN, np.nan, rewards_BN)
        return np.where(
            truncated_BN & ~np.isnan(rewards_BN), self._punishment_rewards(rewards_BN), rewards_BN
        )

    def correct(self, correct_BN: np.ndarray, truncated_BN: np.ndarray) -> np.ndarray:
        """Return which samples are right: `punish` makes truncated samples wrong."""
        if self.policy != "punish":
            return correct_BN
        return np.where(truncated_BN & ~np.isnan(correct_BN), 0.0, correct_BN)

    def _punishment_rewards(self, rewards_BN: np.ndarray) -> np.ndarray:
        if self.reward is not None:
            return np.full(rewards_BN.shape, float(self.reward))
        least_B1 = np.where(np.isnan(rewards_BN), 0.0, rewards_BN).min(axis=1, keepdims=True)
        return np.minimum(np.broadcast_to(least_B1, rewards_BN.shape), 0.0)


def truncation_from_config(spec: Any) -> Truncation:
    """Return what the key `truncated` of a config asks for: a policy's name, or {punish: reward}.

    >>> truncation_from_config({"punish": -1})
    Truncation(policy='punish', reward=-1)

    Raises:
        ConfigError: If it is neither.
    """
    if isinstance(spec, Mapping) and len(spec) == 1:
        [(policy, reward)] = spec.items()
        return Truncation(policy, reward)
    if not isinstance(spec, str):
        raise ConfigError(f"truncated must be a name, or {{punish: a reward}}, got {spec!r}")
    return Truncation(spec)  # type: ignore[arg-type]  # checked there
