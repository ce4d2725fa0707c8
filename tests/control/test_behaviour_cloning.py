"""What both paths share: which episodes are held out, and when learning stops."""

from __future__ import annotations

import numpy as np
import pytest

from setrl.control.behaviour_cloning import PATIENCE, Demonstrations, best_weights


def shown(episodes: np.ndarray) -> Demonstrations:
    count = len(episodes)
    return Demonstrations(np.zeros((count, 2), np.float32), np.zeros(count, int), episodes)


def test_a_fifth_of_the_episodes_is_held_out() -> None:
    names = np.array([0, 1, 3, 4, 5, 6, 7, 8, 9, 12])  # the expert failed in some
    learnt, held_out = shown(np.repeat(names, 3)).split(np.random.default_rng(0))
    assert len(held_out) == 2
    assert sorted([*learnt, *held_out]) == names.tolist()
    two, one = shown(np.array([0, 1, 1])).split(np.random.default_rng(0))
    assert (len(two), len(one)) == (1, 1)


def test_one_episode_is_too_few() -> None:
    with pytest.raises(ValueError, match="at least 2 episodes, got 1"):
        shown(np.zeros(3, int)).split(np.random.default_rng(0))


def test_learning_ends_when_the_loss_no_longer_falls_with_the_best_weights() -> None:
    losses = [3.0, 1.0, 2.0, 0.5, *[0.6] * 20]
    seen = []

    def learn() -> tuple[str, float]:
        seen.append(losses[len(seen)])
        return f"after {len(seen)}", seen[-1]

    found = best_weights("before", 40, learn)
    assert found == ("after 4", {"held_out_loss": 0.5, "epochs": 4.0})
    assert len(seen) == 4 + PATIENCE
    assert best_weights("before", 0, learn)[0] == "before"
