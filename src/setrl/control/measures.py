"""What episodes of a policy say about it: sampling them, and metrics of their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import ArrayLike

from setrl.control.credit.trajectories import Trajectory, stack
from setrl.evaluation import diversity, estimators

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
    """Whole episodes of a model's policy, sampled as in training.

    Each environment takes the next episode when its own is over, and every episode that was begun
    is finished: short ones are not preferred.

    Args:
        model: Its `predict` is asked, with states where the policy is recurrent.
        make_env: Makes an environment; each is seeded once.
        episodes: How many, or the reset options of each.
        rng: Decides seeds and actions; the same state of it gives the same episodes.
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
            return _run_all(model, envs, resets)
    finally:
        for env in envs:
            env.close()


def _run_all(
    model: BaseAlgorithm, envs: list[gym.Env], resets: list[ResetOptions]
) -> list[Trajectory]:
    waiting = iter(enumerate(resets))
    running = [_Episode(env, *next(waiting)) for env in envs]
    whole: list[Trajectory | None] = [None] * len(resets)
    state = None
    while any(not one.over for one in running):
        seen = stack([one.observations[-1] for one in running])
        starts = np.array([not one.rewards for one in running])
        actions, state = model.predict(seen, state, starts, deterministic=False)
        for index, one in enumerate(running):
            if one.over:
                continue
            one.step(actions[index])
            if one.over:
                whole[one.place] = one.trajectory()
                running[index] = _next(one, waiting)
    return [one for one in whole if one is not None]


class _Episode:
    """An episode on its way: what it has seen, done and got."""

    def __init__(self, env: gym.Env, place: int, options: ResetOptions) -> None:
        self.env, self.place = env, place
        observation, info = env.reset(options=options)
        self.observations: list[Any] = [observation]
        self.infos: list[dict[str, Any]] = [info]
        self.actions: list[Any] = []
        self.rewards: list[float] = []
        self.terminated = self.truncated = False

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    def step(self, action: Any) -> None:
        observation, reward, self.terminated, self.truncated, info = self.env.step(action)
        self.observations.append(observation)
        self.infos.append(info)
        self.actions.append(action)
        self.rewards.append(float(reward))

    def trajectory(self) -> Trajectory:
        return Trajectory(
            observations=stack(self.observations),
            actions_T=np.asarray(self.actions),
            rewards_T=np.asarray(self.rewards),
            infos=tuple(self.infos),
            terminated=self.terminated,
            truncated=self.truncated,
        )


def _next(done: _Episode, waiting: Iterator[tuple[int, ResetOptions]]) -> _Episode:
    """The environment's next episode, or the one that it has finished where none waits."""
    following = next(waiting, None)
    return done if following is None else _Episode(done.env, *following)


def label_counts(clusters_N: ArrayLike) -> np.ndarray:
    """How many of N samples have each label ≥ 0, by label."""
    labels_N = np.asarray(clusters_N, dtype=np.int64)
    return np.bincount(labels_N[labels_N >= 0], minlength=1)


def effective_labels(clusters_N: ArrayLike) -> float:
    """exp(entropy) of the labels of N samples, degenerate ones left out; 0 where all are.

    >>> effective_labels([0, 1, 1, 0, -1])
    2.0
    """
    count_C = label_counts(clusters_N)
    return float(diversity.effective_number(count_C[None])[0]) if count_C.sum() else 0.0


def goal_metrics(
    goals_N: Sequence[int | None], num_goals: int, sizes: Sequence[int] = (1, 8, 32)
) -> dict[str, float]:
    """How many goals N episodes reach, and what that is worth where one is secretly the only one.

        hidden_pass@k = mean_g [ 1 − C(N−m_g, k) / C(N, k) ],   m_g episodes end at goal g

    Each goal is a problem of its own, for which the estimator is unbiased, and so is their mean:
    the chance that one of k episodes ends at a goal drawn fairly.

    Args:
        goals_N: The goal that each episode ended at, 0 … num_goals − 1, or None.
        num_goals: All goals, those never reached included.
        sizes: The k, each at most N.

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


def mean_length(episodes: Sequence[Trajectory]) -> float:
    """Mean number of steps; NaN of no episodes."""
    return float(np.mean([len(one) for one in episodes])) if episodes else float("nan")


def coverage_at_k(count_C: ArrayLike, n: int, k: int, num_labels: int) -> float:
    """Expected share of all `num_labels` labels that k samples meet: distinct@k / num_labels."""
    return float(estimators.pass_at_k(count_C, n, k).sum()) / num_labels
