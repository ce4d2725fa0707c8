"""Labels of trajectories: their strategies.

A label is a name or an integer, as everywhere (`setrl.samples.values.read_label`), or a tuple or a
frozenset, such as of the rooms that were visited. −1 (`setrl.DEGENERATE`) is a trajectory of no
strategy, and None is unknown. You can write a label function: it takes a trajectory. The
functions here read what the tasks' environments write into `info`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE, read_label

if TYPE_CHECKING:
    from setrl.control.trajectories import Trajectory

TrajectoryLabel = Callable[["Trajectory"], Hashable]


def visited(key: str) -> TrajectoryLabel:
    """Label a trajectory with the set of all values of `info[key]`, start included, such as rooms.

    Infos without the key do not count; a trajectory without any such info is degenerate. The
    paper's diversity on BabyAI and MiniGrid is `visited("room")` (arXiv:2509.25424).
    """

    def label(trajectory: Trajectory) -> Hashable:
        return frozenset(info[key] for info in trajectory.infos if key in info) or DEGENERATE

    return label


def final(key: str) -> TrajectoryLabel:
    """Label a trajectory with the last value of `info[key]`, such as the goal; −1 without one."""

    def label(trajectory: Trajectory) -> Hashable:
        value = trajectory.infos[-1].get(key) if len(trajectory.infos) else None
        return DEGENERATE if value is None else value

    return label


def numbers_of(labels: Sequence[Hashable]) -> NDArray[np.float64]:
    """Return labels as numbers by first appearance; −1 stays, and None is NaN (unknown).

    Raises:
        ValueError: If a value is no label.

    >>> numbers_of(["left", -1, "right", "left", None])
    array([ 0., -1.,  1.,  0., nan])
    """
    parsed = [_read_label(label) for label in labels]
    return np.where([label is None for label in parsed], np.nan, _number_labels(parsed))


def first_actions(vines_BN: Sequence[Sequence[Trajectory]]) -> NDArray[np.float64]:
    """Return numbers of the vines' first actions, (B, N): a label, −1 for a vine without steps."""
    return np.array([
        numbers_of([tuple(np.ravel(vine.taken_T[0]).tolist()) if len(vine) else DEGENERATE
                    for vine in row]) for row in vines_BN
    ])  # fmt: skip


def numbers_for_metrics(labels: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return labels as integers for metrics, which take what is unknown as no strategy."""
    return np.array(_number_labels([_read_label(label) for label in labels]), np.int64)


def _number_labels(labels: Sequence[Hashable]) -> tuple[int, ...]:
    """Return labels as numbers, where what is unknown is of no strategy."""
    return by_first_appearance(DEGENERATE if label is None else label for label in labels)


def _read_label(label: Hashable) -> Hashable:
    if isinstance(label, tuple | frozenset):
        return label
    try:
        return read_label(label)
    except ValueError as error:
        raise ValueError(f"labels must be tuples, frozensets, {error}") from None
