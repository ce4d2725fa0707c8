"""Environment steps per second of Poly-PPO on JAX, against PureJaxRL's PPO and against SB3.

    python -m benchmarks.control_jax [FOLDER] [--rounds 3]

It needs the packages of the group `dev`, which `make test` installs in a clone.

FOLDER is `purejaxrl/` of a clone of PureJaxRL; it needs distrax, and without it that row is left
out. First all contenders learn gymnax's FourRooms, with the same network, epochs and minibatches.
Then the two paths learn the paper's FourRooms with the paper's epochs and minibatches, on
MiniGrid's environment and on XLand-MiniGrid's. They take turns in one process on one core, after
compilation, so that other load affects all equally.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np

from setrl.control.jax.arm import use_one_thread

use_one_thread()  # before JAX computes for the first time

import gymnax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import torch  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from setrl import methods  # noqa: E402
from setrl.control.jax.networks import ActorCritic  # noqa: E402
from setrl.control.jax.poly_ppo import JaxPolyPPO  # noqa: E402
from setrl.control.jax.update import PPOOptions  # noqa: E402
from setrl.control.sb3.families import Vines  # noqa: E402
from setrl.control.sb3.poly_ppo import PolyPPO  # noqa: E402
from setrl.control.vines import VineChoices  # noqa: E402
from studies.grids import FourRoomsTask  # noqa: E402
from studies.grids.paper import PAPER_PPO  # noqa: E402
from studies.grids.xminigrid import XMiniGrid  # noqa: E402

ENVS, STEPS, EPOCHS, MINIBATCHES, UPDATES = 64, 128, 4, 4, 20
SECONDS = 4.0  # of a turn of ours
ROOMS = "FourRooms-misc"
Turn = Callable[[], float]  # environment steps per second of CPU time


def ours(task: Any, batch_size: int, n_epochs: int, **vines: Any) -> Turn:
    """Return turns of our update, with vines or without."""
    given = VineChoices(**vines) if vines else None
    method = methods.poly_epo(4) if vines else None
    options = PPOOptions(num_trajectories=ENVS, batch_size=batch_size, n_epochs=n_epochs)
    model = JaxPolyPPO(task, ActorCritic(task.env.num_actions), options, method, given)
    training = model.init(jax.random.key(0))
    update = jax.jit(model.update).lower(training).compile()

    def turns() -> Iterator[float]:
        state = training
        while True:
            before, began = int(state.steps), time.process_time()
            while time.process_time() - began < SECONDS:
                state, _ = update(state)
                jax.block_until_ready(state)
            yield (int(state.steps) - before) / (time.process_time() - began)

    return turns().__next__


class GymnaxRooms:
    """gymnax's FourRooms by its own steps, without its reset after an end."""

    def __init__(self) -> None:
        self.env, self.params = gymnax.make(ROOMS)
        self.num_actions = self.env.num_actions
        self.max_steps = self.params.max_steps_in_episode

    def reset(self, key: jax.Array) -> Any:
        """Return the first state of an episode."""
        return self.env.reset_env(jax.random.key_data(key), self.params)[1]

    def step(self, key: jax.Array, state: Any, action: jax.Array) -> tuple[Any, ...]:
        """Return the next state, its reward, and whether the episode ended."""
        own = jax.random.key_data(key)
        _, after, reward, done, _ = self.env.step_env(own, state, action, self.params)
        return after, jnp.float32(reward), done

    def observe(self, state: Any) -> jax.Array:
        """Return what the policy sees."""
        return self.env.get_obs(state).astype(jnp.float32)


def rooms_of_gymnax() -> Any:
    """Return gymnax's FourRooms; the room in which an episode ends is its strategy."""

    def room(state: Any) -> jax.Array:
        below, right = state.pos > 6
        return jnp.where(below, 2, 0) + jnp.where(right, 1, 0)

    return SimpleNamespace(env=GymnaxRooms(), label=room)


def purejaxrl(folder: Path) -> Turn:
    """Return turns of PureJaxRL's PPO."""
    sys.path.insert(0, str(folder))
    for module in (
        "brax",
        "brax.envs",
        "brax.envs.wrappers",
        "brax.envs.wrappers.training",
        "navix",
    ):
        sys.modules.setdefault(module, MagicMock())  # its wrappers import what is not used here
    from ppo import make_train

    config = {
        **{"LR": 3e-4, "NUM_ENVS": ENVS, "NUM_STEPS": STEPS, "UPDATE_EPOCHS": EPOCHS},
        **{"NUM_MINIBATCHES": MINIBATCHES, "TOTAL_TIMESTEPS": ENVS * STEPS * UPDATES},
        **{"GAMMA": 0.99, "GAE_LAMBDA": 0.95, "CLIP_EPS": 0.2, "ENT_COEF": 0.0, "VF_COEF": 0.5},
        **{"MAX_GRAD_NORM": 0.5, "ACTIVATION": "tanh", "ENV_NAME": ROOMS},
        **{"ANNEAL_LR": False, "DEBUG": False},
    }
    key = jax.random.PRNGKey(0)
    train = jax.jit(make_train(config)).lower(key).compile()

    def turn() -> float:
        began = time.process_time()
        jax.block_until_ready(train(key))
        return ENVS * STEPS * UPDATES / (time.process_time() - began)

    return turn


def stable_baselines(task: Any, **vines: Any) -> Turn:
    """Return turns of PolyPPO on Stable-Baselines3, with vines."""
    given = Vines(task.make_env, task.label, task.score, **vines)
    arguments = {k: v for k, v in task.defaults.items() if k not in ("total_timesteps", "n_envs")}

    def turn() -> float:
        env = DummyVecEnv([task.make_env] * 8)
        model = PolyPPO("MlpPolicy", env, methods.poly_epo(4), given, **arguments, device="cpu")
        model.learn(1)
        before, began = model.num_timesteps, time.process_time()
        model.learn(4_000, reset_num_timesteps=False)
        return (model.num_timesteps - before) / (time.process_time() - began)

    return turn


def main(folder: Path | None, rounds: int) -> None:
    """Print the speeds, and the ratios to the first row of each task."""
    torch.set_num_threads(1)
    rooms, label = rooms_of_gymnax(), {"num_vines": 8, "num_states": 2, "window": 5}
    as_theirs = (ENVS * STEPS // MINIBATCHES, EPOCHS)
    papers = (PAPER_PPO["batch_size"], PAPER_PPO["n_epochs"])
    level = XMiniGrid(level="four_rooms")
    groups: dict[str, dict[str, Callable[[], Turn]]] = {
        "gymnax FourRooms": {
            **({"PureJaxRL's PPO": partial(purejaxrl, folder)} if folder else {}),
            "ours, PPO": partial(ours, rooms, *as_theirs),
            "ours, vines": partial(ours, rooms, *as_theirs, **label),
            "ours, vines with GAE": partial(ours, rooms, *as_theirs, **label, credit="gae"),
        },
        "FourRooms in fifty layouts": {
            "SB3's path, vines": partial(stable_baselines, FourRoomsTask(), **label),
            "ours, vines": partial(ours, level, *papers, **label),
        },
    }
    for task, contenders in groups.items():
        turns = {name: make() for name, make in contenders.items()}
        found: dict[str, list[float]] = {name: [] for name in turns}
        for _ in range(rounds):
            for name, turn in turns.items():
                found[name].append(turn())
                print(f"{task}, {name}: {found[name][-1]:,.0f} steps / CPU s", flush=True)
        print(f"{task:26}{'steps / CPU s':>14}{'ratio':>9}   range of {rounds}")
        first = np.array(next(iter(found.values())))
        for name, speeds in found.items():
            ratios = np.array(speeds) / first
            spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
            print(f"  {name:24}{np.median(speeds):14,.0f}{np.median(ratios):9.2f}   {spread}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    main(given.folder, given.rounds)
