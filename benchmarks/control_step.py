"""Environment steps per second of PolyPPO against Stable-Baselines3's PPO, in one run.

    python benchmarks/control_step.py [steps]

Both learn the same MiniGrid room with the same arguments, turn by turn, so that other load on the
machine affects all equally; a repetition's ratio is to PPO in the same repetition.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from setrl import methods
from setrl.control.sb3.families import Vines
from setrl.control.sb3.poly_ppo import PolyPPO
from setrl.control.tasks.multi_goal import MultiGoal

REPEATS = 5


def contenders(task: MultiGoal) -> dict[str, Callable[[int], PPO]]:
    """Return name → a function from a seed to a fresh model."""
    vines = Vines(task.make_env, task.label, task.score, num_states=3, window=None)
    arguments = dict(task.defaults)
    del arguments["total_timesteps"]
    num_envs = arguments.pop("n_envs")

    def env() -> DummyVecEnv:
        return DummyVecEnv([task.make_env] * num_envs)

    return {
        "PPO": lambda seed: PPO("MlpPolicy", env(), seed=seed, device="cpu", **arguments),
        "PolyPPO, PPO mode": lambda seed: PolyPPO(
            "MlpPolicy", env(), seed=seed, device="cpu", **arguments
        ),
        "PolyPPO, vines": lambda seed: PolyPPO(
            "MlpPolicy", env(), methods.poly_epo(4), vines, seed=seed, device="cpu", **arguments
        ),
        "PolyPPO, vines, KL": lambda seed: PolyPPO(
            "MlpPolicy",
            env(),
            methods.poly_epo(4),
            vines,
            kl_coef=0.05,
            seed=seed,
            device="cpu",
            **arguments,
        ),
    }


def speed(make: Callable[[int], PPO], seed: int, steps: int) -> float:
    """Return environment steps per CPU second, including the steps of vines."""
    model = make(seed)
    model.learn(1)  # makes the environments, and warms what is made once
    before, began = model.num_timesteps, time.process_time()
    model.learn(steps, reset_num_timesteps=False)
    return (model.num_timesteps - before) / (time.process_time() - began)


def main(steps: int) -> None:
    """Print the speeds, and their ratios to PPO's."""
    torch.set_num_threads(1)
    models = contenders(MultiGoal())
    speeds = {name: [] for name in models}
    for seed in range(REPEATS):
        for name, make in models.items():
            speeds[name].append(speed(make, seed, steps))
            print(f"{name}, seed {seed}: {speeds[name][-1]:,.0f} steps / CPU s", flush=True)
    print(f"{'':22}{'steps / CPU s':>14}{'ratio to PPO':>14}   range of {REPEATS}")
    for name, found in speeds.items():
        ratios = np.array(found) / np.array(speeds["PPO"])
        spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
        print(f"{name:22}{np.median(found):14.0f}{np.median(ratios):14.2f}   {spread}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6_000)
