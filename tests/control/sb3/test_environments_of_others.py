"""Environments and callbacks as others write them: odd spaces, old signatures, equal worth."""

import numpy as np
import pytest
import torch

gym = pytest.importorskip("gymnasium")
pytest.importorskip("stable_baselines3")

from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402

from setrl import Method, methods, objectives  # noqa: E402
from setrl.control import PolyPPO, Vines  # noqa: E402


class Steps(gym.Env):
    """Five steps, each worth 1, whatever is done."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.time += 1
        return np.full(3, self.time / 10, np.float32), 1.0, self.time >= 5, False, {}


class Square(Steps):
    """Actions are matrices."""

    action_space = gym.spaces.Box(-1.0, 1.0, (2, 2), np.float32)

    def step(self, action):
        assert np.shape(action) == (2, 2)
        return super().step(action)


class WithoutOptions(Steps):
    """An environment from before `options`."""

    def reset(self, *, seed=None):
        return super().reset(seed=seed)


def ppo(env, method=None, **options):
    torch.set_num_threads(1)
    method = method or methods.maxpo(2)
    vines = Vines(env, **{"num_vines": 4, "num_states": 1, **options})
    sizes = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
    return PolyPPO(
        "MlpPolicy", env(), method=method, vines=vines, seed=0, device="cpu", verbose=0, **sizes
    )


def test_actions_may_be_matrices():
    model = ppo(Square).learn(16)
    assert model.rollout_buffer.actions.shape[1:] == (4,), "a matrix is a row for the policy"
    assert model.predict(np.zeros(3, np.float32))[0].shape == (2, 2)


def test_reset_without_options():
    assert ppo(WithoutOptions).learn(16).num_timesteps >= 16


class Looks(BaseCallback):
    """What callbacks of others read."""

    looked = 0

    def _on_step(self):
        self.looked += 1
        seen = self.locals["new_obs"]
        assert len(seen) == len(self.locals["dones"]) == len(self.locals["actions"])
        assert (seen[:, 0] > 0).all(), "what follows a step, and not what was before it"
        return True


def test_callbacks_see_new_obs():
    looks = Looks()
    ppo(Steps).learn(16, callback=looks)
    assert looks.looked >= 5, "at each step of an episode"


def hollow(rewards):
    """An objective that is undefined."""
    return np.full(rewards.shape[:-1], np.nan)


@pytest.mark.parametrize("credit", ["marginal", "shared"])
def test_nan_of_an_objective_is_refused_by_name(credit):
    method = Method("own", objectives.from_function(hollow), set_size=2)
    with pytest.raises((ValueError, RuntimeError), match="hollow"):
        ppo(Steps, method, credit=credit).learn(16)


@pytest.mark.parametrize("num_vines", [5, 7, 8])
def test_vines_that_are_all_worth_the_same_get_no_credit(num_vines):
    """Every vine is right, and every vine is a strategy of its own."""
    numbers = iter(range(10**6))
    options = {"label": lambda _: next(numbers), "score": lambda _: 1.0, "num_vines": num_vines}
    model = ppo(Steps, methods.poly_epo(2), **options)
    model.learn(16)
    buffer = model.rollout_buffer
    credited = buffer.advantages[buffer.from_sets]
    assert credited.size
    np.testing.assert_allclose(credited, 0, atol=1e-6)


class OneStep(Steps):
    """Episodes of one step: the critic's advantages do not differ either."""

    def step(self, action):
        return np.zeros(3, np.float32), 1.0, True, False, {}


@pytest.mark.parametrize("num_vines", [5, 7])
def test_where_every_action_is_worth_the_same_the_policy_stays_uniform(num_vines):
    """Credit that is zero up to rounding was divided by its own size: entropy .0005, not 1.386."""
    numbers = iter(range(10**6))
    options = {"label": lambda _: next(numbers), "score": lambda _: 1.0, "num_vines": num_vines}
    vines = Vines(OneStep, num_states=1, **options)
    sizes = {"n_steps": 24, "batch_size": 24, "n_epochs": 2, "learning_rate": 2e-2}
    sizes["policy_kwargs"] = {"net_arch": [8]}
    model = PolyPPO("MlpPolicy", OneStep(), methods.poly_epo(2), vines, seed=0, **sizes)
    model.learn(40 * 24)
    assert model._n_updates >= 40
    entropy = model.policy.get_distribution(torch.zeros(1, 3)).entropy().item()
    assert entropy == pytest.approx(np.log(4), abs=1e-3)
