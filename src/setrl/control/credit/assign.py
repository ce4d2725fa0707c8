"""Families → segments: scores of sets of vines become set advantages of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setrl.control.credit import vine_advantages
from setrl.control.credit.families import Family
from setrl.control.credit.trajectories import Trajectory
from setrl.control.credit.vines import Vines
from setrl.core.advantages import AnyMethod, Method

Use = Literal["replaces", "adds", "rewards"]
USES: dict[str, Use] = {"bonus": "adds", "reward": "rewards"}  # all other credit replaces


@dataclass(frozen=True)
class SetAdvantage:
    """A set advantage of some steps of a trajectory.

    Attributes:
        value: The advantage.
        start: First step that has it.
        stop: The step after the last; None for the end of the trajectory.
        use: The advantage "replaces" the critic's advantage, is added to it ("adds"), or is added
            to the last reward ("rewards"), from where GAE brings it to all steps.
    """

    value: float
    start: int = 0
    stop: int | None = None
    use: Use = "replaces"


@dataclass(frozen=True)
class Segment:
    """A trajectory that the policy is trained on, and the set advantages of its steps."""

    trajectory: Trajectory
    set_advantages: tuple[SetAdvantage, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether it has steps, all with finite rewards."""
        return len(self.trajectory) > 0 and self.trajectory.is_finite


@dataclass(frozen=True)
class ScoredVines:
    """The vines of B states as sets see them.

    Attributes:
        states: The state of each vine's row: (family, index among the family's states).
        scores_BN: The worth of each whole episode; NaN leaves the sets.
        fields: The other fields that the method reads: clusters, pairs.
        vines_BN: The steps of each vine after its state.
    """

    states: list[tuple[int, int]]
    scores_BN: np.ndarray
    fields: vine_advantages.Fields
    vines_BN: list[tuple[Trajectory, ...]]


def score_vines(families: Sequence[Family], method: AnyMethod, vines: Vines) -> ScoredVines:
    """Score and label all vines; a vine without steps or with a non-finite reward has NaN."""
    states = [(i, index) for i, each in enumerate(families) for index in range(len(each.times))]
    episodes = [row for family in families for row in family.episodes_BN()]
    vines_BN = [row for family in families for row in family.vines_BN]
    scores_BN = np.full((len(states), vines.num_vines), np.nan)
    for b, row in enumerate(vines_BN):
        for n, vine in enumerate(row):
            if len(vine) and episodes[b][n].is_finite:
                scores_BN[b, n] = vines.score(episodes[b][n])
    return ScoredVines(states, scores_BN, vines.fields(episodes, method.reads), vines_BN)


def segments_of(
    families: Sequence[Family],
    scored: ScoredVines,
    method: AnyMethod,
    vines: Vines,
    rng: np.random.Generator,
) -> tuple[list[Segment], np.ndarray]:
    """Return all trunks and vines, with the set advantages that `vines.credit` assigns them.

    Returns:
        The segments, and the set advantage of each vine, (B, N); NaN for vines without credit.
    """
    trunks = [Segment(family.trunk) for family in families]
    advantages_BN = np.full(scored.scores_BN.shape, np.nan)
    stop = None if vines.window is None else vines.window + 1
    if scored.states and vines.credit == "trunk":
        trunks = _credited_trunks(families, scored, method, vines, rng)
    elif scored.states and vines.credit != "gae":
        advantages_BN = _advantages(scored, method, vines, rng)
    use = USES.get(str(vines.credit), "replaces")
    own = [
        Segment(vine, () if np.isnan(value) else (SetAdvantage(float(value), 0, stop, use),))
        for row, values in zip(scored.vines_BN, advantages_BN, strict=True)
        for vine, value in zip(row, values, strict=True)
    ]
    return [*trunks, *own], advantages_BN


def _advantages(
    scored: ScoredVines, method: AnyMethod, vines: Vines, rng: np.random.Generator
) -> np.ndarray:
    """Return the set advantage of each vine, (B, N); NaN for vines without one."""
    scores_BN, fields = scored.scores_BN, scored.fields
    if vines.credit not in ("shared", "action"):
        return vine_advantages.by_trajectory(method, scores_BN, fields, rng)
    assert isinstance(method, Method)  # `check_vines` refused a sum
    if vines.credit == "shared":
        return vine_advantages.shared(method, scores_BN, fields, vines.num_sets, rng)
    actions_BN = first_actions(scored.vines_BN)
    return vine_advantages.by_action(method, scores_BN, fields, actions_BN)


def _credited_trunks(
    families: Sequence[Family],
    scored: ScoredVines,
    method: AnyMethod,
    vines: Vines,
    rng: np.random.Generator,
) -> list[Segment]:
    """Return the trunks; from each state on, the steps get the gain of the state's best set."""
    assert isinstance(method, Method)  # `check_vines` refused a sum
    gains_B = vine_advantages.best_set_gain(
        method, scored.scores_BN, scored.fields, vines.num_sets, rng
    )
    credited: list[list[SetAdvantage]] = [[] for _ in families]
    for (family, index), gain in zip(scored.states, gains_B, strict=True):
        if np.isfinite(gain):
            start = families[family].times[index]
            stop = None if vines.window is None else start + vines.window + 1
            credited[family].append(SetAdvantage(float(gain), start, stop))
    return [Segment(one.trunk, tuple(all_)) for one, all_ in zip(families, credited, strict=True)]


def first_actions(vines_BN: Sequence[Sequence[Trajectory]]) -> np.ndarray:
    """Return a number for each vine's first action, (B, N); −1 for a vine without an action."""
    known: dict[bytes, int] = {}
    rows = []
    for row in vines_BN:
        first = [np.asarray(vine.taken_T[0]).tobytes() if len(vine) else None for vine in row]
        rows.append([-1 if a is None else known.setdefault(a, len(known)) for a in first])
    return np.array(rows, dtype=np.int64)


def metrics(
    families: Sequence[Family], scored: ScoredVines, advantages_BN: np.ndarray
) -> dict[str, float]:
    """Return the logged values of an update's vines; NaN where a value is undefined."""
    vines = [vine for row in scored.vines_BN for vine in row]
    found = {
        "families": len(families),
        "states": len(scored.states),
        "score": _mean(scored.scores_BN),
        "length": _mean([len(vine) for vine in vines]),
        "step_share": sum(map(len, vines)) / sum(family.num_steps for family in families),
        "without_steps": sum(not len(vine) for vine in vines),
        "without_reward": sum(not vine.is_finite for vine in vines),
        "unfinished": sum(vine.truncated for vine in vines),
        "without_credit": int(np.isnan(advantages_BN).sum()),
        "advantage_size": float(np.sqrt(_mean(advantages_BN**2))),
    }
    if "clusters" in scored.fields:
        labels_BN = scored.fields["clusters"]
        found["distinct"] = _mean([len(set(row[row >= 0].tolist())) for row in labels_BN])
        found["degenerate"] = _mean(labels_BN < 0)
    return {f"vines/{name}": float(value) for name, value in found.items()}


def _mean(values: np.ndarray | list[int]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(array)) if np.isfinite(array).any() else float("nan")
