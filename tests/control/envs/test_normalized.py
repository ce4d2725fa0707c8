"""Normalised observations: what a policy sees in a vine is what it sees in the trunk."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.env_util import make_vec_env

from setrl import methods
from setrl.control import (
    PolyPPO,
    VinePool,
    Vines,
    check_resettable,
)
from setrl.control.envs.checks import ResetMismatchError
from setrl.control.sb3.families import FamilySampler

GOALS = ((0, 4), (4, 0), (4, 4))


class ThreeGoals(gym.Env):
    """A slippery grid with three goals; it sees its place, in steps from the start."""

    observation_space = gym.spaces.Box(-9.0, 9.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.place, self.time = (2, 2), 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        action = self.np_random.integers(4) if self.np_random.random() < 0.2 else action
        x, y = self.place
        dx, dy = ((0, 1), (0, -1), (1, 0), (-1, 0))[int(action)]
        self.place = (min(max(x + dx, 0), 4), min(max(y + dy, 0), 4))
        self.time += 1
        won = self.place in GOALS
        return self._seen(), float(won), won, self.time >= 30, {"place": self.place}

    def _seen(self) -> np.ndarray:
        return np.array(self.place, np.float32)


def goal_of(trajectory: Any) -> Any:
    place = trajectory.infos[-1].get("place")
    return GOALS.index(place) if place in GOALS else -1


def moving() -> gym.Env:
    return gym.wrappers.NormalizeObservation(ThreeGoals())


def frozen() -> gym.Env:
    env = gym.wrappers.NormalizeObservation(ThreeGoals())
    env.obs_rms.mean, env.obs_rms.var = np.array([2.0, 2.0]), np.array([1.5, 1.5])
    env.update_running_mean = False
    return env


def model_of(make_env: Any, **options: Any) -> PolyPPO:
    vines = Vines(make_env, label=goal_of, num_vines=4, num_states=2, window=None)
    small: dict[str, Any] = {"n_steps": 64, "batch_size": 64, "n_epochs": 1, "seed": 0, **options}
    return PolyPPO("MlpPolicy", make_vec_env(make_env, 2), methods.poly_epo(2), vines, **small)


def test_vines_see_what_their_trunk_saw_to_the_bit() -> None:
    check_resettable(frozen(), another=frozen())
    rng = np.random.default_rng(0)
    vines = Vines(frozen, num_vines=4, num_states=3)
    pool = VinePool(frozen, 4, rng)
    families = FamilySampler(vines, pool, rng)(
        200, lambda seen, _: (rng.integers(4, size=len(seen)), {})
    )
    for one in families:
        for episodes in one.episodes_BN():
            for episode in episodes:
                places = [info["place"] for info in episode.infos[1:]]
                wanted = (places - np.array([2.0, 2.0])) / np.sqrt(1.5 + 1e-8)
                np.testing.assert_array_equal(episode.observations[1:], wanted.astype(np.float32))


@pytest.mark.parametrize("checks", [False, True])
def test_training_with_fixed_statistics_says_nothing(checks: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "You have specified a mini-batch")
        model = model_of(frozen, checks_resets=checks).learn(128)
        assert model.gave_credit


def test_moving_statistics_are_refused_with_what_to_do() -> None:
    said = "NormalizeObservation changes its statistics with each step, .*: update_running_mean ="
    with pytest.raises(ResetMismatchError, match=said):
        model_of(moving).learn(10)
