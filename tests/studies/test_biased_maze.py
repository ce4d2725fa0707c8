"""The Biased Maze: play against exact chances, updates against gradients, what is learned."""

from __future__ import annotations

import json

import numpy as np
import pytest

from studies import biased_maze, rollout_trees
from studies.biased_maze import LEARNERS, BiasedMaze, train

MAZE = BiasedMaze((3, 0, 1), start=0.3)
CHANCES = np.array([[0.4, 0.7, 0.5]])


def slow_episode(actions, corridors):
    """Depth and return of one episode, step by step."""
    for fork, action in enumerate(actions):
        if action == 0:
            return fork, fork + corridors[fork]
    return len(actions), len(actions)


def test_play_is_what_a_step_by_step_walk_gives():
    episodes = MAZE.play(np.repeat(CHANCES, 3, axis=0), 50, np.random.default_rng(0))
    for index in np.ndindex(3, 50):
        depth, pays = slow_episode(episodes.right_RND[index].astype(int), MAZE.corridors)
        assert episodes.depth_RN[index] == depth
        assert episodes.returns_RN[index] == pays
        np.testing.assert_array_equal(episodes.visited_RND[index], np.arange(3) <= depth)


def test_ends_and_returns_are_exact():
    ends = MAZE.ends(CHANCES)[0]
    np.testing.assert_allclose(ends, [0.6, 0.4 * 0.3, 0.4 * 0.7 * 0.5, 0.4 * 0.7 * 0.5])
    np.testing.assert_array_equal(MAZE.returns_E, [3, 1, 3, 3])
    assert MAZE.best_return(CHANCES)[0] == pytest.approx(ends @ [3, 1, 3, 3])
    # The best of two draws is 1 only if both are.
    assert MAZE.best_return(CHANCES, 2)[0] == pytest.approx(3 - 2 * 0.12**2)


def best_gradient(maze, logits, draws):
    """∂ E best of `draws` / ∂ logits, by finite differences."""
    step, found = 1e-5, []
    for d in range(len(logits)):
        moved = np.repeat(logits[None], 2, axis=0)
        moved[:, d] += [step, -step]
        up, down = maze.best_return(1 / (1 + np.exp(-moved)), draws)
        found.append((up - down) / (2 * step) / maze.num_forks)
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "draws"), [("reinforce", 1), ("raw", 4), ("s_loo", 4), ("ei", 4), ("l2o", 4)]
)
def test_mean_updates_are_the_gradients_of_their_objectives(name, draws):
    maze = BiasedMaze((2, 0, 0, 0), start=0.6)
    logits = np.full(4, np.log(0.6 / 0.4))
    history = train(
        maze,
        LEARNERS[name],
        set_size=4,
        num_samples=8,
        learning_rate=1.0,
        updates=2,
        runs=40_000,
        seed=0,
    )
    moved = np.log(history.chances_RTD[:, 1] / (1 - history.chances_RTD[:, 1])) - logits
    error = moved.std(axis=0) / np.sqrt(len(moved))
    truth = best_gradient(maze, logits, draws)
    assert (np.abs(moved.mean(axis=0) - truth) < 4 * error).all()
    assert (error < 0.2 * np.abs(truth).max()).all()


def settle(name, decoy=3, updates=300):
    config = biased_maze.BiasedMazeConfig(updates=updates, runs=15, decoys=(decoy,), shown=decoy)
    return biased_maze.train_all(config, decoy)[name]


def test_mean_return_is_deceived_and_max_at_k_is_not():
    assert (settle("reinforce").chances_RTD[:, -1, 0] < 0.1).all()
    assert (settle("l2o").chances_RTD[:, -1, 0] > 0.9).sum() >= 14
    assert (settle("ei").chances_RTD[:, -1, 0] > 0.9).sum() >= 14


def test_without_a_decoy_mean_return_is_best():
    assert (settle("reinforce", decoy=0).goal_RT[:, -1] > 0.9).all()


def test_training_repeats_and_differs_between_runs():
    one, two = settle("poly", updates=20), settle("poly", updates=20)
    np.testing.assert_array_equal(one.chances_RTD, two.chances_RTD)
    assert (one.returns_RT[0] != one.returns_RT[1]).any()


def test_the_study_writes_its_numbers_and_they_are_drawn(tmp_path):
    config = biased_maze.BiasedMazeConfig(decoys=(0, 3), updates=30, runs=3)
    path = biased_maze.run(config, tmp_path)
    found = json.loads(path.read_text(encoding="utf-8"))
    last = found["last_policies"]
    assert set(last) == {"decoy_0", "decoy_3"}
    assert set(last["decoy_3"]) == set(LEARNERS)
    assert 0 <= last["decoy_3"]["ei"]["goal"]["mean"] <= 1
    returns, *_ = biased_maze.draw_learning(found).axes
    drawn = found["training"]["decoy_3"]["reinforce"]["average return"]["mean"]
    assert list(returns.lines[0].get_ydata()) == drawn
    assert [len(ax.collections) for ax in biased_maze.draw_decoys(found).axes] == [6, 6]


def test_rollout_trees_write_their_numbers_and_they_are_drawn(tmp_path):
    config = rollout_trees.RolloutTreesConfig(starts=3, iterations=6, q_steps=600, q_seeds=2)
    path = rollout_trees.run(config, tmp_path)
    numbers = json.loads(path.read_text(encoding="utf-8"))
    values = np.array(numbers["policy_iteration"])
    assert (np.diff(values, axis=1) > -1e-6).all()
    assert (values <= numbers["planner"]).all()
    climbing, _ = rollout_trees.draw(numbers).axes
    assert list(climbing.lines[0].get_ydata()) == numbers["policy_iteration"][0]
