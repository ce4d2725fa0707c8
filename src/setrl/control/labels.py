"""Labels of trajectories: their strategies.

A label is any hashable value, or None for a trajectory without a strategy (degenerate). `clusters`
turns labels into the integers that set objectives read. You can write a label function: it takes a
trajectory. The functions here read what the tasks' environments write into `info`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setrl.samples.values import DEGENERATE

if TYPE_CHECKING:
    from setrl.control.trajectories import Trajectory

TrajectoryLabel = Callable[["Trajectory"], Hashable | None]


def visited(key: str) -> TrajectoryLabel:
    """Label a trajectory with the set of all values of `info[key]`, start included, such as rooms.

    Infos without the key do not count; a trajectory without any such info is degenerate. The
    paper's diversity on BabyAI and MiniGrid is `visited("room")` (arXiv:2509.25424).
    """

    def label(trajectory: Trajectory) -> Hashable | None:
        return frozenset(info[key] for info in trajectory.infos if key in info) or None

    return label


def final(key: str) -> TrajectoryLabel:
    """Label a trajectory with the last value of `info[key]`, such as the goal reached, or None."""

    def label(trajectory: Trajectory) -> Hashable | None:
        return trajectory.infos[-1].get(key) if len(trajectory.infos) else None

    return label


def clusters(labels: Sequence[Hashable | None]) -> NDArray[np.int64]:
    """Convert labels to integers by first appearance; None becomes `DEGENERATE`.

    Raises:
        TypeError: If a label is not hashable.

    >>> clusters(["left", None, "right", "left"])
    array([ 0, -1,  1,  0])
    """
    names: dict[Hashable | None, int] = {None: DEGENERATE}
    for label in labels:
        try:
            names.setdefault(label, len(names) - 1)
        except TypeError as error:
            raise TypeError(
                f"a label must be hashable, such as a tuple or a frozenset, got {label!r}"
            ) from error
    return np.array([names[label] for label in labels], dtype=np.int64)
