"""The graph, its triangles, and what is shown of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from stable_baselines3 import PPO

from setrl.control.measures import label_counts
from studies.triangles import Triangles, coverage_at_k, random_graph


def test_triangles_are_all_triples_joined_to_each_other():
    graph = random_graph(15, 0.4, seed=3)
    joined = graph.joined_VV
    assert (joined == joined.T).all()
    assert not joined.diagonal().any()
    triples = map(list, combinations(range(15), 3))
    expected = [t for t in triples if all(joined[a, b] for a, b in combinations(t, 2))]
    assert sorted(graph.triangles_F3.tolist()) == expected
    assert graph.shown_F.sum() == len(expected) // 2


def test_only_three_different_nodes_joined_to_each_other_are_rewarded():
    task = Triangles(nodes=15, edge_probability=0.4)
    env, joined = task.make_env(), task.graph.joined_VV
    for nodes in ([0, 1, 2], [2, 2, 2], *task.graph.triangles_F3[:3].tolist()):
        env.reset()
        steps = [env.step(node) for node in nodes]
        valid = all(joined[a, b] for a, b in combinations(nodes, 2))
        assert [step[1] for step in steps] == [0.0, 0.0, float(valid)]
        assert [step[2] for step in steps] == [False, False, True]


def test_demonstrations_are_the_shown_triangles_and_no_others():
    task = Triangles(nodes=15, edge_probability=0.4)
    shown = task.demonstrate(np.random.default_rng(0))
    named = shown.actions.reshape(-1, 3)
    assert {frozenset(map(int, row)) for row in named} == task.graph.shown
    assert len(named) == 6 * len(task.graph.shown)
    env = task.make_env()
    for row, seen in zip(named[:5], shown.observations.reshape(-1, 3, 30)[:5], strict=True):
        expected = [env.reset()[0], *(env.step(node)[0] for node in row)]
        np.testing.assert_array_equal(seen, expected[:3])


def test_metrics_count_what_was_sampled():
    task = Triangles(nodes=12, edge_probability=0.6, episodes=200)
    model = PPO("MlpPolicy", task.make_env(), n_steps=6, batch_size=6, seed=0, device="cpu")
    found = task.evaluate(model, np.random.default_rng(0))
    total = len(task.graph.triangles_F3)
    assert 0 < found["validity"] < 1
    assert found["effective"] <= found["distinct"] <= total
    assert found["coverage@1024"] == pytest.approx(found["distinct"] / total)  # fewer than 1,024
    assert found["new_distinct"] <= found["distinct"]
    assert found["new_share"] < found["validity"]


def test_coverage_is_the_share_of_labels_that_k_samples_meet():
    labels = [0, 0, 1, 2, 2, -1]
    met = [len({labels[i] for i in draw if labels[i] >= 0}) for draw in combinations(range(6), 3)]
    found = coverage_at_k(label_counts(labels), 6, 3, num_labels=10)
    assert found == pytest.approx(np.mean(met) / 10)
