"""How trajectories differ: labels of their strategies, and distances between them.

A label is any hashable value, or None for a trajectory without a strategy (degenerate). `clusters`
turns labels into the integers that set objectives read, and `distances` turns features into the
pairs that `objectives.pairwise_distance` reads. You can write a label function: it takes a
trajectory. The functions here read what the tasks' environments write into `info`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setrl.samples.strategies import DEGENERATE

if TYPE_CHECKING:
    from setrl.control.trajectories import Trajectory

TrajectoryLabel = Callable[["Trajectory"], Hashable | None]
Distance = Literal["euclidean", "jaccard"]


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


def distances(features_ND: ArrayLike, metric: Distance = "euclidean") -> NDArray[np.float64]:
    """Return the distance of each pair of trajectories, for `objectives.pairwise_distance`.

        euclidean   ‖xᵢ − xⱼ‖ / the largest of all pairs
        jaccard     1 − |xᵢ ∧ xⱼ| / |xᵢ ∨ xⱼ|

    Args:
        features_ND: A row of D numbers for each of N trajectories: its final state, or 0/1 for each
            place that was visited.
        metric: How the distance of two rows is measured.

    Returns:
        (N, N), symmetric, in [0, 1], 0 between equal rows.

    >>> distances([[1, 1, 0], [0, 1, 1]], "jaccard")[0, 1].round(3)
    np.float64(0.667)
    """
    x_ND = np.asarray(features_ND, dtype=np.float64)
    if x_ND.ndim != 2:
        raise ValueError(
            f"features_ND must have shape (N, D), a row for each trajectory, got {x_ND.shape}"
        )
    if metric == "jaccard":
        return _jaccard(x_ND != 0)
    apart_NN = np.linalg.norm(x_ND[:, None] - x_ND[None], axis=-1)
    # Rows that differ only in their last digits are equal, not as far apart as rows can be.
    floor = 1e-12 * np.abs(x_ND).max(initial=0.0) or np.finfo(float).tiny
    return apart_NN / max(apart_NN.max(initial=0.0), floor)


def _jaccard(visited_ND: NDArray[np.bool_]) -> NDArray[np.float64]:
    both_NN = visited_ND.astype(float) @ visited_ND.T.astype(float)
    size_N = visited_ND.sum(axis=-1)
    either_NN = size_N[:, None] + size_N[None] - both_NN
    return 1 - np.divide(both_NN, either_NN, out=np.ones_like(both_NN), where=either_NN > 0)
