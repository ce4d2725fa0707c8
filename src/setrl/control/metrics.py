"""What training logs of vines, the same on both paths, and what it says if sets were never used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setrl.control.vines import VineChoices


def vine_metrics(
    xp: Any,
    columns: Mapping[str, Any],
    advantages_BN: Any,
    *,
    wanted_B: Any,
    lengths_BN: Any,
    finite_BN: Any,
    ended_BN: Any,
    trunk_steps: Any,
    num_trunks: int,
) -> dict[str, Any]:
    """Return the metrics of an update's vines; NaN where one is undefined.

    Vines whose score is unknown are in no set, so they have no part in `score`, `all_equal`,
    `distinct` and `degenerate`.

    Args:
        xp: `numpy`, or `jax.numpy` inside a compiled update.
        columns: The columns of the `Samples` that the vines of B states are.
        advantages_BN: Their set advantages, NaN for none; None if no credit is asked for.
        wanted_B: Whether there is such a state; where all shapes are fixed, some rows are empty.
        lengths_BN: Their own steps.
        finite_BN: Whether all rewards of their own steps are finite.
        ended_BN: Whether the environment ended them; the others were cut.
        trunk_steps: Environment steps of all trunks.
        num_trunks: Number of trunks.
    """
    scores_BN, wanted_BN = columns["rewards"], wanted_B[:, None]
    known_BN, has_steps_BN = xp.isfinite(scores_BN), lengths_BN > 0
    states, known = wanted_B.sum(), known_BN.sum()
    with_score = known_BN.any(axis=1).sum()
    steps, vines = lengths_BN.sum(), has_steps_BN.sum()
    largest_B = xp.where(known_BN, scores_BN, -xp.inf).max(axis=1, initial=-xp.inf)
    smallest_B = xp.where(known_BN, scores_BN, xp.inf).min(axis=1, initial=xp.inf)
    metrics = {
        "families": num_trunks,
        "states": states,
        "score": _divided(xp, xp.where(known_BN, scores_BN, 0.0).sum(), known),
        "all_equal": _divided(xp, (largest_B == smallest_B).sum(), with_score),
        "length": _divided(xp, steps, vines),
        "step_share": _divided(xp, steps, steps + trunk_steps),
        "without_steps": (wanted_BN & ~has_steps_BN).sum(),
        "without_reward": (has_steps_BN & ~finite_BN).sum(),
        "unfinished": (has_steps_BN & ~ended_BN).sum(),
    }
    if advantages_BN is not None:
        credited_BN = xp.isfinite(advantages_BN)
        squares = xp.where(credited_BN, advantages_BN, 0.0) ** 2
        metrics["without_credit"] = (wanted_BN & ~credited_BN).sum()
        metrics["advantage_size"] = xp.sqrt(_divided(xp, squares.sum(), credited_BN.sum()))
    if "strategies" in columns:
        labels_BN = xp.where(known_BN, columns["strategies"], -1)
        metrics["distinct"] = _divided(xp, _num_different(xp, labels_BN).sum(), with_score)
        metrics["degenerate"] = _divided(xp, (known_BN & (labels_BN < 0)).sum(), known)
    return {f"vines/{name}": value for name, value in metrics.items()}


def _divided(xp: Any, total: Any, count: Any) -> Any:
    """Return the mean of `count` numbers by their total; NaN for none."""
    return xp.where(count > 0, total / xp.maximum(count, 1), xp.nan)


def _num_different(xp: Any, labels_BN: Any) -> Any:
    """Return the number of different labels ≥ 0 of each row, (B,)."""
    equal_BNN = labels_BN[:, :, None] == labels_BN[:, None, :]
    is_first_BN = xp.argmax(equal_BNN, axis=2) == xp.arange(labels_BN.shape[1])
    return (is_first_BN & (labels_BN >= 0)).sum(axis=1)


def without_credit(vines: VineChoices | None, gave_credit: bool) -> str | None:
    """Say that sets should have credited steps, and never did; None if that is not so."""
    if vines is None or not vines.are_sampled or vines.credit == "gae" or gave_credit:
        return None
    return (
        "no step had a set advantage, so the model learned as PPO does: every state had too few "
        "usable vines for a set (vines/without_credit)"
    )
