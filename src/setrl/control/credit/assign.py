"""Families → segments: what sets of vines are worth becomes set advantages of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setrl.control.credit import vine_advantages as credit
from setrl.control.credit.draw import Family
from setrl.control.credit.segments import How, Owed, Segment, taken
from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vines import Vines
from setrl.core.advantages import Method

HOW: dict[str, How] = {"bonus": "adds", "reward": "rewards"}  # the other readings replace


@dataclass(frozen=True)
class Judged:
    """The vines of B states as their sets see them.

    Attributes:
        states: (family, place among its states) of each.
        scores_BN: What each whole episode is worth; NaN leaves the sets.
        fields: What else the method reads: clusters, pairs.
        vines_BN: The vines' own steps.
    """

    states: list[tuple[int, int]]
    scores_BN: np.ndarray
    fields: credit.Fields
    vines_BN: list[tuple[Trajectory, ...]]


def judge(families: Sequence[Family], method: Method, vines: Vines) -> Judged:
    """Score and label all vines; one without steps or with a reward that is not finite is lost."""
    states = [(i, place) for i, each in enumerate(families) for place in range(len(each.times))]
    episodes = [row for family in families for row in family.episodes_SN()]
    vines_BN = [row for family in families for row in family.vines_SN]
    scores_BN = np.full((len(states), vines.num_vines), np.nan)
    for b, row in enumerate(vines_BN):
        for n, vine in enumerate(row):
            if len(vine) and np.isfinite(episodes[b][n].rewards_T).all():
                scores_BN[b, n] = vines.score(episodes[b][n])
    return Judged(states, scores_BN, vines.fields(episodes, method.reads), vines_BN)


def segments_of(
    families: Sequence[Family],
    judged: Judged,
    method: Method,
    vines: Vines,
    rng: np.random.Generator,
) -> tuple[list[Segment], np.ndarray]:
    """All seeds and vines, each with the set advantages that the reading gives it.

    Returns:
        The segments, and what each vine is owed, (B, N); NaN where it is owed nothing.
    """
    if not judged.states:
        return [Segment(family.seed) for family in families], np.empty((0, vines.num_vines))
    stop = None if vines.window is None else vines.window + 1
    if vines.reading == "seed":
        gains_B = credit.best_set_gain(method, judged.scores_BN, judged.fields, vines.num_sets, rng)
        owed_BN = np.full(judged.scores_BN.shape, np.nan)
        seeds = _owed_to_seeds(families, judged, gains_B, stop)
    else:
        owed_BN = _owed_to_vines(judged, method, vines, rng)
        seeds = [Segment(family.seed) for family in families]
    how = HOW.get(vines.reading, "replaces")
    own = [
        Segment(vine, () if np.isnan(value) else (Owed(float(value), 0, stop, how),))
        for row, values in zip(judged.vines_BN, owed_BN, strict=True)
        for vine, value in zip(row, values, strict=True)
    ]
    return [*seeds, *own], owed_BN


def _owed_to_vines(
    judged: Judged, method: Method, vines: Vines, rng: np.random.Generator
) -> np.ndarray:
    """What each vine is owed, (B, N); NaN for nothing."""
    scores_BN, fields = judged.scores_BN, judged.fields
    if vines.reading == "shared":
        found = credit.shared(method, scores_BN, fields, vines.num_sets, rng)
    elif vines.reading == "action":
        actions_BN = first_actions(judged.vines_BN)
        found = credit.by_action(method, scores_BN, fields, actions_BN)
    else:
        found = credit.by_trajectory(method, scores_BN, fields, rng)
    return np.where(found.owed_BN, found.values_BN, np.nan)


def _owed_to_seeds(
    families: Sequence[Family], judged: Judged, gains_B: np.ndarray, stop: int | None
) -> list[Segment]:
    """The gain of each state's best set, on the seed's steps from that state on."""
    owed: list[list[Owed]] = [[] for _ in families]
    for (family, place), gain in zip(judged.states, gains_B, strict=True):
        if np.isfinite(gain):
            time = families[family].times[place]
            last = None if stop is None else time + stop
            owed[family].append(Owed(float(gain), time, last))
    return [Segment(one.seed, tuple(each)) for one, each in zip(families, owed, strict=True)]


def first_actions(vines_BN: Sequence[Sequence[Trajectory]]) -> np.ndarray:
    """Each vine's first action as a number, (B, N), equal where the actions are; −1 for none."""
    known: dict[bytes, int] = {}
    rows = []
    for row in vines_BN:
        first = [np.asarray(taken(vine)[0]).tobytes() if len(vine) else None for vine in row]
        rows.append([-1 if a is None else known.setdefault(a, len(known)) for a in first])
    return np.array(rows, dtype=np.int64)


def measures(families: Sequence[Family], judged: Judged, owed_BN: np.ndarray) -> dict[str, float]:
    """What there is to log of an update's vines; NaN where there are none."""
    vines = [vine for row in judged.vines_BN for vine in row]
    lost = [not np.isfinite(vine.rewards_T).all() for vine in vines]
    found = {
        "families": len(families),
        "states": len(judged.states),
        "score": _mean(judged.scores_BN),
        "length": _mean([len(vine) for vine in vines]),
        "step_share": sum(map(len, vines)) / sum(family.num_steps for family in families),
        "without_steps": sum(not len(vine) for vine in vines),
        "without_reward": sum(lost),
        "unfinished": sum(vine.truncated for vine in vines),
        "without_credit": int(np.isnan(owed_BN).sum()),
        "advantage_size": float(np.sqrt(_mean(owed_BN**2))),
    }
    if "clusters" in judged.fields:
        labels_BN = judged.fields["clusters"]
        found["distinct"] = _mean([len(set(row[row >= 0].tolist())) for row in labels_BN])
        found["degenerate"] = _mean(labels_BN < 0)
    return {f"vines/{name}": float(value) for name, value in found.items()}


def _mean(values: np.ndarray | list[int]) -> float:
    """The mean of what is not NaN; NaN for nothing."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if np.isfinite(array).any() else float("nan")
