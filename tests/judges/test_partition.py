"""Pairs → labels: linkage against its definition."""

from itertools import combinations

import numpy as np

from setrl.judges import by_first_appearance
from setrl.judges.partition import cluster_by_distance, spread_over_all, together


def linked_by_definition(distances, threshold):
    """Join the two nearest strategies until none are nearer than the threshold."""
    parts = [[place] for place in range(len(distances))]
    while len(parts) > 1:
        gap, first, second = min(
            (np.mean(distances[np.ix_(a, b)]), i, j)
            for (i, a), (j, b) in combinations(enumerate(parts), 2)
        )
        if gap >= threshold:
            break
        parts[first] += parts.pop(second)
    labels = {place: number for number, members in enumerate(parts) for place in members}
    return by_first_appearance([labels[place] for place in range(len(distances))])


def test_mean_linkage_is_its_definition():
    rng = np.random.default_rng(2)
    for _ in range(25):
        points = rng.random((7, 2))
        distances = np.linalg.norm(points[:, None] - points, axis=-1)
        for threshold in (0.1, 0.4, 0.8):
            expected = linked_by_definition(distances, threshold)
            assert cluster_by_distance(distances, threshold) == expected


def test_strategies_at_the_threshold_stay_apart():
    distances = np.array([[0.0, 0.5], [0.5, 0.0]])
    assert cluster_by_distance(distances, 0.5) == (0, 1)
    assert cluster_by_distance(distances, 0.5 + 1e-9) == (0, 0)
    assert cluster_by_distance(np.zeros((1, 1)), 0.5) == (0,)
    assert cluster_by_distance(np.zeros((0, 0)), 0.5) == ()


def test_a_degenerate_sample_is_with_itself_alone():
    assert together([0, -1, 0, -1]).tolist() == [
        [True, False, True, False],
        [False, True, False, False],
        [True, False, True, False],
        [False, False, False, True],
    ]
    assert spread_over_all([1], [0], 3) == (-1, 0, -1)
