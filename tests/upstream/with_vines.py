"""A plug-in of pytest: Stable-Baselines3's tests of PPO test PolyPPO, with or without vines.

It is imported by this name alone (`-p with_vines`), because the suite has a package `tests`.
SETRL_VINES=1 turns vines on: three from one state of each trunk, in copies of the environment that
the test made.
"""

import copy
import os

import gymnasium as gym
import stable_baselines3
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from setrl import methods
from setrl.control import PolyPPO, Vines

HAS_VINES = os.environ.get("SETRL_VINES") == "1"


def copies(env):
    """Return a function that makes environments like one that a test gave to a model."""
    if isinstance(env, str):
        return lambda: gym.make(env)
    while isinstance(env, VecEnvWrapper):
        env = env.venv
    one = env.envs[0] if isinstance(env, VecEnv) else env
    return lambda: copy.deepcopy(one)


class PPO(PolyPPO):
    """Takes PPO's arguments only."""

    def __init__(self, policy, env, *given, _init_setup_model=True, **named):
        names = ("learning_rate", "n_steps", "batch_size", "n_epochs")  # no test gives more
        named |= dict(zip(names, given, strict=False)) | {"_init_setup_model": _init_setup_model}
        if HAS_VINES and env is not None:
            vines = Vines(copies(env), num_vines=3, num_states=1, window=5, max_steps=100)
            named |= {"method": methods.maxpo(2), "vines": vines, "checks_resets": False}
        super().__init__(policy, env, **named)


stable_baselines3.PPO = stable_baselines3.ppo.PPO = PPO
