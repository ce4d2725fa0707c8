"""Measure a policy by its episodes: sample them, and compute metrics of their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import ArrayLike

from setrl.control.envs.layers import given
from setrl.control.trajectories import Growing, Trajectory, stack
from setrl.evaluate import estimators
from setrl.support.files.progress import watched

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

ResetOptions = dict[str, Any] | None


def sample_episodes(
    model: BaseAlgorithm,
    make_env: Callable[[], gym.Env],
    episodes: int | Sequence[ResetOptions],
    rng: np.random.Generator,
    parallel: int = 32,
) -> list[Trajectory]:
    """Sample whole episodes of a model's policy, as in training.

    Each environment starts the next episode when its present one has ended, and every started
    episode is finished, so short ones are not preferred.

    Args:
        model: A model with `predict`.
        make_env: Makes an environment; each environment is seeded once.
        episodes: Number of episodes, or the reset options of each.
        rng: Decides seeds and actions; the same generator state gives the same episodes.
        parallel: Environments whose actions are sampled in one batch.

    Returns:
        The episodes, in the order of `episodes`.
    """
    resets: list[ResetOptions] = [None] * episodes if isinstance(episodes, int) else list(episodes)
    envs = [make_env() for _ in range(min(parallel, len(resets)))]
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**63)))
            for env in envs:
                env.reset(seed=int(rng.integers(2**31)))
            return _play_all(model, envs, resets)
    finally:
        for env in envs:
            env.close()


def _play_all(
    model: BaseAlgorithm, envs: list[gym.Env], resets: list[ResetOptions]
) -> list[Trajectory]:
    waiting = iter(watched(enumerate(resets), "sample", len(resets), unit="episode"))
    running = [_Episode(env, *next(waiting)) for env in envs]
    whole: dict[int, Trajectory] = {}
    while len(whole) < len(resets):
        observations = stack([episode.observations[-1] for episode in running])
        # Episodes that have ended stay in the batch if none waits: equal batches sample equal
        # actions.
        actions, _ = model.predict(observations, deterministic=False)
        for position, episode in enumerate(running):
            if episode.ended:
                continue
            episode.step(episode.env, actions[position], {})
            if episode.ended:
                whole[episode.index] = episode.trajectory()
                following = next(waiting, None)
                running[position] = (
                    episode if following is None else _Episode(episode.env, *following)
                )
    return [whole[index] for index in range(len(resets))]


class _Episode(Growing):
    """An episode that is being played, with its environment and index."""

    def __init__(self, env: gym.Env, index: int, options: ResetOptions) -> None:
        super().__init__(*env.reset(**given(options)))
        self.env, self.index = env, index


def label_counts(labels_N: ArrayLike) -> np.ndarray:
    """Return how many of N samples have each label ≥ 0, by label."""
    labels_N = np.asarray(labels_N, dtype=np.int64)
    return np.bincount(labels_N[labels_N >= 0], minlength=1)


def effective_labels(labels_N: ArrayLike) -> float:
    """exp(entropy) of the labels of N samples, without degenerate ones; 0 if all are degenerate.

    >>> effective_labels([0, 1, 1, 0, -1])
    2.0
    """
    count_C = label_counts(labels_N)
    return float(estimators.effective_number(count_C[None])[0]) if count_C.sum() else 0.0


def goal_metrics(
    goals_N: Sequence[int | None], num_goals: int, sizes: Sequence[int] = (1, 8, 32)
) -> dict[str, float]:
    """Count the goals that N episodes reach, and their worth if only one hidden goal counts.

        hidden_pass@k = mean_g [ 1 − C(N−m_g, k) / C(N, k) ],   m_g episodes end at goal g

    Each goal is a separate problem, for which the estimator is unbiased, and so is the mean: the
    probability that one of k episodes ends at a goal that is drawn uniformly.

    Args:
        goals_N: The goal at which each episode ended, 0 … num_goals − 1, or None.
        num_goals: Number of all goals, including goals never reached.
        sizes: The values of k, each at most N.

    >>> goal_metrics([0, 0, 1, None], num_goals=4, sizes=[1, 2])["hidden_pass@2"]
    0.3333333333333333
    """
    reached_N = np.array([-1 if goal is None else goal for goal in goals_N])
    count_G = np.bincount(reached_N[reached_N >= 0], minlength=num_goals)
    passes = {k: estimators.pass_at_k(count_G, len(goals_N), k).mean() for k in sizes}
    return {
        "goals": float((count_G > 0).sum()),
        "effective_goals": effective_labels(reached_N),
        **{f"hidden_pass@{k}": float(value) for k, value in passes.items()},
    }


def strategy_metrics(
    scores_N: ArrayLike, labels_N: ArrayLike, lengths_N: ArrayLike
) -> dict[str, float]:
    """Measure N episodes by their scores, the labels of their strategies, and their lengths."""
    labels_N = np.asarray(labels_N)
    return {
        "score": float(np.asarray(scores_N).mean()),
        "labelled": float(np.mean(labels_N >= 0)),
        "strategies": float(np.count_nonzero(label_counts(labels_N))),
        "effective_strategies": effective_labels(labels_N),
        "length": float(np.asarray(lengths_N).mean()),
    }


def mean_length(episodes: Sequence[Trajectory]) -> float:
    """Return the mean number of steps; NaN without episodes."""
    return float(np.mean([len(episode) for episode in episodes])) if episodes else float("nan")
