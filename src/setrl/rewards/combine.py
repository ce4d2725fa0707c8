"""Several rewards of each sample → one: gated, normalised apart, and weighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setrl.support.errors import ConfigError
from setrl.support.files.sections import refuse_other_choice

STD_FLOOR = 1e-4  # added to a standard deviation before it divides, as GRPO's trainers do

RewardGate = Literal["sample", "group"]
MissingRule = Literal["unknown", "skip"]


@dataclass(frozen=True)
class Combine:
    """One reward for each sample from R of them: Σ_j weights[j] · r_j, after gates.

    1. *Gates.* A reward with the gate `sample` counts only for right samples, one with the gate
       `group` only in groups with at least one right sample. Where a gate is closed, the reward
       contributes exactly 0. So shaping never pays in a group in which all samples are wrong.
    2. *Normalisation*, with `normalize="group"`, of each reward in its group of N samples:
       (r − mean) / (std + 1e-4), with std over N − 1, over those samples for which its gate is
       open. A reward that is the same for all of them gives 0, and so does the
       reward of a single sample.
    3. *The weighted sum.*

    Step 2 and 3 are GDPO's (arXiv:2601.05242). It also divides the sums by their standard deviation
    over the batch, to make advantages of them; here they are rewards, from which a method makes
    advantages, with its own scale. A reward behind a closed gate takes no part in step 2, where a 0
    would be one value among others.

    *Unknown rewards* (NaN). With `missing="unknown"` a sample without one of its rewards has no
    reward, unless the gate of that reward is closed for it or its weight is 0. With
    `missing="skip"`, TRL's rule, the known rewards are summed, and only a sample without any has
    none. If there are gates, a sample with an unknown outcome has no reward in either case, and a
    group is open only if a sample of it is known to be right.

    Attributes:
        weights: One a reward.
        gates: `sample`, `group` or None for each reward; () for no gates.
        normalize: `group`, or None.
        missing: `unknown` or `skip`.
        outcome: The reward that says which samples are right, by its name or its column: 1 right, 0
            wrong. With several rewards there is no default: the
            first one need not be it.

    >>> combine = Combine((1.0, 0.5), gates=(None, "group"), outcome=0)
    >>> columns = np.array([[[1, 1], [0, 1]], [[0, 1], [0, 0]]])
    >>> combine(columns, correct_BN=columns[..., 0])
    array([[1.5, 0.5],
           [0. , 0. ]])
    """

    weights: tuple[float, ...]
    gates: tuple[RewardGate | None, ...] = ()
    normalize: Literal["group"] | None = None
    missing: MissingRule = "unknown"
    outcome: int | str | None = None

    def __post_init__(self) -> None:
        if not self.weights or not np.isfinite(self.weights).all():
            raise ConfigError(
                f"weights must be finite numbers, one for each reward, got {self.weights!r}"
            )
        if self.gates and len(self.gates) != len(self.weights):
            raise ConfigError(
                f"gates must be one for each reward, {len(self.weights)}, got {len(self.gates)}"
            )
        if self.outcome is None and len(self.weights) == 1:
            object.__setattr__(self, "outcome", 0)
        if isinstance(self.outcome, int):
            self._check_outcome(self.outcome)
        for gate in self.gates:
            if gate is not None:
                refuse_other_choice("gate", gate, RewardGate)
        if self.normalize not in (None, "group"):
            raise ConfigError(f"normalize must be group or null, got {self.normalize!r}")
        refuse_other_choice("missing", self.missing, MissingRule)

    def _check_outcome(self, place: int) -> None:
        if not 0 <= place < len(self.weights):
            raise ConfigError(f"outcome must be one of the rewards, got {place}")
        if self.gates and self.gates[place] is not None:
            raise ConfigError("the outcome cannot be gated: it decides which samples are right")

    @property
    def outcome_place(self) -> int:
        """The column of the outcome among a config's rewards: the one it names, or the only."""
        return self.place() or 0

    def place(self, names_R: Sequence[str] = ()) -> int | None:
        """Return the column of the outcome; None if nothing says it.

        Args:
            names_R: The names of the rewards, among which a name must be.

        Raises:
            ConfigError: If a name is not among them, or that reward has a gate.
        """
        if not isinstance(self.outcome, str):
            return self.outcome
        if list(names_R).count(self.outcome) != 1:
            raise ConfigError(
                f"outcome must be the name of one reward of {', '.join(names_R)}, got "
                f"{self.outcome!r}"
            )
        place = list(names_R).index(self.outcome)
        self._check_outcome(place)
        return place

    def __call__(self, columns_BNR: np.ndarray, correct_BN: np.ndarray) -> np.ndarray:
        """Return the reward of each sample, (B, N); NaN where it has none.

        Args:
            columns_BNR: The R rewards of each sample of a group; NaN where one is unknown.
            correct_BN: Which samples are right, 1 or 0, NaN unknown: only gates read it.
        """
        if columns_BNR.ndim != 3 or columns_BNR.shape[2] != len(self.weights):
            raise ValueError(
                f"columns_BNR must have shape (B, N, {len(self.weights)}), got {columns_BNR.shape}"
            )
        open_BNR = self._find_open_gates(columns_BNR.shape, correct_BN == 1)
        known_BNR = np.where(open_BNR, columns_BNR, np.nan)
        if self.normalize:
            known_BNR = _normalize_each_reward_in_groups(known_BNR)
        values_BNR = np.where(open_BNR, known_BNR, 0.0)
        rewards_BN = np.nansum(values_BNR * np.asarray(self.weights), axis=-1)
        return np.where(self._lacks_reward(columns_BNR, open_BNR, correct_BN), np.nan, rewards_BN)

    def _find_open_gates(self, shape: tuple[int, ...], right_BN: np.ndarray) -> np.ndarray:
        """For which samples each reward counts."""
        open_BNR = np.ones(shape, dtype=bool)
        for place, gate in enumerate(self.gates):
            if gate == "sample":
                open_BNR[..., place] = right_BN
            elif gate == "group":
                open_BNR[..., place] = right_BN.any(axis=-1, keepdims=True)
        return open_BNR

    def _lacks_reward(
        self, columns_BNR: np.ndarray, open_BNR: np.ndarray, correct_BN: np.ndarray
    ) -> np.ndarray:
        """Which samples have no reward."""
        counts_BNR = open_BNR & (np.asarray(self.weights) != 0)
        nan_BNR = np.isnan(columns_BNR)
        if self.missing == "skip":
            unknown_BN = nan_BNR.all(axis=-1)
        else:
            unknown_BN = (nan_BNR & counts_BNR).any(axis=-1) | nan_BNR.all(axis=-1)
        if any(self.gates):
            unknown_BN = unknown_BN | np.isnan(correct_BN)
        return np.asarray(unknown_BN)


def _normalize_each_reward_in_groups(columns_BNR: np.ndarray) -> np.ndarray:
    """Each reward minus its mean in the group, over its standard deviation; NaN stays NaN."""
    known_BNR = ~np.isnan(columns_BNR)
    count_B1R = known_BNR.sum(axis=1, keepdims=True)
    mean_B1R = np.nansum(columns_BNR, axis=1, keepdims=True) / np.maximum(count_B1R, 1)
    off_BNR = columns_BNR - mean_B1R
    variance_B1R = np.nansum(off_BNR**2, axis=1, keepdims=True) / np.maximum(count_B1R - 1, 1)
    normal_BNR: np.ndarray = off_BNR / (np.sqrt(variance_B1R) + STD_FLOOR)
    return normal_BNR
