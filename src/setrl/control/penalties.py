"""What rivals of set credit add to PPO, on both paths: a KL penalty, and a bonus for rare actions.

    loss + kl_coef · mean KL(anchor ‖ π),   reward + ucb_coef · min{1, N(s, a)^−½}

The anchor is the policy that sampled the trajectories ("behaviour"), or the policy at the start of
training ("start"). N counts visits (arXiv:2509.25424). The bonus is in the critic's rewards, not in
the scores of sets.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

Anchor = Literal["behaviour", "start"]


def check_penalties(kl_coef: Any, kl_anchor: Any, ucb_coef: Any) -> None:
    """Refuse an unknown anchor, and weights that are not numbers ≥ 0."""
    if kl_anchor not in get_args(Anchor):
        raise ValueError(f"kl_anchor must be 'behaviour' or 'start', got {kl_anchor!r}")
    for name, value in (("kl_coef", kl_coef), ("ucb_coef", ucb_coef)):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value < float("inf")):
            raise ValueError(f"{name} must be a number ≥ 0, got {value!r}")
