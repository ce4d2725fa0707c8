"""Labels of trajectories and distances between them."""

from __future__ import annotations

import numpy as np
import pytest

from setrl import DEGENERATE, objectives, set_advantages
from setrl.control import labels
from setrl.control.trajectories import Trajectory


def trajectory(*infos):
    """A trajectory that only its infos tell from others."""
    steps = len(infos) - 1
    return Trajectory(
        np.zeros((steps + 1, 1)), np.zeros(steps), np.zeros(steps), infos, True, False
    )


def test_visited_is_the_set_of_places_with_the_start():
    label = labels.visited("room")
    there = trajectory({"room": 0}, {"room": 1}, {"room": 0})
    back = trajectory({"room": 1}, {"room": 1}, {"room": 0})
    assert label(there) == label(back) == frozenset({0, 1})
    assert label(trajectory({"room": 0}, {"room": 0})) != label(there)
    assert label(trajectory({}, {})) is None


def test_final_looks_at_the_last_step_alone():
    assert labels.final("goal")(trajectory({"goal": 3}, {"goal": None})) is None
    assert labels.final("goal")(trajectory({}, {"goal": 0})) == 0


def test_clusters_tell_equal_labels_and_leave_none_out():
    found = labels.clusters([frozenset({1, 2}), None, frozenset({2, 1}), "other"])
    np.testing.assert_array_equal(found, [0, DEGENERATE, 0, 1])


def test_labels_must_be_hashable():
    with pytest.raises(TypeError, match=r"hashable, such as a tuple or a frozenset, got \[1\]"):
        labels.clusters([[1]])


def test_euclidean_distances_are_shares_of_the_largest():
    found = labels.distances([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    np.testing.assert_allclose(found[0], [0.0, 1.0, 0.2])
    np.testing.assert_allclose(found, found.T)
    assert not labels.distances(np.zeros((3, 2))).any()


def test_rows_that_differ_by_rounding_are_not_far_apart():
    assert labels.distances([[0.3, 1.0], [0.1 + 0.2, 1.0]]).max() < 1e-3


def test_jaccard_is_the_share_of_places_that_only_one_visited():
    sets = [{0, 1}, {1, 2, 3}, {0, 1}, set()]
    rows = [[place in one for place in range(5)] for one in sets]
    found = labels.distances(rows, "jaccard")
    for i, first in enumerate(sets):
        for j, second in enumerate(sets):
            union = first | second
            expected = 1 - len(first & second) / len(union) if union else 0.0
            assert found[i, j] == pytest.approx(expected)


def test_distances_are_what_pairwise_distance_reads():
    pairs_NN = labels.distances([[0.0], [0.0], [1.0]])
    found = set_advantages(
        np.ones((1, 3)), objective=objectives.pairwise_distance(), set_size=2, pairs=pairs_NN[None]
    )
    assert found.values_BN[0].argmax() == 2
    assert found.values_BN[0, 0] == found.values_BN[0, 1]


def test_features_must_be_rows():
    with pytest.raises(ValueError, match="a row for each trajectory"):
        labels.distances([1.0, 2.0])
