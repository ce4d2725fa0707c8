"""The steps of an update and what they teach: the critic's advantages, replaced where sets credit.

The functions take `numpy`, or `jax.numpy` inside a compiled update, as `xp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

SIZE_FLOOR = 1e-8  # a smaller advantage is rounding, and must not be scaled up to 1


class CreditedSteps(NamedTuple):
    """Steps, as columns of NumPy, PyTorch or JAX that have the axes of steps in common.

    On Stable-Baselines3 the axis is time, trajectory after trajectory. On JAX the axes are (T, B)
    of trajectories, and then (P, L) of pieces.

    Attributes:
        observations: What the policy saw before each step.
        actions: The actions as the policy sampled them.
        log_probs: Of the actions, by the policy that sampled them.
        values: Of the critic.
        advantages: The critic's advantage, or the set advantage.
        returns: What the critic should say.
        from_sets: Whether the advantage is of sets.
        usable: Whether the step is learned from; None: all are.
        logits: Of the policy that acted; only on JAX, as the next one is.
        memories: The memory of the policy before each step, or before each piece.
    """

    observations: Any
    actions: Any
    log_probs: Any
    values: Any
    advantages: Any
    returns: Any
    from_sets: Any
    usable: Any = None
    logits: Any = None
    memories: Any = None


def replace_by_sets(xp: Any, critics: Any, own: Any, taken: Any = True) -> tuple[Any, Any]:
    """Return set advantages where steps have them, else the critic's; and which are of sets.

    Args:
        xp: `numpy` or `jax.numpy`.
        critics: The critic's advantages.
        own: Set advantages; NaN for none.
        taken: Which steps were taken.
    """
    from_sets = taken & xp.isfinite(own)
    return xp.where(from_sets, xp.nan_to_num(own), critics), from_sets


def scale_set_advantages(
    xp: Any, parts: Sequence[CreditedSteps], floor: Any
) -> list[CreditedSteps]:
    """Divide set advantages by the root of their mean square over all parts of the update.

    The mean is not subtracted: their baseline centres set advantages at each state. What is
    smaller than `floor` is rounding, and is not scaled up to 1.
    """
    masks = [part.from_sets if part.usable is None else part.from_sets & part.usable
            for part in parts]  # fmt: skip
    squares = [xp.where(mask, part.advantages, 0.0) ** 2
               for mask, part in zip(masks, parts, strict=True)]  # fmt: skip
    total, count = sum(square.sum() for square in squares), sum(mask.sum() for mask in masks)
    size = xp.maximum(xp.sqrt(total / xp.maximum(count, 1)), floor)
    return [
        part._replace(advantages=xp.where(part.from_sets, part.advantages / size, part.advantages))
        for part in parts
    ]


def spread_over_window(xp: Any, values_B: Any, window: int | None, num_steps: int) -> Any:
    """Give each trajectory's value to its steps 0…W: (T, B), NaN elsewhere.

    Args:
        xp: `numpy` or `jax.numpy`.
        values_B: The values; NaN for none.
        window: W; None for all steps.
        num_steps: T.
    """
    times = xp.arange(num_steps)[:, None]
    return xp.where(times <= (num_steps if window is None else window), values_B, xp.nan)
