"""How options of both paths are checked, and what rivals of set credit add to PPO.

    loss + kl_coef · mean KL(anchor ‖ π),   reward + ucb_coef · N(s, a)^−½

The anchor is the policy that sampled the trajectories ("behaviour"), or the policy at the start of
training ("start"). N counts the visits so far, this one included (arXiv:2509.25424). The bonus is
in the critic's rewards, not in the scores of sets.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, get_args

Anchor = Literal["behaviour", "start"]


def bonus_of(visits: Any, weight: float) -> Any:
    """weight · N^−½, with N visits: the bonus for rare actions."""
    return weight * visits**-0.5


def check_penalties(kl_coef: Any, kl_anchor: Any, ucb_coef: Any) -> None:
    """Refuse an unknown anchor, and weights that are not numbers ≥ 0."""
    require_choice("kl_anchor", kl_anchor, Anchor)
    require_number("kl_coef", kl_coef)
    require_number("ucb_coef", ucb_coef)


def require_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is not one of the choices of a `Literal` type."""
    if value not in (known := get_args(choices)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")


def require_number(
    name: str,
    value: Any,
    least: float = 0,
    most: float = inf,
    *,
    whole: bool = False,
    may_be_none: bool = False,
) -> None:
    """Refuse a value that is not a finite number, or not a whole one, from `least` to `most`."""
    kind = int if whole else int | float
    is_number = isinstance(value, kind) and not isinstance(value, bool) and abs(value) < inf
    if (value is None and may_be_none) or (is_number and least <= value <= most):
        return
    span = f"≥ {least:g}" if most == inf else f"from {least:g} to {most:g}"
    wanted = f"a {'whole ' * whole}number {span}{', or None' * may_be_none}"
    raise ValueError(f"{name} must be {wanted}, got {value!r}")
