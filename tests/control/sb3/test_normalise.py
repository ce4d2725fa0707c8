"""One VecNormalize for PPO's environments, trunks and vines: each step is counted once."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

from setrl import methods
from setrl.control import PolyPPO, Vines
from setrl.control.sb3.normalise import load_statistics, statistics_of
from setrl.control.sb3.recurrent import GRUPolicy, RecurrentPolyPPO
from tests.control.goals import Goals, goal

SIZES: dict[str, Any] = {"n_steps": 64, "batch_size": 64, "n_epochs": 1, "seed": 0}
FEW = {"num_vines": 3, "num_states": 2, "label": goal}


class Far(gym.Wrapper):
    """The grid, seen in numbers that no network could learn from."""

    def __init__(self) -> None:
        super().__init__(Goals())
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def _place(self) -> np.ndarray:
        return np.array(self.env.place, np.float32) * 300 + 5000  # type: ignore[attr-defined]

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """The middle."""
        _, info = self.env.reset(**options)
        return self._place(), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A move."""
        _, *rest = self.env.step(action)
        return self._place(), *rest  # type: ignore[return-value]


def model(kind: type[PolyPPO] = PolyPPO, policy: Any = "MlpPolicy", **named: Any) -> PolyPPO:
    torch.set_num_threads(1)
    env = VecNormalize(make_vec_env(Far, 2, seed=0), **named)
    kwargs = {"net_arch": [8]}
    vines = Vines(Far, **FEW)
    return kind(policy, env, methods.poly_epo(2), vines, policy_kwargs=kwargs, **SIZES)


def learnt(made: PolyPPO, steps: int = 60) -> list[Any]:
    """The families of the one update that the model takes."""
    found: list[Any] = []
    collect = made._families
    made._families = lambda *given: found.extend(collect(*given)) or found  # type: ignore
    made.learn(steps)
    return found


def test_each_observation_is_counted_once_and_the_state_of_vines_on_their_trunk() -> None:
    made = model()
    statistics = made.env.obs_rms  # type: ignore[union-attr]
    families = learnt(made)
    seen = [family.trunk.observations[:-1] for family in families]
    for family in families:
        seen += [vine.observations[1:-1] for vines in family.vines_BN for vine in vines]
    resets = np.full((2, 2), 5600.0)  # of the model's own environments, at the start of `learn`
    every = np.concatenate([*seen, resets])
    vines = sum(len(row) for family in families for row in family.vines_BN)
    assert len(every) == made.num_timesteps - vines + 2
    assert statistics.count == pytest.approx(len(every) + 1e-4)
    np.testing.assert_allclose(statistics.mean, every.mean(0), rtol=1e-6)
    np.testing.assert_allclose(statistics.var, every.var(0), rtol=1e-2)


def test_each_reward_is_counted_once_and_vines_go_on_from_their_trunks_return() -> None:
    made = model(gamma=0.9)
    families = learnt(made)
    returns: list[float] = []
    for family in families:
        for start, one in [(0, family.trunk)] + [
            (time, vine)
            for time, row in zip(family.times, family.vines_BN, strict=True)
            for vine in row
        ]:
            rewards = [*family.trunk.rewards_T[:start], *one.rewards_T]
            for last in range(start, len(rewards)):
                returns.append(sum(0.9 ** (last - t) * rewards[t] for t in range(last + 1)))
    statistics = made.env.ret_rms  # type: ignore[union-attr]
    assert len(returns) == made.num_timesteps
    assert statistics.count == pytest.approx(len(returns) + 1e-4)
    assert statistics.mean == pytest.approx(np.mean(returns), rel=1e-5)


@pytest.mark.parametrize("memory", [False, True])
def test_what_is_trained_on_is_what_the_policy_saw(memory: bool) -> None:
    made = model(RecurrentPolyPPO, GRUPolicy) if memory else model()
    families = learnt(made)
    found = made.rollout_buffer.observations
    assert np.abs(found).max() <= 10, "clipped, and so normalised"
    seen = {tuple(row) for family in families for row in family.trunk.seen_T}
    assert seen <= {tuple(row) for row in found}
    assert families[0].trunk.observations.max() > 4000, "labels and scores see the environment's"


def test_without_training_nothing_is_learnt() -> None:
    made = model(training=False)
    learnt(made)
    assert made.env.obs_rms.count == 1e-4  # type: ignore[union-attr]
    assert made.env.ret_rms.count == 1e-4  # type: ignore[union-attr]


def test_without_vines_it_is_ppo_to_the_bit() -> None:
    made = [
        kind("MlpPolicy", VecNormalize(make_vec_env(Far, 2, seed=0)), **SIZES).learn(128)
        for kind in (PPO, PolyPPO)
    ]
    weights = [torch.cat([p.flatten() for p in one.policy.parameters()]) for one in made]
    assert torch.equal(*weights)


def test_statistics_are_written_exactly() -> None:
    made = model()
    made.learn(60)
    written = json.loads(json.dumps(statistics_of(made.env)))  # type: ignore[arg-type]
    other = VecNormalize(make_vec_env(Far, 2, seed=1))
    load_statistics(other, written)
    assert statistics_of(other) == statistics_of(made.env)  # type: ignore[arg-type]
    row = np.float32([[5300, 6000]])
    assert np.array_equal(other.normalize_obs(row), made.env.normalize_obs(row))  # type: ignore


def test_dicts_are_normalised_by_key() -> None:
    class Parts(gym.ObservationWrapper):
        def __init__(self) -> None:
            super().__init__(Far())
            parts = {"place": self.env.observation_space, "zero": gym.spaces.Discrete(3)}
            self.observation_space = gym.spaces.Dict(parts)

        def observation(self, observation: Any) -> Any:
            return {"place": observation, "zero": 0}

    env = VecNormalize(make_vec_env(Parts, 2, seed=0), norm_obs_keys=["place"])
    made = PolyPPO("MultiInputPolicy", env, methods.poly_epo(2), Vines(Parts, **FEW), **SIZES)
    made.learn(60)
    found = made.rollout_buffer.observations
    assert np.abs(found["place"]).max() <= 10


def test_stacked_frames_have_a_clear_way() -> None:
    def stacked() -> gym.Env:
        return gym.wrappers.FrameStackObservation(Goals(), 3)

    vines = Vines(stacked, **FEW)
    env = VecFrameStack(make_vec_env(Goals, 2), 3)
    with pytest.raises(ValueError, match="FrameStackObservation"):
        PolyPPO("MlpPolicy", env, methods.poly_epo(2), vines, **SIZES)
    made = PolyPPO("MlpPolicy", make_vec_env(stacked, 2), methods.poly_epo(2), vines, **SIZES)
    families = learnt(made)
    for family in families:
        frames = family.trunk.observations
        for time, row in zip(family.times, family.vines_BN, strict=True):
            for vine in row:
                np.testing.assert_array_equal(vine.observations[0], frames[time])
                np.testing.assert_array_equal(vine.observations[1][:-1], frames[time][1:])
