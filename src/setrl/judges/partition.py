"""Pairs and distances of samples → labels, and back."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE
from setrl.support.installing import install


def cluster_by_distance(distances_NN: NDArray[np.float64], threshold: float) -> tuple[int, ...]:
    """Join the two nearest strategies, by mean distance, until all are `threshold` or more apart.

    Args:
        distances_NN: Symmetric, 0 on the diagonal.
        threshold: Strategies at this distance or farther are not joined.
    """
    if len(distances_NN) < 2:
        return (0,) * len(distances_NN)
    model = load("sklearn.cluster", "judge").AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=threshold
    )
    return by_first_appearance([int(label) for label in model.fit_predict(distances_NN)])


def together(labels_N: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which pairs have one label, (N, N); a degenerate sample is only with itself."""
    labels_N = np.asarray(labels_N)
    same_NN = (labels_N[:, None] == labels_N) & (labels_N != DEGENERATE)
    return same_NN | np.eye(len(labels_N), dtype=bool)


def spread_over_all(chosen: Sequence[int], labels: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the labels of chosen samples among all `count`; the others are degenerate.

    >>> spread_over_all([0, 2, 3], [0, 1, 0], count=4)
    (0, -1, 1, 0)
    """
    label_of = dict(zip(chosen, labels, strict=True))
    return tuple(label_of.get(place, DEGENERATE) for place in range(count))


def load(module: str, extra: str) -> Any:
    """Import a module that an extra installs.

    Raises:
        ImportError: Naming the pip command, where it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this judge needs {error.name}: {install(extra)}") from error
