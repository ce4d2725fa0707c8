"""One VecNormalize for all environments of a model: for PPO, for trunks and for vines.

Observations are normalised where the policy sees them. Trajectories keep observations as the
environment gave them, for labels and scores, and as the policy saw them, for the update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

from setrl.control.sb3.families import Family
from setrl.control.trajectories import Trajectory


@dataclass(frozen=True)
class Normaliser:
    """The running means of a model; without VecNormalize everything stays unchanged.

    Every environment step is counted once. An observation counts when the policy first acts on it,
    so the state that vines share counts on their trunk. A reward counts once its episode is
    sampled.
    """

    env: VecNormalize | None = None

    def learn(self, observations: Any) -> None:
        """Add observations that were not seen before; their first axis counts them."""
        env = self.env
        if env is None or not (env.training and env.norm_obs):
            return
        if isinstance(env.obs_rms, dict):
            for key, statistics in env.obs_rms.items():
                _add(statistics, observations[key])
        else:
            _add(env.obs_rms, observations)

    def seen(self, observations: Any) -> Any:
        """Return observations as the policy sees them now."""
        return observations if self.env is None else self.env.normalize_obs(observations)

    def learn_rewards(self, families: Sequence[Family]) -> None:
        """Add each step's discounted return so far; rewards are divided by the spread of these."""
        env = self.env
        if env is None or not env.training:
            return
        for family in families:
            before = _returns(family.trunk, env.gamma, 0.0)
            own = [before]
            for time, vines in zip(family.times, family.vines_BN, strict=True):
                start = before[time - 1] if time else 0.0
                own += [_returns(vine, env.gamma, start) for vine in vines]
            returns = np.concatenate(own)
            _add(env.ret_rms, returns[np.isfinite(returns)])

    def rewards(self, rewards: np.ndarray) -> np.ndarray:
        """Return rewards as the critic gets them."""
        return rewards if self.env is None else self.env.normalize_reward(rewards)


NONE = Normaliser()


def _add(statistics: RunningMeanStd, values: np.ndarray) -> None:
    if len(values):
        statistics.update(np.asarray(values))


def _returns(trajectory: Trajectory, gamma: float, before: float) -> np.ndarray:
    """Rₜ = γ·Rₜ₋₁ + rₜ of each step; `before` is the value before the first step."""
    found = np.empty(len(trajectory))
    for step, reward in enumerate(trajectory.rewards_T):
        before = gamma * before + reward
        found[step] = before
    return found


def statistics_of(env: VecNormalize) -> dict[str, Any]:
    """Return all learnt statistics in JSON's types; Python writes and reads floats exactly."""
    observations = getattr(env, "obs_rms", {})
    parts = observations if isinstance(observations, dict) else {"": observations}
    return {
        "observations": {key: _written(one) for key, one in parts.items()},
        "returns": _written(env.ret_rms),
        "of_each": env.returns.tolist(),
    }


def load_statistics(env: VecNormalize, found: dict[str, Any]) -> None:
    """Restore what `statistics_of` returned."""
    observations = getattr(env, "obs_rms", {})
    parts = observations if isinstance(observations, dict) else {"": observations}
    for key, one in parts.items():
        _read(one, found["observations"][key])
    _read(env.ret_rms, found["returns"])
    if len(found["of_each"]) == env.num_envs:  # not equal when one environment is watched
        env.returns = np.array(found["of_each"], dtype=float)


def _written(one: RunningMeanStd) -> dict[str, Any]:
    return {
        "mean": np.asarray(one.mean).tolist(),
        "var": np.asarray(one.var).tolist(),
        "count": float(one.count),
    }


def _read(one: RunningMeanStd, found: dict[str, Any]) -> None:
    one.mean = np.array(found["mean"], dtype=float)
    one.var = np.array(found["var"], dtype=float)
    one.count = float(found["count"])
