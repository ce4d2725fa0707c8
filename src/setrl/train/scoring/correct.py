"""Which samples are right: decided here, once, for credit, metrics, records and pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from setrl.samples.values import no_outcomes
from setrl.support.errors import RunError

ASK = (
    "pass correct=... (in a config, the key `correct` of the task): the name of a reward function "
    "that returns 1 or 0, the name of a column, or a function that returns True, False or None; or "
    'Combine(…, outcome="NAME")'
)


def correct_by_reward(
    rewards_BNR: np.ndarray, place: int | None, names_R: Sequence[str], needed_by: str, stated: bool
) -> np.ndarray:
    """Return which samples are right by one of the rewards: 1, 0, or NaN unknown.

    Args:
        rewards_BNR: The R rewards of each sample.
        place: The reward that says it; None if none is known to say it.
        names_R: What messages call the rewards.
        needed_by: What needs to know it, for messages; empty if nothing does. Then a reward that
            is neither 0 nor 1 says nothing, and no sample is known to be right or wrong.
        stated: Whether the user named this reward. Then its values must be 0 and 1 in any case.

    Raises:
        RunError: Naming the reward function and its value, and what to pass.
    """
    if place is None:
        if needed_by:
            raise RunError(f"{needed_by}, and several rewards were given: {ASK}")
        return np.full(rewards_BNR.shape[:2], np.nan)
    values_BN = rewards_BNR[..., place]
    others = no_outcomes(values_BN)
    if not others.size:
        return values_BN
    name = f" {names_R[place]!r}" if names_R else ""
    if stated:
        raise RunError(
            f"the reward function{name} says which samples are right, and must return 1 or 0, got "
            f"{others[0]:g}: {ASK}"
        )
    if needed_by:
        raise RunError(
            f"{needed_by}, and the reward function{name} gave {others[0]:g}, which is neither "
            f"right (1) nor wrong (0): {ASK}"
        )
    return np.full(values_BN.shape, np.nan)
