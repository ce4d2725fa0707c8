"""Families → segments: scores of sets of vines become set advantages of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setrl.control.metrics import vine_metrics
from setrl.control.sb3.families import Family
from setrl.control.sb3.vines import Vines
from setrl.control.steps import spread
from setrl.control.trajectories import Trajectory
from setrl.core.advantages import AnyMethod
from setrl.samples.samples import Samples


@dataclass(frozen=True)
class Segment:
    """A trajectory that the policy is trained on.

    Attributes:
        trajectory: The trajectory.
        own_T: The set advantage of each step, or of all, instead of the critic's; NaN for none.
    """

    trajectory: Trajectory
    own_T: np.ndarray | float = np.nan

    @property
    def is_usable(self) -> bool:
        """Whether it has steps, all with finite rewards."""
        return len(self.trajectory) > 0 and self.trajectory.is_finite


def score_vines(families: Sequence[Family], method: AnyMethod, vines: Vines) -> Samples:
    """Score and label all vines, (B, N); rows are states, family after family."""
    episodes_BN = [row for family in families for row in family.episodes_BN()]
    vines_BN = vines_of(families)
    rewards_BN = np.full((len(vines_BN), vines.num_vines), np.nan)
    for b, row in enumerate(vines_BN):
        for n, vine in enumerate(row):
            if len(vine):
                rewards_BN[b, n] = vines.worth(episodes_BN[b][n])
    return Samples(rewards_BN, **vines.fields(episodes_BN, method.reads))


def vines_of(families: Sequence[Family]) -> list[tuple[Trajectory, ...]]:
    """Return the N vines of each state, family after family."""
    return [row for family in families for row in family.vines_BN]


def segments_of(
    families: Sequence[Family], advantages_BN: np.ndarray, window: int | None
) -> list[Segment]:
    """Return all trunks, and then all vines with their set advantage in steps 0…W."""
    vines = [vine for row in vines_of(families) for vine in row]
    own = [
        Segment(vine, spread(np, value, window, len(vine)).ravel())
        for vine, value in zip(vines, advantages_BN.ravel(), strict=True)
    ]
    return [*(Segment(family.trunk) for family in families), *own]


def metrics_of(
    families: Sequence[Family], samples: Samples, advantages_BN: np.ndarray | None
) -> dict[str, float]:
    """Return what is logged of an update's vines."""
    vines, shape = [vine for row in vines_of(families) for vine in row], samples.rewards.shape
    lengths, finite, ended = (
        np.array([of(vine) for vine in vines]).reshape(shape)
        for of in (len, lambda vine: vine.is_finite, lambda vine: not vine.truncated)
    )
    metrics = vine_metrics(
        np,
        samples.columns,
        advantages_BN,
        wanted_B=np.ones(shape[0], bool),
        lengths_BN=lengths,
        finite_BN=finite,
        ended_BN=ended,
        trunk_steps=sum(len(family.trunk) for family in families),
        num_trunks=len(families),
    )
    return {name: float(value) for name, value in metrics.items()}
